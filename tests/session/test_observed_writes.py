"""An Observation has its values after every kind of write."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, Observation, SparkSession
from pyspark.sql import functions as F

NEW: dict[str, Callable[[DataFrame, str], object]] = {
    "save as new table": lambda rows, name: rows.write.saveAsTable(name),
    "create": lambda rows, name: rows.writeTo(name).create(),
    "create or replace": lambda rows, name: rows.writeTo(name).createOrReplace(),
    "ctas": lambda rows, name: rows.sparkSession.sql(f"CREATE TABLE {name} AS SELECT * FROM {{r}}", r=rows),
}
EXISTING: dict[str, Callable[[DataFrame, str], object]] = {
    "append": lambda rows, name: rows.write.mode("append").saveAsTable(name),
    "overwrite": lambda rows, name: rows.write.mode("overwrite").saveAsTable(name),
    "replace": lambda rows, name: rows.writeTo(name).replace(),
    "insert": lambda rows, name: rows.write.insertInto(name),
    "insert overwrite": lambda rows, name: rows.write.insertInto(name, overwrite=True),
    "append rows": lambda rows, name: rows.writeTo(name).append(),
}


@pytest.fixture
def table(spark: SparkSession) -> Iterator[str]:
    name = f"main.default.o_{uuid.uuid4().hex[:8]}"
    yield name
    spark.sql(f"DROP TABLE IF EXISTS {name}")


def _observed(spark: SparkSession) -> tuple[Observation, DataFrame]:
    observation = Observation()
    return observation, spark.range(5).observe(
        observation, F.count(F.lit(1)).alias("n"), F.sum("id").alias("s")
    )


@pytest.mark.parametrize("kind", [*NEW, *EXISTING])
def test_values_are_there_after_a_write(spark: SparkSession, table: str, kind: str) -> None:
    if kind in EXISTING:
        spark.range(1).write.saveAsTable(table)
    observation, rows = _observed(spark)
    {**NEW, **EXISTING}[kind](rows, table)
    assert observation.get == {"n": 5, "s": 10}


def test_files_and_a_later_action(spark: SparkSession, tmp_path: Path) -> None:
    observation, rows = _observed(spark)
    rows.write.parquet(str(tmp_path / "p"))
    assert observation.get == {"n": 5, "s": 10}
    rows.filter("id > 2").count()
    assert observation.get == {"n": 5, "s": 10}
