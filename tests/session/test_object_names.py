"""Names that Unity Catalog allows: all characters but a period, a slash, blanks and control characters."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from delta.tables import DeltaTable
from py4j.protocol import Py4JJavaError
from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import SparkSession

from tests.lanes import sampled

_NAMES = ("c-d", "2024", "ä日", "a%20b", "a#b?c&d=e;f", "it's\"", "a``b", "(x)[y]{z}$@v1")


def _create(spark: SparkSession, table: str) -> None:
    spark.sql(f"CREATE TABLE {table} (id BIGINT)")
    spark.sql(f"INSERT INTO {table} VALUES (7)")


def _as_select(spark: SparkSession, table: str) -> None:
    spark.sql(f"CREATE OR REPLACE TABLE {table} AS SELECT 7L AS id")


def _save(spark: SparkSession, table: str) -> None:
    spark.range(7, 8).write.saveAsTable(table)
    spark.range(7, 8).write.mode("overwrite").saveAsTable(table)


def _builder(spark: SparkSession, table: str) -> None:
    DeltaTable.createIfNotExists(spark).tableName(table).addColumn("id", "BIGINT").execute()
    spark.range(7, 8).writeTo(table).append()


def _view(spark: SparkSession, table: str) -> None:
    spark.sql(f"CREATE VIEW {table} AS SELECT 7L AS id")


def _rename(spark: SparkSession, table: str) -> None:
    schema = table.partition(".`")[0]
    spark.sql(f"CREATE OR REPLACE TABLE {schema}.before AS SELECT 7L AS id")
    spark.sql(f"ALTER TABLE {schema}.before RENAME TO {table}")


_MAKERS = [_create, _as_select, _save, _builder, _view, _rename]


@pytest.mark.parametrize("make", sampled(_MAKERS, _create, _save, _rename))
def test_tables_and_views_have_such_names(
    spark: SparkSession, schema: str, make: Callable[[SparkSession, str], None]
) -> None:
    wrong = {}
    for name in _NAMES if make is _as_select else _NAMES[-3:]:
        table = f"{schema}.`{name}`"
        try:
            make(spark, table)
            rows = [row[0] for row in spark.table(table).collect()]
            listed = {row["tableName"] for row in spark.sql(f"SHOW TABLES IN {schema}").collect()}
            kind = "VIEW" if make is _view else "TABLE"
            found = (rows, name.replace("``", "`") in listed, spark.catalog.tableExists(table))
            spark.sql(f"DROP {kind} {table}")
            if (*found, spark.catalog.tableExists(table)) != ([7], True, True, False):
                wrong[name] = str(found)
        except (PySparkException, Py4JJavaError) as error:
            wrong[name] = str(error)[:200]
    assert wrong == {}


def test_a_colon_is_refused(spark: SparkSession, schema: str) -> None:
    """Hadoop's file systems have no such file; Unity Catalog takes the name."""
    with pytest.raises(AnalysisException, match="INVALID_SCHEMA_OR_RELATION_NAME"):
        spark.sql(f"CREATE TABLE {schema}.`a:b` (id INT)")


_EXPLAINED = (
    "SELECT *, {s}.f(1) FROM {s}.v",
    "INSERT INTO {s}.t SELECT 2",
    "UPDATE {s}.t SET a = 3",
    "MERGE INTO {s}.t USING {s}.v ON t.a = v.a WHEN MATCHED THEN DELETE",
    "CREATE TABLE {s}.u AS SELECT * FROM {s}.t",
)


def _plans(spark: SparkSession, mode: str, statement: str) -> str:
    return str(spark.sql(f"EXPLAIN {mode} {statement}").collect()[0][0])


@pytest.mark.parametrize("mode", ["", "EXTENDED", "CODEGEN", "COST", "FORMATTED"])
def test_plans_name_tables_and_functions_as_users_do(
    spark: SparkSession, schema: str, mode: str, capsys: pytest.CaptureFixture[str], generated_code: None
) -> None:
    spark.sql(f"CREATE TABLE {schema}.t AS SELECT 1 AS a")
    spark.sql(f"CREATE VIEW {schema}.v AS SELECT * FROM {schema}.t")
    spark.sql(f"CREATE FUNCTION {schema}.f(a INT) RETURNS INT RETURN a + (SELECT MAX(t.a) FROM {schema}.t)")
    plans = [_plans(spark, mode, statement.format(s=schema)) for statement in _EXPLAINED]
    spark.sql(_EXPLAINED[0].format(s=schema)).explain(mode.lower() or "simple")
    plans.append(capsys.readouterr().out)
    database = schema.replace(".", "__")
    assert [
        plan for plan in plans if f"spark_catalog.{database}" in plan or f"Database: {database}" in plan
    ] == []
    if mode != "CODEGEN":
        assert f"parquet {schema}.t" in plans[0]
        assert f"parquet {schema}.t" in plans[-1]
