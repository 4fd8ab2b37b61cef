"""A statement that names a missing catalog fails with NO_SUCH_CATALOG_EXCEPTION, as on the platform."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from delta.tables import DeltaTable
from pyspark.errors import AnalysisException, PySparkException

from lakeward.session import catalog_remedy, condition_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import SparkSession

STATEMENTS = (
    "CREATE SCHEMA {c}.s",
    "CREATE SCHEMA IF NOT EXISTS {c}.s",
    "CREATE DATABASE {c}.s",
    "DROP SCHEMA {c}.s",
    "ALTER SCHEMA {c}.s SET DBPROPERTIES ('a' = 'b')",
    "COMMENT ON SCHEMA {c}.s IS 'x'",
    "DESCRIBE SCHEMA {c}.s",
    "SHOW SCHEMAS IN {c}",
    "SHOW TABLES IN {c}.s",
    "SHOW VIEWS IN {c}.s",
    "SHOW FUNCTIONS IN {c}.s",
    "USE {c}.s",
    "USE CATALOG {c}",
    "SET CATALOG {c}",
    "CREATE TABLE {c}.s.t (id INT)",
    "CREATE TABLE {c}.s.t AS SELECT 1 AS id",
    "CREATE OR REPLACE TABLE {c}.s.t AS SELECT 1 AS id",
    "CREATE VIEW {c}.s.v AS SELECT 1 AS id",
    "CREATE FUNCTION {c}.s.f() RETURNS INT RETURN 1",
    "CREATE VOLUME {c}.s.v",
)
METHODS: dict[str, Callable[[SparkSession, str], object]] = {
    "listTables": lambda spark, c: spark.catalog.listTables(f"{c}.s"),
    "listFunctions": lambda spark, c: spark.catalog.listFunctions(f"{c}.s"),
    "saveAsTable": lambda spark, c: spark.range(1).write.saveAsTable(f"{c}.s.t"),
    "writeTo": lambda spark, c: spark.range(1).writeTo(f"{c}.s.t").create(),
    "setCurrentCatalog": lambda spark, c: spark.catalog.setCurrentCatalog(c),
    "DeltaTable.forName": lambda spark, c: DeltaTable.forName(spark, f"{c}.s.t"),
    "DeltaTable.create": lambda spark, c: (
        DeltaTable.create(spark).tableName(f"{c}.s.t").addColumn("id", "INT").execute()
    ),
}
SPELLINGS = ("no_such", "No_Such", "`no-such`")


def _error(action: Callable[[], object]) -> PySparkException | None:
    try:
        action()
    except PySparkException as error:
        return error
    return None


def _condition(action: Callable[[], object]) -> str | None:
    error = _error(action)
    return error and condition_of(error)


@pytest.mark.parametrize("catalog", SPELLINGS)
def test_each_statement_has_the_condition(spark: SparkSession, catalog: str) -> None:
    found = {text: _condition(lambda text=text: spark.sql(text.format(c=catalog))) for text in STATEMENTS}  # type: ignore[misc]
    assert found == dict.fromkeys(STATEMENTS, "NO_SUCH_CATALOG_EXCEPTION")


@pytest.mark.parametrize("catalog", SPELLINGS)
def test_each_statement_says_how_to_create_the_catalog(spark: SparkSession, catalog: str) -> None:
    """The sentence is written in Python and in Java."""
    errors = {text: _error(lambda text=text: spark.sql(text.format(c=catalog))) for text in STATEMENTS}  # type: ignore[misc]
    remedies = {catalog_remedy(name.strip("`")) for name in (catalog, catalog.lower())}
    silent = [text for text, error in errors.items() if not any(each in str(error) for each in remedies)]
    assert silent == []


def test_each_statement_has_the_condition_with_a_computed_name(spark: SparkSession) -> None:
    """Spark computes the name later than it reads one that is written."""
    texts = [re.sub(r"\{c\}([.\w]*)", r"IDENTIFIER('no_' || 'such\1')", text) for text in STATEMENTS]
    found = {text: _condition(lambda text=text: spark.sql(text)) for text in texts}  # type: ignore[misc]
    assert found == dict.fromkeys(texts, "NO_SUCH_CATALOG_EXCEPTION")


def test_each_method_has_the_condition(spark: SparkSession) -> None:
    errors = {name: _error(lambda call=call: call(spark, "no_such")) for name, call in METHODS.items()}  # type: ignore[misc]
    found = {name: error and (condition_of(error), error.getSqlState()) for name, error in errors.items()}
    assert found == dict.fromkeys(METHODS, ("NO_SUCH_CATALOG_EXCEPTION", "42704"))
    assert all(isinstance(error, AnalysisException) for error in errors.values())


def test_questions_about_such_names_have_answers(spark: SparkSession) -> None:
    assert spark.catalog.databaseExists("no_such.s") is False
    assert spark.catalog.tableExists("no_such.s.t") is False
    spark.sql("DROP SCHEMA IF EXISTS no_such.s")
    spark.sql("DROP TABLE IF EXISTS no_such.s.t")
    assert _condition(lambda: spark.table("no_such.s.t")) == "TABLE_OR_VIEW_NOT_FOUND"


def test_an_existing_schema_is_named_as_it_was_written(spark: SparkSession) -> None:
    with pytest.raises(PySparkException, match="`default`") as caught:
        spark.sql("CREATE SCHEMA main.default")
    assert condition_of(caught.value) == "SCHEMA_ALREADY_EXISTS"
    assert "main__" not in str(caught.value)
