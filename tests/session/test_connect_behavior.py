"""What Databricks Connect does otherwise than Spark Classic, once a suite uses `DatabricksSession`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import Observation, Row, SparkSession
from pyspark.sql import functions as F

from lakeward import patching
from lakeward.session.entry_points import connect_behavior


@pytest.fixture
def connected(spark: SparkSession) -> Iterator[SparkSession]:
    connect_behavior.install_connect_behavior()
    yield spark
    patching.uninstall(connect_behavior.PATCHES)


def test_values_without_a_row_become_rows_of_a_schema_with_one_column(connected: SparkSession) -> None:
    assert connected.createDataFrame(["a", "b"], "check: string").collect() == [
        Row(check="a"),
        Row(check="b"),
    ]
    assert connected.createDataFrame([1, 2], "int").collect() == [Row(value=1), Row(value=2)]


@pytest.mark.parametrize("row", [(1, 2), [1, 2], {"a": 1, "b": 2}])
def test_integers_in_columns_of_floats_are_converted(connected: SparkSession, row: object) -> None:
    (found,) = connected.createDataFrame([row], "a float, b double").collect()
    assert (found.a, found.b) == (1.0, 2.0)


def test_rows_keep_their_order_and_are_in_one_partition(connected: SparkSession) -> None:
    frame = connected.createDataFrame([(n, "x" * (n % 7)) for n in range(20)], ["n", "x"])
    assert frame.rdd.getNumPartitions() == 1
    frame.write.mode("overwrite").saveAsTable("main.default.connect_rows")
    assert [row.n for row in connected.table("main.default.connect_rows").collect()] == list(range(20))
    connected.sql("DROP TABLE main.default.connect_rows")


def test_an_observation_is_empty_before_the_first_action(connected: SparkSession) -> None:
    observation = Observation("rows")
    frame = connected.range(3).observe(observation, F.count(F.lit(1)).alias("n"))
    assert observation.get == {}
    frame.collect()
    assert observation.get == {"n": 3}
