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
