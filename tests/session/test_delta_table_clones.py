"""`DeltaTable.clone…` and `detail`: methods × targets × kinds of clone.

Source: https://docs.databricks.com/aws/en/delta/clone
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest
from delta.tables import DeltaTable
from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import SparkSession

from tests.lanes import sampled

S = "main.delta_clones"


@pytest.fixture
def table(spark: SparkSession) -> Iterator[DeltaTable]:
    """A table of two versions, in the current schema."""
    spark.sql(f"CREATE SCHEMA IF NOT EXISTS {S}")
    spark.sql(f"USE {S}")
    spark.sql(f"CREATE OR REPLACE TABLE {S}.t TBLPROPERTIES ('a' = 'b') AS SELECT 1 AS id")
    spark.sql(f"INSERT INTO {S}.t VALUES (2)")
    yield DeltaTable.forName(spark, "t")
    spark.sql("USE main.default")
    spark.sql(f"DROP SCHEMA {S} CASCADE")


TARGETS = ("u", "delta_clones.u", f"{S}.u", "`main`.`delta_clones`.`u`", "{folder}/u", "file:{folder}/u")
METHODS = ("clone", "cloneAtVersion", "cloneAtTimestamp")


@pytest.mark.parametrize(
    ("method", "target", "is_shallow"),
    sampled(
        product(METHODS, TARGETS, (True, False)),
        *((METHODS[0], each, False) for each in TARGETS[1:5:3]),
        (METHODS[1], TARGETS[2], True),
    ),
)
def test_a_clone_has_the_rows_of_its_version(
    spark: SparkSession, table: DeltaTable, tmp_path: Path, method: str, target: str, is_shallow: bool
) -> None:
    first = spark.sql(f"DESCRIBE HISTORY {S}.t").orderBy("version").select("timestamp").collect()[-2]
    moment = {"clone": [], "cloneAtVersion": [0], "cloneAtTimestamp": [str(first[0])]}[method]
    if method == "cloneAtVersion":
        moment = [spark.sql(f"DESCRIBE HISTORY {S}.t LIMIT 1").collect()[0]["version"] - 1]
    place = target.format(folder=tmp_path)
    clone = getattr(table, method)(*moment, place, is_shallow, properties={"c": "d"})
    expected = [(1,)] if moment else [(1,), (2,)]
    assert sorted(clone.toDF().collect()) == expected
    properties = clone.detail().select("properties").collect()[0][0]
    assert (properties["a"], properties["c"]) == ("b", "d")


def test_a_table_is_replaced_on_request(spark: SparkSession, table: DeltaTable) -> None:
    spark.sql(f"CREATE TABLE {S}.u AS SELECT 9 AS other")
    with pytest.raises(AnalysisException):
        table.clone("u")
    assert table.clone("u", replace=True).toDF().columns == ["id"]


def test_wrong_arguments_are_refused(table: DeltaTable) -> None:
    with pytest.raises(ValueError, match="target"):
        table.clone(1)  # type: ignore[arg-type]
    with pytest.raises(PySparkException):
        table.cloneAtVersion(99, "u")


def test_the_detail_has_the_name_of_the_table(spark: SparkSession, table: DeltaTable) -> None:
    assert table.detail().select("name").collect() == [(f"{S}.t",)]
    location = table.detail().select("location").collect()[0][0]
    assert DeltaTable.forPath(spark, location).detail().select("name").collect() == [(None,)]
