"""Spark's batch reader and the transforms give, row for row, what plain Python gives from the same files."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest
from fixtures.generate import generate
from pyspark.sql import SparkSession

from tests.wearables.frames import batch, rows
from tests.wearables.oracle import Lakehouse, lakehouse


def differences(expected: Lakehouse, source: Path, spark: SparkSession, scratch: Path) -> dict[str, object]:
    """The datasets that differ, each with a few of the rows that only one side has."""
    tables = batch(spark, source, scratch)
    differing: dict[str, object] = {}
    for field in fields(expected):
        wanted, got = getattr(expected, field.name), rows(tables[field.name], field.name, tables["user_keys"])
        if wanted != got:
            differing[field.name] = {"missing": list(wanted - got)[:3], "extra": list(got - wanted)[:3]}
    return differing


def test_generated_deliveries_give_the_datasets_of_the_oracle(
    spark: SparkSession, deliveries: Path, expected: Lakehouse, tmp_path: Path
) -> None:
    assert all(getattr(expected, field.name) for field in fields(expected)), (
        "each dataset has rows to compare"
    )
    assert differences(expected, deliveries, spark, tmp_path) == {}


@pytest.mark.slow
def test_ten_times_as_many_faults_in_another_time_zone_give_the_datasets_of_the_oracle(
    spark: SparkSession, tmp_path: Path
) -> None:
    source = tmp_path / "source"
    generate(source, users=3, days=2, seed=4, longest=60, faults=10)
    expected = lakehouse(source)
    faulty, total = sum(expected.quarantine.values()), sum(expected.bronze.values())
    repeats = sum(row[-1] * count for row, count in expected.heart_rate.items())
    assert faulty > total / 10 and repeats > total / 4, (faulty, repeats, total)
    before = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", "America/New_York")
    try:
        assert differences(expected, source, spark, tmp_path) == {}
    finally:
        spark.conf.set("spark.sql.session.timeZone", str(before))


@pytest.mark.slow
def test_all_fourteen_real_days_give_the_datasets_of_the_oracle(
    spark: SparkSession, data: Path, tmp_path: Path
) -> None:
    source = data / "wearables"
    expected = lakehouse(source)
    assert (sum(expected.bronze.values()), sum(expected.registered_users.values())) == (68_603, 11)
    assert differences(expected, source, spark, tmp_path) == {}
