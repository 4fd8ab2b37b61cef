"""What Databricks Connect does otherwise than Spark Classic, once a suite uses `DatabricksSession`."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest
from pyspark.sql import Observation, Row, SparkSession
from pyspark.sql import functions as F

from lakeward import patching
from lakeward.session.entry_points import connect_behavior


@pytest.fixture
def connected(spark: SparkSession) -> Iterator[SparkSession]:
    patching.install(connect_behavior.PATCHES)
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


TYPES = """
    a tinyint, b bigint, c float, d decimal(10, 2), e string, f binary, g boolean, h date, i timestamp,
    j timestamp_ntz, k array<int>, l map<string, double>, m struct<x: int, y: array<struct<z: string>>>,
    n interval day to second
"""
ONE: dict[str, Any] = {
    "a": 1, "b": 2**40, "c": 0.5, "d": Decimal("1.25"), "e": "ü", "f": b"\x00", "g": True,
    "h": date(1600, 2, 29), "i": datetime(2024, 3, 31, 1, 30, tzinfo=timezone.utc),
    "j": datetime(1969, 12, 31, 23, 59, 59, 5),  # noqa: DTZ001
    "k": [1, None], "l": {"a": 1.0}, "m": (1, [("z",)]),
    "n": timedelta(days=-1, microseconds=1),
}  # fmt: skip


@pytest.mark.parametrize("row", [tuple(ONE.values()), (None,) * len(ONE)], ids=["values", "nulls"])
@pytest.mark.parametrize("zone", ["UTC", "America/New_York"])
def test_every_type_has_the_values_of_spark_classic(
    spark: SparkSession, row: tuple[Any, ...], zone: str
) -> None:
    before = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", str(zone))
    try:
        classic = spark.createDataFrame([row], TYPES)
        patching.install(connect_behavior.PATCHES)
        found = spark.createDataFrame([row], TYPES)
        assert found.schema == classic.schema
        assert found.collect() == classic.collect()
        assert (
            found.selectExpr("to_json(struct(*))").collect()
            == classic.selectExpr("to_json(struct(*))").collect()
        )
    finally:
        patching.uninstall(connect_behavior.PATCHES)
        spark.conf.set("spark.sql.session.timeZone", str(before))


def test_joins_with_local_rows_keep_the_order_of_the_left_side(connected: SparkSession) -> None:
    left = connected.createDataFrame([(n, f"v{n}") for n in range(50)], "id int, v string")
    right = connected.createDataFrame([(n,) for n in range(0, 50, 3)], "ref int")
    joined = left.join(right, left.id == right.ref, "left")
    assert [row.id for row in joined.collect()] == list(range(50))


def test_rows_that_do_not_fit_fail_as_in_spark_classic(connected: SparkSession) -> None:
    with pytest.raises(Exception, match=r"CANNOT_ACCEPT|UNACCEPTABLE"):
        connected.createDataFrame([("x",)], "a int")
