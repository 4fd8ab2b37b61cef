"""The table of an event log: Arrow's file has the rows that Spark would write."""

from __future__ import annotations

import uuid
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from lakeward.pipelines.events.event_log import ORIGIN_FIELDS, append_events
from tests.pipelines.conftest import Lab

AT = datetime(2024, 3, 31, 1, 59, 59, 123456, tzinfo=timezone.utc)


def event(number: int, error: str | None = None) -> dict[str, Any]:
    text = "Zürich 'a' \\ \"b\"\n\x00"
    return {
        "id": f"e{number}",
        "sequence": {"data_plane_id": {"instance": "i", "seq_no": number}},
        "origin": dict.fromkeys(ORIGIN_FIELDS, text if number % 2 else None),
        "timestamp": AT,
        "message": text,
        "level": "INFO",
        "maturity_level": "STABLE",
        "error": {"fatal": False, "exceptions": [{"class_name": "", "message": error, "stack": []}]}
        if error
        else None,
        "details": "{}",
        "event_type": "flow_progress",
    }


def job_count(spark: SparkSession, path: Path, events: list[dict[str, Any]]) -> int:
    """Append events and return the number of Spark jobs that it took."""
    context, tag = spark.sparkContext, f"t{uuid.uuid4().hex}"
    context.setJobGroup(tag, "events")
    try:
        append_events(spark, path, events)
    finally:
        context.setLocalProperty("spark.jobGroup.id", None)  # type: ignore[arg-type]  # None removes it
    return len(context.statusTracker().getJobIdsForGroup(tag))


def stored(spark: SparkSession, path: Path) -> list[Any]:
    frame = spark.read.format("delta").load(str(path))
    return sorted((row.asDict(recursive=True) for row in frame.collect()), key=lambda row: str(row["id"]))


def test_appended_events_are_those_that_spark_writes(lab: Lab) -> None:
    ours, theirs = lab.folder / "ours", lab.folder / "theirs"
    append_events(lab.spark, ours, [event(1)])
    assert job_count(lab.spark, ours, [event(2, "failed"), event(3)]) == 0
    lab.spark.createDataFrame(
        [event(1), event(2, "failed"), event(3)], lab.spark.read.format("delta").load(str(ours)).schema
    ).write.format("delta").save(str(theirs))
    assert stored(lab.spark, ours) == stored(lab.spark, theirs)
    (newest, first) = lab.spark.sql(f"DESCRIBE HISTORY delta.`{ours}`").collect()
    assert newest.operation == first.operation == "WRITE"
    assert newest.operationMetrics["numOutputRows"] == "2"
    # Spark continues the log, and is continued.
    lab.spark.read.format("delta").load(str(theirs)).write.format("delta").mode("append").save(str(ours))
    assert job_count(lab.spark, theirs, [event(4)]) == 0
    assert [len(stored(lab.spark, each)) for each in (ours, theirs)] == [6, 4]


@pytest.mark.parametrize(
    "change",
    [
        "ALTER TABLE {} ADD COLUMN added_later STRING",
        "ALTER TABLE {} SET TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')",
        "CREATE OR REPLACE TABLE {} AS SELECT 'e0' AS id",
    ],
)
def test_spark_writes_to_a_table_of_another_shape(lab: Lab, change: str) -> None:
    path = lab.folder / "log"
    append_events(lab.spark, path, [event(1)])
    if change.startswith("CREATE"):
        fewer = lab.spark.sql(change.partition(" AS ")[2])
        fewer.write.format("delta").mode("overwrite").option("overwriteSchema", "true").save(str(path))
    else:
        lab.spark.sql(change.format(f"delta.`{path}`"))
    before = set(path.glob("*.parquet"))
    assert job_count(lab.spark, path, [event(2, "failed")]) > 0
    assert len(set(path.glob("*.parquet")) - before) == 1
    assert [row["message"] for row in stored(lab.spark, path) if row["id"] == "e2"] == [event(2)["message"]]


def test_nothing_is_left_of_events_that_do_not_fit_on_the_disk(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    import pyarrow.parquet as pq

    path = lab.folder / "log"
    append_events(lab.spark, path, [event(1)])
    before = sorted(path.rglob("*"))

    def full(_: Any, file: Path) -> None:
        file.write_bytes(b"PAR1")
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(pq, "write_table", full)
        with pytest.raises(OSError, match="No space left"):
            append_events(lab.spark, path, [event(2)])
    assert sorted(path.rglob("*")) == before
    append_events(lab.spark, path, [event(2)])
    assert [row["id"] for row in stored(lab.spark, path)] == ["e1", "e2"]


@pytest.mark.parametrize("name", ["a b", "100%25", "Zürich", "day=1", "#?&"])
def test_the_folder_may_have_any_name(lab: Lab, name: str) -> None:
    path = lab.folder / name / "event_log"
    for number in (1, 2):
        append_events(lab.spark, path, [event(number)])
    assert [row["id"] for row in stored(lab.spark, path)] == ["e1", "e2"]
    assert {each.name for each in lab.folder.iterdir()} == {name, lab.files.name}
