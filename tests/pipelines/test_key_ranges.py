"""Intervals of keys: they contain every key, and a clock that is years off does not widen them."""

from __future__ import annotations

import random
from datetime import date, timedelta

import pytest
from pyspark.sql import SparkSession

from lakeward.pipelines.storage.key_ranges import KeyRange, KeyRanges, range_condition

KEYS = {
    "date": [
        *("DATE'2026-03-01'", "DATE'2026-03-02'", "DATE'1970-01-01'", "DATE'1969-12-31'", "DATE'0005-02-01'"),
    ],
    "timestamp": [
        *("TIMESTAMP'2026-03-01 23:59:59.999999Z'", "TIMESTAMP'2026-03-02 00:00:00Z'"),
        *("TIMESTAMP'1969-12-31 23:59:59.999999Z'", "TIMESTAMP'1970-01-01 00:00:00Z'"),
        *("TIMESTAMP'0001-01-01 00:00:00Z'", "TIMESTAMP'9999-12-31 23:00:00Z'"),
    ],
    "timestamp_ntz": [
        *("TIMESTAMP_NTZ'2026-03-01 23:59:59.999999'", "TIMESTAMP_NTZ'2026-03-02 00:00:00'"),
        *("TIMESTAMP_NTZ'1960-01-01 12:00:00'", "TIMESTAMP_NTZ'1960-01-03 00:00:00'"),
    ],
    "bigint": ["1L", "7L", "1000000L"],
    "string": ["'a'", "'it''s'", "''"],
}  # fmt: skip
INTERVALS = {"date": 3, "timestamp": 4, "timestamp_ntz": 3, "bigint": 1, "string": 1}


def key_range(spark: SparkSession, values: list[str], kind: str) -> KeyRange:
    spark.sql(f"SELECT explode(array({', '.join(values)})) AS k").createOrReplaceTempView("keys_of_ranges")
    ranges = KeyRanges([("k", kind)])
    (found,) = ranges.ranges(spark.table("keys_of_ranges").agg(*ranges.aggregates).collect()[0])
    return found


@pytest.mark.parametrize("zone", ["UTC", "America/Los_Angeles"])
@pytest.mark.parametrize("kind", KEYS)
@pytest.mark.parametrize("null", [False, True])
def test_every_key_is_in_an_interval(spark: SparkSession, kind: str, zone: str, null: bool) -> None:
    spark.conf.set("spark.sql.session.timeZone", zone)
    try:
        found = key_range(spark, [*KEYS[kind], *(["NULL"] if null else [])], kind)
        outside = spark.table("keys_of_ranges").where(f"NOT ({range_condition([found], ['k'])})")
        assert outside.collect() == []
        assert len(found.intervals) == INTERVALS[kind]
        assert found.has_null == null
    finally:
        spark.conf.unset("spark.sql.session.timeZone")


def test_times_between_the_intervals_are_left_out(spark: SparkSession) -> None:
    found = key_range(spark, KEYS["timestamp"], "timestamp")
    condition = range_condition([found], ["TIMESTAMP'2001-01-01 00:00:00Z'"])
    assert spark.sql(f"SELECT {condition} AS met").collect()[0].met is False


def test_the_widest_gaps_remain_of_many_days(spark: SparkSession) -> None:
    chosen = random.Random(3).sample(range(0, 3000, 2), 200)
    days = [date(2020, 1, 1) + timedelta(days=day) for day in [*chosen, 9000]]
    found = key_range(spark, [f"DATE'{day}'" for day in days], "date")
    assert len(found.intervals) == 16
    assert found.intervals[-1] == (str(max(days)),) * 2
    assert all(any(low <= str(day) <= high for low, high in found.intervals) for day in days)
