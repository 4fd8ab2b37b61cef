"""What is shown of the streaming queries of a running task."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from lakeward.streaming.live_queries import ACTIONS, Action, LiveQueries, read_queries, request_file


@pytest.mark.parametrize("action", ACTIONS)
def test_batches_that_ended_before_an_action_are_shown(
    spark: SparkSession, tmp_path: Path, action: Action
) -> None:
    """The first look is after the batch; a restarted query has no progress of the one before."""
    source, file = str(tmp_path / "source"), tmp_path / "queries.json"

    def start() -> Any:
        writer = spark.readStream.format("delta").load(source).writeStream.format("noop")
        return writer.option("checkpointLocation", str(tmp_path / "checkpoint")).start()

    spark.range(3).write.format("delta").save(source)
    query, live = start(), LiveQueries(file, {})
    live.add(query, start)
    query.processAllAvailable()
    request_file(file, 0, action).touch()
    live.poll()
    restarted = live.current(query)
    if action == "restart":
        spark.range(3, 10).write.format("delta").mode("append").save(source)
        restarted.processAllAvailable()
    restarted.stop()
    live.finish()
    found = read_queries(file)
    assert found is not None
    batches = found["queries"][0]["batches"]
    rows = [each["numInputRows"] for each in batches if each["numInputRows"]]
    assert rows == ([3, 7] if action == "restart" else [3])
