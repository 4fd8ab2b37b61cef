"""Delta tables have columns with collations; the other types that Delta cannot store stay refused."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from delta.tables import DeltaTable
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from tests.lanes import sampled

Make = Callable[[SparkSession, str, Path], DataFrame | None]


def _frame(spark: SparkSession) -> DataFrame:
    return spark.sql("SELECT 'Apple' COLLATE UTF8_LCASE AS name")


def _insert(spark: SparkSession, table: str) -> None:
    spark.sql(f"INSERT INTO {table} (name) VALUES ('Apple')")


def _sql(spark: SparkSession, table: str, _: Path) -> None:
    spark.sql(f"CREATE TABLE {table} (name STRING COLLATE UTF8_LCASE)")
    _insert(spark, table)


def _default(spark: SparkSession, table: str, _: Path) -> None:
    spark.sql(f"CREATE TABLE {table} (name STRING) DEFAULT COLLATION UTF8_LCASE")
    _insert(spark, table)


def _replace(spark: SparkSession, table: str, _: Path) -> None:
    spark.sql(f"CREATE TABLE {table} (id INT)")
    spark.sql(f"CREATE OR REPLACE TABLE {table} (name STRING COLLATE UTF8_LCASE)")
    _insert(spark, table)


def _as_select(spark: SparkSession, table: str, _: Path) -> None:
    spark.sql(f"CREATE TABLE {table} AS SELECT 'Apple' COLLATE UTF8_LCASE AS name")


def _add(spark: SparkSession, table: str, _: Path) -> None:
    spark.sql(f"CREATE TABLE {table} (id INT)")
    spark.sql(f"ALTER TABLE {table} ADD COLUMN name STRING COLLATE UTF8_LCASE")
    _insert(spark, table)


def _altered(spark: SparkSession, table: str, folder: Path) -> None:
    _sql(spark, table, folder)
    spark.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('own' = '1')")


def _save_as_table(spark: SparkSession, table: str, _: Path) -> None:
    _frame(spark).write.saveAsTable(table)


def _writer_v2(spark: SparkSession, table: str, _: Path) -> None:
    _frame(spark).writeTo(table).create()


def _builder(spark: SparkSession, table: str, _: Path) -> None:
    builder = DeltaTable.createIfNotExists(spark).tableName(table)
    builder.addColumn("name", "string collate utf8_lcase").execute()
    _insert(spark, table)


def _alter_column(spark: SparkSession, table: str, _: Path) -> None:
    spark.sql(f"CREATE TABLE {table} (name STRING)")
    _insert(spark, table)
    spark.sql(f"ALTER TABLE {table} ALTER COLUMN name TYPE STRING COLLATE UTF8_LCASE")


def _path(spark: SparkSession, _: str, folder: Path) -> DataFrame:
    _frame(spark).write.format("delta").save(str(folder / "t"))
    return spark.read.format("delta").load(str(folder / "t"))


def _merged_schema(spark: SparkSession, table: str, _: Path) -> None:
    spark.sql(f"CREATE TABLE {table} (id INT)")
    _frame(spark).write.option("mergeSchema", "true").mode("append").saveAsTable(table)


def _merge(spark: SparkSession, table: str, _: Path) -> None:
    spark.sql(f"CREATE TABLE {table} AS SELECT 1 AS id")
    spark.sql(
        f"MERGE WITH SCHEMA EVOLUTION INTO {table} t"
        " USING (SELECT 2 AS id, 'Apple' COLLATE UTF8_LCASE AS name)"
        " s ON t.id = s.id WHEN NOT MATCHED THEN INSERT *"
    )


def _clone(spark: SparkSession, table: str, folder: Path) -> None:
    _sql(spark, f"{table}_source", folder)
    spark.sql(f"CREATE TABLE {table} SHALLOW CLONE {table}_source")


def _deep_clone(spark: SparkSession, table: str, folder: Path) -> None:
    _sql(spark, f"{table}_source", folder)
    spark.sql(f"CREATE OR REPLACE TABLE {table} DEEP CLONE {table}_source")


def _restore(spark: SparkSession, table: str, folder: Path) -> None:
    _sql(spark, table, folder)
    spark.sql(f"DELETE FROM {table}")
    spark.sql(f"RESTORE TABLE {table} TO VERSION AS OF 1")


def _stream(spark: SparkSession, table: str, folder: Path) -> None:
    _sql(spark, f"{table}_source", folder)
    stream = spark.readStream.table(f"{table}_source").writeStream
    stream = stream.option("checkpointLocation", str(folder / "checkpoint"))
    stream.trigger(availableNow=True).toTable(table).awaitTermination()


WAYS: dict[str, Make] = {
    name.strip("_"): way
    for name, way in globals().items()
    if name.startswith("_") and callable(way) and name not in ("_frame", "_insert")
}


@pytest.mark.parametrize("way", sampled(WAYS, "sql", "path", "clone", "stream"))
def test_every_way_to_a_column_with_a_collation(
    spark: SparkSession, table: str, tmp_path: Path, way: str
) -> None:
    frame = WAYS[way](spark, table, tmp_path)
    frame = spark.table(table) if frame is None else frame
    assert frame.schema["name"].dataType.simpleString() == "string collate UTF8_LCASE"
    assert [row.name for row in frame.where("name = 'APPLE'").select("name").collect()] == ["Apple"]


def test_files_are_not_skipped_by_binary_statistics(spark: SparkSession, table: str) -> None:
    spark.sql(f"CREATE TABLE {table} (id INT, name STRING COLLATE UTF8_LCASE)")
    for number, name in enumerate(("Apple", "zebra", "ZEBRA")):
        spark.sql(f"INSERT INTO {table} VALUES ({number}, '{name}')")
    assert spark.table(table).where("name IN ('APPLE', 'Zebra')").count() == 3
    assert spark.table(table).where("name > 'B'").count() == 2
    spark.sql(f"UPDATE {table} SET id = 9 WHERE name = 'zEBRA'")
    spark.sql(f"DELETE FROM {table} WHERE name = 'apple'")
    assert [row.id for row in spark.table(table).collect()] == [9, 9]
    assert spark.table(table).groupBy("name").agg(F.count("*").alias("n")).first()["n"] == 2  # type: ignore[index]


@pytest.fixture
def table(spark: SparkSession) -> Iterator[str]:
    """Yield the name of a table; it and those whose names it begins are dropped."""
    name = f"main.default.collated_{uuid.uuid4().hex[:8]}"
    yield name
    for suffix in ("", "_source", "_refused"):
        spark.sql(f"DROP TABLE IF EXISTS {name}{suffix}")


REFUSED = (
    *("INTERVAL YEAR", "INTERVAL DAY TO SECOND", "ARRAY<INTERVAL YEAR>", "TIME", "MAP<INT, TIME>"),
    "MAP<STRING COLLATE UTF8_LCASE, INT>",
)


@pytest.mark.parametrize("kind", REFUSED)
def test_other_types_stay_refused_after_a_collation(spark: SparkSession, table: str, kind: str) -> None:
    spark.sql(f"CREATE TABLE {table} (name STRING COLLATE UTF8_LCASE)")
    with pytest.raises(PySparkException, match="DELTA_UNSUPPORTED_DATA_TYPES"):
        spark.sql(f"CREATE TABLE {table}_refused (x {kind})")


def test_a_check_that_the_session_sets_stays(spark: SparkSession, table: str) -> None:
    key = "spark.databricks.delta.schema.typeCheck.enabled"
    spark.conf.set(key, "true")
    try:
        with pytest.raises(PySparkException, match="DELTA_UNSUPPORTED_DATA_TYPES"):
            spark.sql(f"CREATE TABLE {table} (name STRING COLLATE UTF8_LCASE)")
        assert spark.conf.get(key) == "true"
    finally:
        spark.conf.unset(key)
    spark.sql(f"CREATE TABLE {table} (name STRING COLLATE UTF8_LCASE)")


@pytest.fixture
def schema(spark: SparkSession) -> Iterator[str]:
    name = f"main.collated_{uuid.uuid4().hex[:8]}"
    yield name
    spark.sql(f"DROP SCHEMA IF EXISTS {name} CASCADE")


def collation_of(spark: SparkSession, name: str) -> str:
    kind = spark.table(name).schema["x"].dataType.simpleString()
    return kind.removeprefix("string").removeprefix(" collate ")


# What has the collation of its schema, and what has its own.
INHERITING = {
    "columns": ("CREATE TABLE {} (x STRING)", "UTF8_LCASE"),
    "query": ("CREATE TABLE {} AS SELECT 'a' AS x", "UTF8_LCASE"),
    "replaced": ("CREATE OR REPLACE TABLE {} AS SELECT 'a' AS x", "UTF8_LCASE"),
    "view": ("CREATE VIEW {} AS SELECT 'a' AS x", "UTF8_LCASE"),
    "column of its own": ("CREATE TABLE {} (x STRING COLLATE UNICODE)", "UNICODE"),
    "table of its own": ("CREATE TABLE {} (x STRING) DEFAULT COLLATION UNICODE", "UNICODE"),
    "view of its own": ("CREATE VIEW {} DEFAULT COLLATION UNICODE AS SELECT 'a' AS x", "UNICODE"),
}


@pytest.mark.parametrize("name", INHERITING)
def test_objects_have_the_default_collation_of_their_schema(
    spark: SparkSession, schema: str, name: str
) -> None:
    statement, expected = INHERITING[name]
    spark.sql(f"CREATE SCHEMA {schema} COMMENT 'c' DEFAULT COLLATION UTF8_LCASE")
    spark.sql(statement.format(f"{schema}.t"))
    assert collation_of(spark, f"{schema}.t") == expected
    described = dict(spark.sql(f"DESCRIBE SCHEMA EXTENDED {schema}").collect())
    assert (described["Collation"], described["Comment"]) == ("UTF8_LCASE", "c")


def test_another_default_collation_holds_for_new_objects(spark: SparkSession, schema: str) -> None:
    spark.sql(f"CREATE SCHEMA {schema}")
    spark.sql(f"CREATE TABLE {schema}.before (x STRING)")
    spark.sql(f"ALTER SCHEMA {schema} DEFAULT COLLATION UNICODE_CI")
    spark.sql(f"CREATE TABLE {schema}.after (x STRING)")
    spark.sql(f"ALTER TABLE {schema}.after DEFAULT COLLATION UTF8_LCASE")
    spark.sql(f"ALTER TABLE {schema}.after ADD COLUMN y STRING")
    assert [collation_of(spark, f"{schema}.{name}") for name in ("before", "after")] == ["", "UNICODE_CI"]
    assert spark.table(f"{schema}.after").schema["y"].dataType.simpleString() == "string collate UTF8_LCASE"
    assert dict(spark.sql(f"DESCRIBE SCHEMA EXTENDED {schema}").collect())["Collation"] == "UNICODE_CI"
    with pytest.raises(PySparkException, match="COLLATION_INVALID_NAME"):
        spark.sql(f"CREATE SCHEMA {schema}_2 DEFAULT COLLATION NOPE")


def test_schemas_have_the_default_collation_of_their_catalog(spark: SparkSession) -> None:
    name = f"collated_{uuid.uuid4().hex[:8]}"
    spark.sql(f"CREATE CATALOG {name} DEFAULT COLLATION UTF8_LCASE")
    try:
        spark.sql(f"CREATE SCHEMA {name}.a")
        spark.sql(f"CREATE SCHEMA {name}.b DEFAULT COLLATION UTF8_BINARY")
        for schema, expected in (("default", "UTF8_LCASE"), ("a", "UTF8_LCASE"), ("b", "")):
            spark.sql(f"CREATE TABLE {name}.{schema}.t AS SELECT 'a' AS x")
            assert collation_of(spark, f"{name}.{schema}.t") == expected, schema
        assert ("Collation", "UTF8_LCASE") in [
            tuple(r) for r in spark.sql(f"DESCRIBE CATALOG EXTENDED {name}").collect()
        ]
        with pytest.raises(PySparkException, match="COLLATION_INVALID_NAME"):
            spark.sql(f"ALTER CATALOG {name} DEFAULT COLLATION NOPE")
    finally:
        spark.sql(f"DROP CATALOG {name} CASCADE")


def test_the_collation_of_a_column_changes_in_one_commit(spark: SparkSession, table: str) -> None:
    spark.sql(f"CREATE TABLE {table} (id INT, x STRING, s STRUCT<x: STRING>) DEFAULT COLLATION UTF8_BINARY")
    for number, text in enumerate("aBc"):
        spark.sql(f"INSERT INTO {table} VALUES ({number}, '{text}', named_struct('x', '{text}'))")
    assert spark.table(table).where("x IN ('A', 'b')").count() == 0
    changes = "x TYPE STRING COLLATE UTF8_LCASE, s.x TYPE STRING COLLATE UNICODE_CI"
    spark.sql(f"ALTER TABLE {table} ALTER COLUMN {changes}")
    # The statistics of the files are those of bytes.
    assert spark.table(table).where("x IN ('A', 'b') AND s.x IN ('A', 'b')").count() == 2
    assert spark.table(table).where("x >= 'B'").count() == 2
    spark.sql(f"UPDATE {table} SET id = 9 WHERE x = 'A'")
    assert spark.table(table).where("id = 9").count() == 1
    spark.sql(f"ALTER TABLE {table} CHANGE COLUMN x TYPE STRING COLLATE UTF8_BINARY")
    assert spark.table(table).where("x IN ('A', 'b')").count() == 0
    history = spark.sql(f"DESCRIBE HISTORY {table}").orderBy("version").collect()
    assert [row.operation for row in history if row.operation.startswith("CHANGE")] == [
        "CHANGE COLUMNS",
        "CHANGE COLUMN",
    ]
    version = history[-1].version
    spark.sql(f"ALTER TABLE {table} ALTER COLUMN x TYPE STRING COLLATE UTF8_BINARY")
    assert spark.sql(f"DESCRIBE HISTORY {table}").agg({"version": "max"}).collect()[0][0] == version


@pytest.mark.parametrize(
    ("column", "condition"),
    [
        ("id TYPE STRING COLLATE UNICODE", "DELTA_UNSUPPORTED_ALTER_TABLE_CHANGE_COL_OP"),
        ("nope TYPE STRING COLLATE UNICODE", "UNRESOLVED_COLUMN"),
        ("x TYPE STRING COLLATE NOPE", "COLLATION_INVALID_NAME"),
    ],
)
def test_a_collation_that_a_column_cannot_have_is_refused(
    spark: SparkSession, table: str, column: str, condition: str
) -> None:
    spark.sql(f"CREATE TABLE {table} (id INT, x STRING)")
    with pytest.raises(PySparkException, match=condition):
        spark.sql(f"ALTER TABLE {table} ALTER COLUMN {column}")


def test_a_missing_table_is_reported(spark: SparkSession, table: str) -> None:
    with pytest.raises(PySparkException, match="TABLE_OR_VIEW_NOT_FOUND"):
        spark.sql(f"ALTER TABLE {table} ALTER COLUMN x TYPE STRING COLLATE UNICODE")
