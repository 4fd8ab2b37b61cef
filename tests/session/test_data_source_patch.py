"""Streams of one Python data source that start at the same time change its environment variables."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition

from lakeward.spark_internals import session_state

STREAMS = 6


class Numbers(DataSource):
    """One row per batch."""

    @classmethod
    def name(cls) -> str:
        """Return the name of the format."""
        return "numbers_of_the_test"

    def schema(self) -> str:
        """Return the columns."""
        return "n INT"

    def streamReader(self, schema: Any) -> DataSourceStreamReader:  # noqa: N802  # PySpark's own names
        """Return the reader."""
        return NumbersReader()


class NumbersReader(DataSourceStreamReader):
    """Offsets 0 and 1."""

    def initialOffset(self) -> dict[str, int]:  # noqa: N802
        """Return the first offset."""
        return {"n": 0}

    def latestOffset(self) -> dict[str, int]:  # noqa: N802
        """Return the last offset."""
        return {"n": 1}

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> list[InputPartition]:
        """Return one partition for each row."""
        return [InputPartition(n) for n in range(start["n"], end["n"])]

    def read(self, partition: InputPartition) -> Iterator[tuple[int]]:
        """Return one row."""
        yield (partition.value,)


@pytest.fixture
def registered(spark: SparkSession) -> Any:
    spark.dataSource.register(Numbers)
    return session_state(spark).dataSourceManager().lookupDataSource(Numbers.name())


def test_several_threads_can_change_the_environment_variables_of_a_data_source(
    registered: Any,
) -> None:
    """Spark's own map is a HashMap: two threads that add to it can leave it unreadable."""
    function = registered.dataSourceCls()
    assert function.envVars().getClass().getName() == "java.util.concurrent.ConcurrentHashMap"
    assert function.envVars()["PYTHONHASHSEED"] == "0"
    assert function.pythonExec()


def test_streams_of_one_data_source_start_at_the_same_time(
    spark: SparkSession, registered: Any, tmp_path: Path
) -> None:
    def run(number: int) -> int:
        name = f"numbers_{number}"
        query = (
            spark.readStream.format(Numbers.name())
            .load()
            .writeStream.format("memory")
            .queryName(name)
            .option("checkpointLocation", str(tmp_path / name))
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()
        return spark.table(name).count()

    with ThreadPoolExecutor(STREAMS) as threads:
        assert list(threads.map(run, range(STREAMS))) == [1] * STREAMS
    # The variables that each start adds are in the shared map.
    assert "SPARK_BUFFER_SIZE" in registered.dataSourceCls().envVars()
