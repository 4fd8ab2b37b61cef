"""Every spelling of a listing has the columns of Databricks and the same rows."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from lakeward.session import Settings, session

COLUMNS = {
    "TABLES": ["database", "tableName", "isTemporary"],
    "VIEWS": ["namespace", "viewName", "isTemporary"],
}
# The current schema is the listed one.
SCHEMAS = (
    "",
    "IN {schema}",
    "FROM main.{schema}",
    "in `main`.`{schema}`",
    "IN IDENTIFIER('main.{schema}')",
    "FROM IDENTIFIER(:name)",
)
PATTERNS = ("", "LIKE 'seen*'", "'seen*'", "like :pattern", "LIKE 'SEEN*|other'")


@pytest.fixture(scope="module")
def schema(suite_settings: Settings) -> Iterator[str]:
    """The current schema, with a table and two views."""
    spark, name = session(suite_settings), f"s_{uuid.uuid4().hex[:8]}"
    spark.sql(f"CREATE SCHEMA main.{name}")
    spark.sql(f"USE main.{name}")
    spark.sql("CREATE TABLE seen_table (id INT)")
    spark.sql("CREATE VIEW seen_view AS SELECT 1 AS a")
    spark.sql("CREATE TEMPORARY VIEW seen_temporary AS SELECT 1 AS a")
    yield name
    spark.catalog.dropTempView("seen_temporary")
    spark.sql("USE main.default")
    spark.sql(f"DROP SCHEMA main.{name} CASCADE")


@pytest.mark.parametrize("kind", COLUMNS)
@pytest.mark.parametrize("named", SCHEMAS)
@pytest.mark.parametrize("pattern", PATTERNS)
def test_tables_and_views_are_listed(
    spark: SparkSession, schema: str, kind: str, named: str, pattern: str
) -> None:
    text = f"SHOW {kind} {named.format(schema=schema)} {pattern}"
    markers = {"name": f"main.{schema}", "pattern": "seen*"}
    shown = spark.sql(text, args={key: value for key, value in markers.items() if f":{key}" in text})
    assert shown.columns == COLUMNS[kind]
    found = [tuple(row) for row in shown.collect() if row[1].startswith("seen")]
    tables = [(schema, "seen_table", False)] if kind == "TABLES" else []
    assert found == [*tables, (schema, "seen_view", False), ("", "seen_temporary", True)]


@pytest.mark.parametrize("word", ["SCHEMAS", "DATABASES", "schemas"])
@pytest.mark.parametrize(
    "named", ["", "IN main", "FROM `main`", "IN IDENTIFIER('main')", "IN IDENTIFIER(:name)"]
)
@pytest.mark.parametrize("pattern", PATTERNS)
def test_schemas_are_listed(spark: SparkSession, schema: str, word: str, named: str, pattern: str) -> None:
    text = f"SHOW {word} {named} {pattern.replace('seen', schema).replace('SEEN', schema.upper())}"
    markers = {"name": "main", "pattern": f"{schema}*"}
    shown = spark.sql(text, args={key: value for key, value in markers.items() if f":{key}" in text})
    assert shown.columns == ["databaseName"]
    assert schema in [row.databaseName for row in shown.collect()]


@pytest.mark.parametrize("statement", ["SHOW TABLES", "SHOW VIEWS", "SHOW SCHEMAS"])
def test_an_immediate_statement_lists_the_same(spark: SparkSession, schema: str, statement: str) -> None:
    assert schema
    listed, immediate = spark.sql(statement), spark.sql(f"EXECUTE IMMEDIATE '{statement}'")
    assert (immediate.columns, immediate.collect()) == (listed.columns, listed.collect())
