"""The error of a task names its cause, however deep the chain of errors is."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import StreamingQueryException

from lakeward.session import condition_of, message_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

WHY = "is not a Parquet file"


@pytest.fixture
def unreadable(tmp_path: Path) -> Path:
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "a.parquet").write_text("twelve and more characters of prose")
    return folder


def test_a_write_of_what_cannot_be_read_says_why(
    spark: SparkSession, tmp_path: Path, unreadable: Path
) -> None:
    rows = spark.read.schema("id int").parquet(str(unreadable))
    with pytest.raises(Py4JJavaError) as caught:
        rows.write.format("delta").save(str(tmp_path / "out"))
    assert condition_of(caught.value) == "FAILED_READ_FILE.NO_HINT"
    assert WHY in message_of(caught.value)


def test_a_write_that_the_file_system_refuses_says_why(spark: SparkSession, tmp_path: Path) -> None:
    rows = spark.range(1).selectExpr("id", "repeat('a', 300) AS too_long")
    with pytest.raises(Py4JJavaError) as caught:
        rows.write.partitionBy("too_long").format("delta").save(str(tmp_path / "out"))
    assert condition_of(caught.value) == "TASK_WRITE_FAILED"
    assert "Cause: Mkdirs failed to create" in message_of(caught.value)


def test_a_stream_that_fails_in_a_task_says_why(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.txt").write_text("a line")
    rows = spark.readStream.text(str(tmp_path / "in")).selectExpr("value", "repeat('a', 300) AS too_long")
    writer = rows.writeStream.partitionBy("too_long").option("checkpointLocation", str(tmp_path / "state"))
    query = writer.trigger(availableNow=True).format("delta").start(str(tmp_path / "out"))
    with pytest.raises(StreamingQueryException) as caught:
        query.awaitTermination()
    assert condition_of(caught.value) == "STREAM_FAILED"
    assert "Mkdirs failed to create" in message_of(caught.value)
