"""Writers × places: Spark leaves no hidden checksum files, which storage and volumes do not have either."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from lakeward.session import PathMap, Settings, dbfs_paths

Writer = Callable[[DataFrame, str], object]

WRITERS: dict[str, Writer] = {
    "parquet": lambda frame, path: frame.write.parquet(path),
    "csv": lambda frame, path: frame.write.csv(path),
    "json": lambda frame, path: frame.write.json(path),
    "text": lambda frame, path: frame.selectExpr("CAST(id AS STRING)").write.text(path),
    "delta": lambda frame, path: frame.write.format("delta").save(path),
    "delta, two commits": lambda frame, path: [
        frame.write.format("delta").mode("append").save(path) for _ in range(2)
    ],
    "stream": lambda frame, path: _stream(frame, path),
}
PLACES = ("/Volumes/main/default/checksums/{}", "dbfs:/mnt/checksums/{}", "{tmp}/{}")


def _stream(frame: DataFrame, path: str) -> None:
    """Write a stream with its checkpoint below `path`."""
    frame.write.format("delta").save(f"{path}/source")
    stream = frame.sparkSession.readStream.format("delta").load(f"{path}/source")
    query = stream.groupBy("id").count().writeStream.format("delta").outputMode("complete")
    query = query.option("checkpointLocation", f"{path}/checkpoint").trigger(availableNow=True)
    query.start(f"{path}/target").awaitTermination()


@pytest.mark.parametrize("place", PLACES, ids=["volume", "DBFS", "local disk"])
@pytest.mark.parametrize("writer", WRITERS.values(), ids=WRITERS)
def test_no_hidden_checksum_is_left(
    spark: SparkSession, suite_settings: Settings, tmp_path: Path, place: str, writer: Writer
) -> None:
    path = place.format(tmp_path.name, tmp=tmp_path)
    spark.sql("CREATE VOLUME IF NOT EXISTS main.default.checksums")
    writer(spark.range(3), path)
    with dbfs_paths():
        local = Path(PathMap.of(suite_settings).local(path).removeprefix("file:"))
    files = [file.name for file in local.rglob("*") if file.is_file()]
    assert files
    assert [name for name in files if name.startswith(".") and name.endswith(".crc")] == []


@pytest.mark.parametrize("place", PLACES[1:], ids=["DBFS", "local disk"])
def test_a_file_that_spark_wrote_can_be_changed(
    spark: SparkSession, suite_settings: Settings, tmp_path: Path, place: str
) -> None:
    path = place.format(tmp_path.name, tmp=tmp_path)
    spark.range(1).coalesce(1).write.csv(path)
    with dbfs_paths():
        local = Path(PathMap.of(suite_settings).local(path).removeprefix("file:"))
    (written,) = local.glob("part-*.csv")
    written.write_text("7\n8\n")
    assert sorted(row[0] for row in spark.read.csv(path).collect()) == ["7", "8"]
