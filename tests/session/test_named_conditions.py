"""Errors of Spark and Delta that have a number have the name that the platform lists."""

from __future__ import annotations

from itertools import product

import pytest
from pyspark.errors import AnalysisException, ParseException
from pyspark.sql import SparkSession

from lakeward.session import condition_of, message_of
from lakeward.session.patches.named_conditions import NAMED_CONDITIONS, NamedCondition

# A condition of the table → statements with it; {s} is the schema.
EXAMPLES: dict[str, tuple[str, ...]] = {
    "SPECIFY_CLUSTER_BY_WITH_PARTITIONED_BY_IS_NOT_ALLOWED": (
        "CREATE TABLE {s}.x (id INT, p INT) CLUSTER BY (id) PARTITIONED BY (p)",
        "CREATE OR REPLACE TABLE {s}.x (id INT, p INT) USING delta PARTITIONED BY (p) CLUSTER BY (id)",
    ),
    "UNSUPPORTED_FEATURE.TABLE_OPERATION": (
        "TRUNCATE TABLE {s}.files",
        "INSERT INTO {s}.files REPLACE WHERE id = 1 SELECT 1",
        "INSERT INTO {s}.files REPLACE WHERE id = 1 VALUES (1)",
    ),
    "EXPECT_VIEW_NOT_TABLE.USE_ALTER_TABLE": ("ALTER VIEW {s}.t RENAME TO {s}.x",),
    "SPECIFY_PARTITION_IS_NOT_ALLOWED": (
        "CREATE TABLE {s}.x PARTITIONED BY (id)",
        "CREATE TABLE {s}.x USING parquet PARTITIONED BY (id)",
    ),
    "DELTA_COLUMN_NOT_FOUND_IN_SCHEMA": (
        "CREATE TABLE {s}.x (id INT) PARTITIONED BY (p)",
        "CREATE OR REPLACE TABLE {s}.x PARTITIONED BY (p) AS SELECT 1 AS id",
    ),
    "DELTA_DUPLICATE_COLUMNS_FOUND": ("CREATE TABLE {s}.x (id INT, p INT) PARTITIONED BY (p, p)",),
}


@pytest.fixture
def schema(spark: SparkSession) -> str:
    name = "main.named_conditions"
    spark.sql(f"CREATE SCHEMA IF NOT EXISTS {name}")
    spark.sql(f"CREATE TABLE IF NOT EXISTS {name}.t (id INT)")
    spark.sql(f"CREATE TABLE IF NOT EXISTS {name}.files (id INT) USING parquet")
    spark.sql(f"CREATE OR REPLACE VIEW {name}.v AS SELECT 1 AS id")
    return name


@pytest.mark.parametrize("named", NAMED_CONDITIONS, ids=lambda each: each.condition)
def test_a_numbered_error_has_its_name(spark: SparkSession, schema: str, named: NamedCondition) -> None:
    for statement in EXAMPLES[named.condition]:
        with pytest.raises(AnalysisException) as raised:
            spark.sql(statement.format(s=schema)).collect()
        error = raised.value
        assert error.getCondition() == condition_of(error) == named.condition
        assert error.getSqlState() == named.sql_state
        shown = message_of(error)
        assert shown.startswith(f"[{named.condition}] ")
        assert f" SQLSTATE: {named.sql_state}" in shown
        assert "_LEGACY" not in f"{shown}{error.getMessage()}"


def test_a_named_error_keeps_its_class_and_its_place(spark: SparkSession, schema: str) -> None:
    statement = f"CREATE TABLE {schema}.x (id INT, p INT) CLUSTER BY (id) PARTITIONED BY (p)"
    with pytest.raises(ParseException) as raised:
        spark.sql(statement)
    assert type(raised.value).__name__ == "ParseException"
    assert "(line 1, pos " in message_of(raised.value)
    assert statement in message_of(raised.value)


@pytest.mark.parametrize(
    ("kind", "target", "condition"),
    [
        (kind, target, condition)
        for kind, (target, condition) in product(
            ("TABLE", "VIEW"),
            (
                ("default.x", "CANNOT_RENAME_ACROSS_SCHEMA"),
                ("main.default.x", "CANNOT_RENAME_ACROSS_SCHEMA"),
                ("MAIN.default.x", "CANNOT_RENAME_ACROSS_SCHEMA"),
                ("dev.named_conditions.x", "CANNOT_RENAME_ACROSS_CATALOG"),
                ("dev.default.x", "CANNOT_RENAME_ACROSS_CATALOG"),
            ),
        )
    ],
)
def test_no_table_or_view_is_renamed_into_another_schema(
    spark: SparkSession, schema: str, kind: str, target: str, condition: str
) -> None:
    source = f"{schema}.{'t' if kind == 'TABLE' else 'v'}"
    with pytest.raises(AnalysisException) as raised:
        spark.sql(f"ALTER {kind} {source} RENAME TO {target}")
    assert raised.value.getCondition() == condition
    assert raised.value.getSqlState() == "0AKD0"
    assert spark.catalog.tableExists(source)


@pytest.mark.parametrize("kind", ["TABLE", "VIEW"])
@pytest.mark.parametrize(
    "qualifier", ["", "named_conditions.", "main.named_conditions.", "MAIN.Named_Conditions."]
)
def test_a_rename_in_one_schema_takes_every_spelling(
    spark: SparkSession, schema: str, kind: str, qualifier: str
) -> None:
    source = f"{schema}.{'t' if kind == 'TABLE' else 'v'}"
    spark.sql(f"ALTER {kind} {source} RENAME TO {qualifier}renamed")
    try:
        assert not spark.catalog.tableExists(source)
        assert spark.catalog.tableExists(f"{schema}.renamed")
    finally:
        spark.sql(f"ALTER {kind} {schema}.renamed RENAME TO {source}")
