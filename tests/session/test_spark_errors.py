"""The error of a task names its cause, however deep the chain of errors is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException, StreamingQueryException
from pyspark.sql import functions as F

import lakeward
from lakeward.session import condition_of, message_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming import DataStreamWriter

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


def _broken_state(key: Any, frames: Iterator[pd.DataFrame], state: Any) -> Iterator[pd.DataFrame]:
    yield pd.DataFrame({"k": [float("no number")]})


def _broken_group(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.assign(k=float("no number"))


def _broken_frames(frames: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    yield from (frame.assign(k=float("no number")) for frame in frames)


_BROKEN: dict[str, Callable[[DataFrame], DataFrame]] = {
    "udf": lambda rows: rows.select(F.udf(lambda _: float("no number"), "double")("value").alias("k")),
    "mapInPandas": lambda rows: rows.mapInPandas(_broken_frames, "value long, k double"),
    "applyInPandas": lambda rows: rows.groupBy("value").applyInPandas(_broken_group, "value long, k double"),
    "applyInPandasWithState": lambda rows: rows.groupBy("value").applyInPandasWithState(
        _broken_state, "k double", "n long", "append", "NoTimeout"
    ),
}
_SINKS: dict[str, Callable[[DataStreamWriter, Path], DataStreamWriter]] = {
    "delta": lambda writer, out: writer.format("delta").option("path", str(out)),
    "foreachBatch": lambda writer, out: writer.foreachBatch(
        lambda rows, _: rows.write.format("delta").save(str(out))
    ),
}


@pytest.mark.parametrize("sink", _SINKS)
@pytest.mark.parametrize("broken", [name for name in _BROKEN if name != "applyInPandas"])
def test_a_stream_whose_function_fails_says_what_it_raised(
    spark: SparkSession, tmp_path: Path, broken: str, sink: str
) -> None:
    spark.range(1).selectExpr("id AS value").write.json(str(tmp_path / "in"))
    rows = _BROKEN[broken](spark.readStream.schema("value long").json(str(tmp_path / "in")))
    writer = rows.writeStream.option("checkpointLocation", str(tmp_path / "state")).trigger(availableNow=True)
    query = _SINKS[sink](writer, tmp_path / "out").start()
    with pytest.raises(StreamingQueryException) as caught:
        query.awaitTermination()
    assert condition_of(caught.value) == "STREAM_FAILED"
    message = message_of(caught.value)
    assert "ValueError: could not convert string to float: 'no number'" in message
    assert (
        f'File "{__file__}", line ' in message.partition("An exception was thrown from the Python worker")[2]
    )


@pytest.mark.parametrize("broken", [name for name in _BROKEN if name != "applyInPandasWithState"])
def test_a_write_whose_function_fails_says_what_it_raised(
    spark: SparkSession, tmp_path: Path, broken: str
) -> None:
    rows = _BROKEN[broken](spark.range(1).selectExpr("id AS value"))
    with pytest.raises((Py4JJavaError, PySparkException)) as caught:
        rows.write.format("delta").save(str(tmp_path / "out"))
    message = message_of(caught.value)
    assert "ValueError: could not convert string to float: 'no number'" in message
    assert not _inner_frames(message)


def _inner_frames(message: str) -> list[str]:
    """Return the frames of Py4J, PySpark and lakeward in a message."""
    own = f"{Path(lakeward.__file__).parent}/"
    inner = ("/site-packages/py4j/", "/site-packages/pyspark/", "pyspark.zip/", own)
    return [line for line in message.splitlines() if "File " in line and any(each in line for each in inner)]


def _raise_in_batch(rows: DataFrame, _: int) -> None:
    raise ValueError("no bread")


def _write_to_missing_table(rows: DataFrame, _: int) -> None:
    rows.sparkSession.sql("INSERT INTO main.default.no_such_table VALUES (1)")


def _fail_in_worker(rows: DataFrame, _: int) -> None:
    _BROKEN["udf"](rows).collect()


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (_raise_in_batch, "ValueError: no bread"),
        (_write_to_missing_table, "[TABLE_OR_VIEW_NOT_FOUND]"),
        (_fail_in_worker, "could not convert string to float: 'no number'"),
    ],
)
def test_a_batch_function_that_fails_shows_the_users_frames_alone(
    spark: SparkSession, tmp_path: Path, function: Callable[[DataFrame, int], None], reason: str
) -> None:
    spark.range(1).selectExpr("id AS value").write.json(str(tmp_path / "in"))
    rows = spark.readStream.schema("value long").json(str(tmp_path / "in"))
    writer = rows.writeStream.option("checkpointLocation", str(tmp_path / "state")).trigger(availableNow=True)
    with pytest.raises(StreamingQueryException) as caught:
        writer.foreachBatch(function).start().awaitTermination()
    message = message_of(caught.value)
    assert reason in message
    assert (
        f'File "{__file__}", line {function.__code__.co_firstlineno + 1}, in {function.__name__}' in message
    )
    assert not _inner_frames(message)
    # The exception that code catches has the frames of the platform.
    assert _inner_frames(str(caught.value))
