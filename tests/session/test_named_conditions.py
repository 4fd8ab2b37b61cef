"""Errors of Spark and Delta that have a number have the name that the platform lists."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest
from pyspark.errors import AnalysisException, IllegalArgumentException, ParseException
from pyspark.sql import SparkSession

from lakeward.session import condition_of, message_of
from lakeward.session.patches.named_conditions import NAMED_CONDITIONS, NamedCondition
from tests.conditions import failing

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
    "DECIMAL_SCALE_EXCEEDS_PRECISION": (
        "CREATE TABLE {s}.x (id DECIMAL(5, 6))",
        "ALTER TABLE {s}.t ADD COLUMN d DECIMAL(5, 6)",
        "SELECT CAST(1 AS DECIMAL(5, 6))",
    ),
    "INVALID_LINE_SEPARATOR.EMPTY": (
        "SELECT from_json('{{}}', 'a INT', map('lineSep', ''))",
        "SELECT to_json(named_struct('a', 1), map('lineSep', ''))",
    ),
    "INVALID_LINE_SEPARATOR.TOO_LONG": (
        "SELECT to_csv(named_struct('a', 1), map('lineSep', 'abc'))",
        "INSERT INTO {s}.long_lines VALUES (1)",
    ),
    "DELTA_DUPLICATE_COLUMNS_FOUND": ("CREATE TABLE {s}.x (id INT, p INT) PARTITIONED BY (p, p)",),
}


@pytest.fixture
def schema(spark: SparkSession) -> str:
    name = "main.named_conditions"
    spark.sql(f"CREATE SCHEMA IF NOT EXISTS {name}")
    spark.sql(f"CREATE TABLE IF NOT EXISTS {name}.t (id INT)")
    spark.sql(f"CREATE TABLE IF NOT EXISTS {name}.files (id INT) USING parquet")
    lines = "(id INT) USING csv OPTIONS (lineSep 'abc')"
    spark.sql(f"CREATE TABLE IF NOT EXISTS {name}.long_lines {lines}")
    spark.sql(f"CREATE OR REPLACE VIEW {name}.v AS SELECT 1 AS id")
    return name


@pytest.mark.parametrize("named", NAMED_CONDITIONS, ids=lambda each: each.condition)
def test_a_numbered_error_has_its_name(spark: SparkSession, schema: str, named: NamedCondition) -> None:
    kind = IllegalArgumentException if named.number == "" else AnalysisException
    for statement in EXAMPLES[named.condition]:
        with pytest.raises(kind) as raised:
            spark.sql(statement.format(s=schema)).collect()
        error = raised.value
        assert error.getCondition() == condition_of(error) == named.condition
        assert error.getSqlState() == named.sql_state
        shown = message_of(error)
        assert shown.startswith(f"[{named.condition}] ")
        assert f" SQLSTATE: {named.sql_state}" in shown
        assert "_LEGACY" not in f"{shown}{error.getMessage()}"


@pytest.mark.parametrize("form", ["csv", "json", "text"])
@pytest.mark.parametrize("length", [0, 3])
def test_a_wrong_line_separator_of_a_reader_and_a_writer(
    spark: SparkSession, tmp_path: Path, form: str, length: int
) -> None:
    """Only lines of CSV files have a longest separator."""
    (tmp_path / "a").write_text("1")
    separator, folder = "abc"[:length], str(tmp_path / "out")
    frame = spark.sql("SELECT 'x' AS value")
    calls = (
        lambda: (
            spark.read.schema("value STRING").format(form).load(str(tmp_path), lineSep=separator).collect()
        ),
        lambda: frame.write.format(form).mode("overwrite").save(folder, lineSep=separator),
    )
    condition = "INVALID_LINE_SEPARATOR.TOO_LONG" if length else "INVALID_LINE_SEPARATOR.EMPTY"
    for call in calls:
        if length and form != "csv":
            call()
            continue
        with pytest.raises(IllegalArgumentException) as raised:
            call()
        assert condition_of(raised.value) == condition


def test_a_condition_that_spark_lacks_leaves_the_other_parts_of_its_condition(spark: SparkSession) -> None:
    statements = {
        "SELECT zstd_decompress(X'00')": "INVALID_PARAMETER_VALUE.ZSTD_DECOMPRESS_INPUT",
        "SELECT getbit(11L, 64)": "INVALID_PARAMETER_VALUE.BIT_POSITION_RANGE",
        "SELECT aes_decrypt(X'00', '0000111122223333')": "INVALID_PARAMETER_VALUE.AES_CRYPTO_ERROR",
    }
    for statement, condition in [*statements.items()] * 2:
        with failing(condition) as raised:
            spark.sql(statement).collect()
        assert raised.value.getSqlState() == "22023"
        for shown in (message_of(raised.value), raised.value.getMessage()):
            assert shown.startswith(f"[{condition}] The value of parameter(s) `")
            assert shown.count("The value of parameter(s)") == shown.count("SQLSTATE: 22023") == 1


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
