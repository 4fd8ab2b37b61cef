"""ALTER TABLE … SET NOT NULL: spellings × columns × kinds of tables, NULLs that exist, and later writes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from lakeward.session import condition_of
from tests.conditions import failing

TABLE = "main.default.not_null"


@pytest.fixture
def create(spark: SparkSession) -> Iterator[Callable[..., None]]:
    """A function that creates the table with one row."""

    def create_table(columns: str = "id INT, name STRING", *, row: str = "1, 'a'", more: str = "") -> None:
        spark.sql(f"CREATE OR REPLACE TABLE {TABLE} ({columns}) {more}")
        spark.sql(f"INSERT INTO {TABLE} SELECT {row}")

    yield create_table
    spark.sql(f"DROP TABLE IF EXISTS {TABLE}")


def nullable(spark: SparkSession) -> dict[str, bool]:
    return {field.name: field.nullable for field in spark.table(TABLE).schema}


@pytest.mark.parametrize(
    "statement",
    [
        "ALTER TABLE {} ALTER COLUMN name SET NOT NULL",
        "alter table {} alter NAME set not null;",
        "ALTER TABLE {} CHANGE COLUMN name SET NOT NULL",
        "-- a comment\nALTER TABLE {}\nALTER COLUMN `name`\n  SET NOT  NULL",
    ],
)
def test_every_spelling_forbids_null(
    spark: SparkSession, create: Callable[..., None], statement: str
) -> None:
    create()
    spark.sql(statement.format(TABLE))
    assert nullable(spark) == {"id": True, "name": False}
    with pytest.raises((PySparkException, Py4JJavaError)) as failed:
        spark.sql(f"INSERT INTO {TABLE} VALUES (2, NULL)")
    assert condition_of(failed.value) == "DELTA_NOT_NULL_CONSTRAINT_VIOLATED"
    spark.sql(f"INSERT INTO {TABLE} VALUES (NULL, 'b')")
    assert spark.table(TABLE).count() == 2


def test_a_temporary_view_hides_the_table_of_its_name(
    spark: SparkSession, create: Callable[..., None]
) -> None:
    create()
    name = TABLE.rpartition(".")[2]
    spark.sql(f"CREATE TEMPORARY VIEW {name} AS SELECT 1 AS id, 'a' AS name")
    try:
        with pytest.raises(PySparkException) as failed:
            spark.sql(f"ALTER TABLE {name} ALTER COLUMN name SET NOT NULL")
    finally:
        spark.catalog.dropTempView(name)
    assert (condition_of(failed.value) or "").startswith("EXPECT_TABLE_NOT_VIEW")
    assert nullable(spark)["name"]


@pytest.mark.parametrize(
    "more",
    [
        "TBLPROPERTIES ('delta.columnMapping.mode' = 'name')",
        "TBLPROPERTIES ('delta.enableDeletionVectors' = 'true', 'delta.enableRowTracking' = 'true')",
        "PARTITIONED BY (name)",
        "CLUSTER BY (id)",
        "COMMENT 'kept' TBLPROPERTIES ('team' = 'me')",
    ],
)
def test_the_rest_of_the_table_stays(spark: SparkSession, create: Callable[..., None], more: str) -> None:
    create("id INT COMMENT 'key', name STRING DEFAULT 'x'", more=_with_defaults(more))
    described = f"DESCRIBE DETAIL {TABLE}"
    before = spark.sql(described).first()
    spark.sql(f"ALTER TABLE {TABLE} ALTER COLUMN id SET NOT NULL, name SET NOT NULL")
    after = spark.sql(described).first()
    assert before is not None and after is not None
    changing = {"lastModified", "minReaderVersion", "minWriterVersion", "tableFeatures"}
    assert {k: v for k, v in before.asDict().items() if k not in changing} == {
        k: v for k, v in after.asDict().items() if k not in changing
    }
    assert nullable(spark) == {"id": False, "name": False}
    assert spark.table(TABLE).schema["id"].metadata["comment"] == "key"
    assert spark.table(TABLE).collect() == [(1, "a")]
    newest = spark.sql(f"DESCRIBE HISTORY {TABLE} LIMIT 1").first()
    assert newest is not None and newest["operation"] == "CHANGE COLUMNS"


def _with_defaults(more: str) -> str:
    key = "'delta.feature.allowColumnDefaults' = 'supported'"
    return (
        more.replace("TBLPROPERTIES (", f"TBLPROPERTIES ({key}, ")
        if "TBLP" in more
        else f"{more} TBLPROPERTIES ({key})"
    )


def test_rows_with_null_are_counted_and_nothing_changes(
    spark: SparkSession, create: Callable[..., None]
) -> None:
    create()
    spark.sql(f"INSERT INTO {TABLE} VALUES (2, NULL), (3, NULL)")
    with pytest.raises(PySparkException, match=r"2 rows in main\.default\.not_null violate") as failed:
        spark.sql(f"ALTER TABLE {TABLE} ALTER COLUMN name SET NOT NULL")
    assert condition_of(failed.value) == "DELTA_NEW_NOT_NULL_VIOLATION"
    assert failed.value.getSqlState() == "23512"
    assert nullable(spark) == {"id": True, "name": True}
    assert spark.sql(f"DESCRIBE HISTORY {TABLE}").count() == 3


def test_rows_that_a_row_filter_hides_are_checked(spark: SparkSession, create: Callable[..., None]) -> None:
    create(row="1, CAST(NULL AS STRING)")
    spark.sql("CREATE OR REPLACE FUNCTION main.default.hide_one(id INT) RETURN id <> 1")
    spark.sql(f"ALTER TABLE {TABLE} SET ROW FILTER main.default.hide_one ON (id)")
    with failing("DELTA_NEW_NOT_NULL_VIOLATION"):
        spark.sql(f"ALTER TABLE {TABLE} ALTER COLUMN name SET NOT NULL")


@pytest.mark.parametrize(
    ("columns", "row", "column", "condition"),
    [
        ("s STRUCT<a: INT>", "struct(1)", "s.a", "DELTA_NOT_NULL_NESTED_FIELD"),
        ("s ARRAY<STRUCT<a: INT>>", "array(struct(1))", "s.element.a", "DELTA_NESTED_NOT_NULL_CONSTRAINT"),
        ("s INT", "1", "missing", "UNRESOLVED_COLUMN.WITH_SUGGESTION"),
    ],
)
def test_columns_that_cannot_be_constrained(
    spark: SparkSession, create: Callable[..., None], columns: str, row: str, column: str, condition: str
) -> None:
    create(columns, row=row)
    with failing(condition):
        spark.sql(f"ALTER TABLE {TABLE} ALTER COLUMN {column} SET NOT NULL")


def test_a_field_of_a_struct_that_is_not_null(spark: SparkSession, create: Callable[..., None]) -> None:
    create("s STRUCT<a: INT, b: INT> NOT NULL", row="named_struct('a', 1, 'b', CAST(NULL AS INT))")
    spark.sql(f"ALTER TABLE {TABLE} ALTER COLUMN s.A SET NOT NULL")
    struct = spark.table(TABLE).schema["s"].dataType
    assert isinstance(struct, StructType)
    assert {field.name: field.nullable for field in struct} == {"a": False, "b": True}


def test_a_column_that_is_not_null_already_stays_so(spark: SparkSession, create: Callable[..., None]) -> None:
    create("id INT NOT NULL, name STRING")
    spark.sql(f"ALTER TABLE {TABLE} ALTER COLUMN id SET NOT NULL")
    assert nullable(spark) == {"id": False, "name": True}
    spark.sql(f"ALTER TABLE {TABLE} ALTER COLUMN id DROP NOT NULL")
    assert nullable(spark) == {"id": True, "name": True}


def test_a_table_of_a_path(spark: SparkSession, tmp_path: Path) -> None:
    spark.range(3).write.format("delta").save(str(tmp_path / "t"))
    spark.sql(f"ALTER TABLE delta.`{tmp_path}/t` ALTER COLUMN id SET NOT NULL")
    assert not spark.read.format("delta").load(str(tmp_path / "t")).schema["id"].nullable


@pytest.mark.parametrize("name", ["main.default.no_such_table", "main.default.no_table"])
def test_what_is_no_table_is_sparks_error(spark: SparkSession, name: str) -> None:
    spark.sql("CREATE OR REPLACE VIEW main.default.no_table AS SELECT 1 AS id")
    with pytest.raises(PySparkException) as failed:
        spark.sql(f"ALTER TABLE {name} ALTER COLUMN id SET NOT NULL")
    assert condition_of(failed.value) in ("TABLE_OR_VIEW_NOT_FOUND", "EXPECT_TABLE_NOT_VIEW.NO_ALTERNATIVE")
    spark.sql("DROP VIEW main.default.no_table")
