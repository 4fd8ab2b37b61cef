"""A table to be streamed, and queries that run to their end."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class Streams:
    """Streams of one small table with the columns `id`, `at` and `k`."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self.spark = spark
        self.folder = folder
        self.table = f"main.default.streamed_{uuid.uuid4().hex[:8]}"
        spark.sql(
            f"CREATE TABLE {self.table} AS SELECT * FROM VALUES (1L, timestamp'2024-01-01', 'a'), "
            "(2L, timestamp'2024-01-02', 'b'), (2L, timestamp'2024-01-02', 'b') AS t(id, at, k)"
        )

    def stream(self) -> DataFrame:
        """The table as a stream."""
        return self.spark.readStream.table(self.table)

    def run(self, frame: DataFrame, mode: str, trigger: dict[str, Any], *, table: bool = False) -> str:
        """Run a query until it has taken everything; gives the name of what it wrote."""
        name = f"written_{uuid.uuid4().hex[:8]}"
        writer = frame.writeStream.outputMode(mode).trigger(**trigger)
        writer = writer.option("checkpointLocation", str(self.folder / name))
        started = writer.table(name) if table else writer.format("memory").queryName(name).start()
        try:
            if "processingTime" in trigger or "continuous" in trigger:
                started.processAllAvailable()
            else:
                started.awaitTermination()
        finally:
            started.stop()
        return name


@pytest.fixture
def streams(spark: SparkSession, tmp_path: Path) -> Streams:
    """A table of three rows."""
    return Streams(spark, tmp_path)
