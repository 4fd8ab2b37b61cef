"""Methods of `spark.catalog` act as the statements of SQL; errors show the user's names."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from lakeward.session import ensure_schema


@pytest.fixture
def schema(spark: SparkSession, tmp_path: Path) -> Iterator[str]:
    """The current schema, with a Delta table, one of Parquet, and views."""
    name = f"s_{tmp_path.name}".lower()
    ensure_schema(spark, "dev", name)
    spark.sql(f"USE dev.{name}")
    for table, form in (("t", "delta"), ("f", "parquet")):
        spark.sql(f"CREATE TABLE {table} (id INT, p INT, q STRING) USING {form} PARTITIONED BY (p, q)")
        spark.sql(f"INSERT INTO {table} VALUES (1, 1, 'a'), (2, 2, 'b')")
    spark.sql("CREATE VIEW seen_here AS SELECT 1 AS a")
    spark.sql("CREATE TEMPORARY VIEW seen_here_temporary AS SELECT 1 AS a")
    yield name
    spark.catalog.dropTempView("seen_here_temporary")
    spark.sql("USE main.default")
    spark.sql(f"DROP SCHEMA dev.{name} CASCADE")


@pytest.mark.parametrize("table", ["t", "f", "dev.{schema}.t", "`dev`.`{schema}`.`f`"])
def test_methods_of_tables_take_each_spelling(spark: SparkSession, schema: str, table: str) -> None:
    name = table.format(schema=schema)
    spark.catalog.analyzeTable(name)
    spark.catalog.analyzeTable(name, noScan=True)
    partitions = spark.catalog.listPartitions(name)
    assert sorted(each.partition for each in partitions) == ["p=1/q=a", "p=2/q=b"]


def test_partitions_are_recovered_where_they_are_folders(spark: SparkSession, schema: str) -> None:
    assert schema
    spark.catalog.recoverPartitions("f")
    with pytest.raises(PySparkException, match="DELTA_OPERATION_NOT_ALLOWED"):
        spark.catalog.recoverPartitions("t")
    for method in (spark.catalog.analyzeTable, spark.catalog.recoverPartitions, spark.catalog.listPartitions):
        with pytest.raises(PySparkException, match="TABLE_OR_VIEW_NOT_FOUND"):
            method("nothing")


@pytest.mark.usefixtures("generated_code")
@pytest.mark.parametrize("name", [None, "{schema}", "dev.{schema}"])
@pytest.mark.parametrize("pattern", [None, "seen_here*"])
def test_views_are_listed(spark: SparkSession, schema: str, name: str | None, pattern: str | None) -> None:
    given = name and name.format(schema=schema)
    views = spark.catalog.listViews(given, pattern)
    found = {each.name: each.isTemporary for each in views if each.name.startswith("seen_here")}
    # A qualified schema is that of a catalog, which has no temporary views.
    temporary = {} if name == "dev.{schema}" else {"seen_here_temporary": True}
    assert found == {"seen_here": False, **temporary}


ERRORS: dict[str, Callable[[SparkSession], object]] = {
    "`dev`.`{s}`.`f1`": lambda spark: [
        spark.sql("CREATE FUNCTION f1() RETURNS INT RETURN 1"),
        spark.sql("CREATE FUNCTION f1() RETURNS INT RETURN 1"),
    ],
    "`dev`.`{s}`.`f2`": lambda spark: spark.sql("DROP FUNCTION f2"),
    "dev.{s}.plain": lambda spark: [
        spark.sql("CREATE TABLE plain (id INT)"),
        spark.sql("SHOW PARTITIONS plain"),
    ],
    "`dev`.`nothing`": lambda spark: spark.catalog.getDatabase("nothing"),
}


@pytest.mark.parametrize("shown", ERRORS)
def test_errors_show_catalog_and_schema(spark: SparkSession, schema: str, shown: str) -> None:
    """Spark's session catalog has the two in one name."""
    with pytest.raises(PySparkException) as caught:
        ERRORS[shown](spark)
    assert "__" not in str(caught.value)
    assert shown.format(s=schema) in str(caught.value)
