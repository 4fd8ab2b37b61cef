"""Tables of other formats than Delta, made and filled by writers and statements, in both kinds of catalogs.

The oracle is a list of the rows that were written, and Spark's own reader of the files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from delta import DeltaTable
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import LongType, StructType

from lakeward.session import condition_of
from tests.lanes import sampled

FORMATS = ("parquet", "csv", "json", "orc", "avro", "text")
MAKERS: dict[str, Callable[[DataFrame, str, str, str], Any]] = {
    "saveAsTable": lambda frame, kind, table, path: (
        frame.write.format(kind).option("path", path).saveAsTable(table)
    ),
    "overwrite": lambda frame, kind, table, path: (
        frame.write.format(kind).option("path", path).mode("overwrite").saveAsTable(table)
    ),
    "arguments": lambda frame, kind, table, path: frame.write.saveAsTable(table, format=kind, path=path),
    "CREATE TABLE": lambda frame, kind, table, path: _create("CREATE", frame, kind, table, path),
    "CREATE OR REPLACE TABLE": lambda frame, kind, table, path: _create(
        "CREATE OR REPLACE", frame, kind, table, path
    ),
    "writeTo": lambda frame, kind, table, path: (
        frame.writeTo(table).using(kind).tableProperty("location", path).createOrReplace()
    ),
}
FILLERS: dict[str, Callable[[DataFrame, str, str], Any]] = {
    "append": lambda frame, kind, table: frame.write.format(kind).mode("append").saveAsTable(table),
    "insertInto": lambda frame, _, table: frame.write.insertInto(table),
    "INSERT": lambda frame, _, table: _statement(frame, f"INSERT INTO {table} TABLE filled"),
}


def _create(verb: str, frame: DataFrame, kind: str, table: str, path: str) -> None:
    _statement(frame, f"{verb} TABLE {table} USING {kind} LOCATION '{path}' AS TABLE filled")


def _statement(frame: DataFrame, text: str) -> None:
    frame.createOrReplaceTempView("filled")
    try:
        frame.sparkSession.sql(text)
    finally:
        frame.sparkSession.catalog.dropTempView("filled")


@pytest.fixture(params=["main", "dev"])
def schema(spark: SparkSession, request: pytest.FixtureRequest) -> Iterator[str]:
    """Return a schema of the current catalog, and one of another catalog."""
    name = f"{request.param}.other_formats"
    spark.sql(f"CREATE CATALOG IF NOT EXISTS {request.param}")
    spark.sql(f"CREATE SCHEMA {name}")
    yield name
    spark.sql(f"DROP SCHEMA {name} CASCADE")


def _values(frame: DataFrame) -> list[str]:
    return sorted(row.value for row in frame.collect())


@pytest.mark.parametrize("kind", FORMATS)
def test_a_table_like_another_has_its_format_and_options(
    spark: SparkSession, schema: str, tmp_path: Path, kind: str
) -> None:
    source, path = f"{schema}.source", tmp_path / "files"
    options = {"csv": "OPTIONS (header 'true', quote '|') ", "json": "OPTIONS (primitivesAsString 'true') "}
    spark.sql(f"CREATE TABLE {source} (value STRING) USING {kind} {options.get(kind, '')}LOCATION '{path}'")
    spark.sql(f"INSERT INTO {source} VALUES ('a')")
    spark.sql(f"CREATE TABLE {schema}.made LIKE {source} LOCATION '{path}'")
    assert _values(spark.table(f"{schema}.made")) == ["a"]
    assert _about(spark, f"{schema}.made") == _about(spark, source)
    spark.sql(f"CREATE TABLE {schema}.other LIKE {source} USING delta LOCATION '{tmp_path}/delta'")
    assert _about(spark, f"{schema}.other")["Provider"] == "delta"


def _about(spark: SparkSession, table: str) -> dict[str, str]:
    rows = spark.sql(f"DESCRIBE TABLE EXTENDED {table}").collect()
    known = ("Provider", "Location", "Type", "Storage Properties", "Table Properties")
    return {row.col_name: row.data_type for row in rows if row.col_name in known}


@pytest.mark.parametrize(
    ("maker", "kind"), sampled(product(MAKERS, FORMATS), *zip(MAKERS, FORMATS, strict=True))
)
def test_an_external_table_is_made_of_a_query_and_filled(
    spark: SparkSession, schema: str, tmp_path: Path, maker: str, kind: str
) -> None:
    table, path = f"{schema}.made", str(tmp_path / "files")
    MAKERS[maker](spark.sql("SELECT 'a' AS value"), kind, table, path)
    expected = ["a"]
    for name, fill in FILLERS.items():
        assert _values(spark.table(table)) == expected
        fill(spark.sql(f"SELECT '{name}' AS value"), kind, table)
        expected = sorted([*expected, name])
    assert _values(spark.table(table)) == expected
    columns = spark.table(table).schema
    assert _values(spark.read.format(kind).schema(columns).load(path)) == expected
    spark.table(table).sparkSession.sql(f"DROP TABLE {table}")
    assert len(list(Path(path).glob("part-*"))) == len(expected)


@pytest.mark.parametrize("kind", sampled(FORMATS, "csv"))
def test_a_table_is_overwritten(spark: SparkSession, schema: str, tmp_path: Path, kind: str) -> None:
    table, path = f"{schema}.overwritten", str(tmp_path / "files")
    for value in ("a", "b"):
        MAKERS["overwrite"](spark.sql(f"SELECT '{value}' AS value"), kind, table, path)
        assert _values(spark.table(table)) == [value]
    spark.sql("SELECT 'c' AS value").write.insertInto(table, overwrite=True)
    assert _values(spark.table(table)) == ["c"]


def test_partitions_and_options(spark: SparkSession, schema: str, tmp_path: Path) -> None:
    rows = spark.sql("SELECT id, 'x' AS v, id % 2 AS p FROM range(4)")
    table, path = f"{schema}.parts", tmp_path / "files"
    writer = rows.write.format("csv").options(header=True, sep="|", path=str(path)).partitionBy("p")
    writer.saveAsTable(table)
    assert sorted(folder.name for folder in path.glob("p=*")) == ["p=0", "p=1"]
    assert next(path.glob("p=0/part-*")).read_text().startswith("id|v\n")
    rows.select("p", "v", "id").write.format("csv").mode("append").partitionBy("p").saveAsTable(table)
    assert sorted(spark.table(table).collect()) == sorted(rows.collect() * 2)


def test_columns_are_matched_by_name(spark: SparkSession, schema: str, tmp_path: Path) -> None:
    table = f"{schema}.named"
    spark.sql(f"CREATE TABLE {table} (v STRING, n INT) USING csv LOCATION '{tmp_path / 'files'}'")
    spark.sql("SELECT 1 AS n, 'x' AS v").write.format("csv").mode("append").saveAsTable(table)
    assert spark.table(table).collect() == [("x", 1)]
    with pytest.raises(AnalysisException, match="TOO_MANY_DATA_COLUMNS"):
        spark.sql("SELECT 1 AS n, 'x' AS v, 2 AS k").write.format("csv").mode("append").saveAsTable(table)


def test_no_files_are_lost(spark: SparkSession, schema: str, tmp_path: Path) -> None:
    table, path = f"{schema}.kept", tmp_path / "files"
    rows = spark.sql("SELECT 'a' AS value")
    MAKERS["saveAsTable"](rows, "parquet", table, str(path))
    with pytest.raises(Exception, match="also being read") as read:
        MAKERS["overwrite"](spark.table(table), "parquet", table, str(path))
    assert condition_of(read.value) == "UNSUPPORTED_OVERWRITE.PATH"
    with pytest.raises(AnalysisException, match="non-empty directory"):
        MAKERS["CREATE TABLE"](rows, "parquet", f"{schema}.second", str(path))
    assert not spark.catalog.tableExists(f"{schema}.second")
    assert _values(spark.table(table)) == ["a"]
    with pytest.raises(Exception, match="no rows"):
        MAKERS["CREATE TABLE"](
            spark.sql("SELECT raise_error('no rows') AS value"), "parquet", f"{schema}.failed", f"{path}2"
        )
    assert not spark.catalog.tableExists(f"{schema}.failed")


def test_hive_metastore_has_managed_tables_of_other_formats(spark: SparkSession) -> None:
    table = "hive_metastore.default.managed"
    for value in ("a", "b"):
        spark.sql(f"SELECT '{value}' AS value").write.format("parquet").mode("overwrite").saveAsTable(table)
    spark.sql("SELECT 'c' AS value").write.format("parquet").mode("append").saveAsTable(table)
    assert _values(spark.table(table)) == ["b", "c"]
    with pytest.raises(Exception, match="also being read"):
        spark.table(table).write.format("parquet").mode("overwrite").saveAsTable(table)
    with pytest.raises(Exception, match="no rows"):
        spark.sql(f"CREATE TABLE {table}_2 USING json AS SELECT raise_error('no rows') AS value")
    found = spark.sql("SHOW TABLES IN hive_metastore.default LIKE 'managed*'").collect()
    assert [row.tableName for row in found] == ["managed"]
    spark.sql(f"DROP TABLE {table}")


def test_the_statement_that_creates_it_is_shown(spark: SparkSession, schema: str, tmp_path: Path) -> None:
    table = f"{schema}.shown"
    spark.sql(
        f"CREATE TABLE {table} (id INT, name STRING) USING csv OPTIONS (header 'true') LOCATION '{tmp_path}'"
    )
    text = spark.sql(f"SHOW CREATE TABLE {table}").collect()[0][0]
    spark.sql(f"DROP TABLE {table}")
    spark.sql(text)
    assert spark.sql(f"SHOW CREATE TABLE {table}").collect()[0][0] == text
    assert text.startswith(f"CREATE TABLE {table} (\n  id INT,\n  name STRING)\nUSING csv")


CONVERSIONS = (
    "CONVERT TO DELTA {table}",
    "convert to delta {table} NO STATISTICS",
    "CONVERT TO DELTA {table} PARTITIONED BY (p BIGINT)",
    "EXECUTE IMMEDIATE 'CONVERT TO DELTA {table}'",
    "BEGIN CONVERT TO DELTA {table}; END",
    "CONVERT TO DELTA IDENTIFIER('{table}')",
)


@pytest.mark.parametrize("statement", sampled(CONVERSIONS, *CONVERSIONS[:2]))
def test_a_table_is_converted_by_its_name(
    spark: SparkSession, schema: str, tmp_path: Path, statement: str
) -> None:
    table = f"{schema}.converted"
    spark.sql("SELECT id, id % 2 AS p FROM range(4)").write.partitionBy("p").parquet(str(tmp_path / "files"))
    spark.sql(
        f"CREATE TABLE {table} (id BIGINT, p BIGINT) USING parquet PARTITIONED BY (p) COMMENT 'kept' "
        f"LOCATION '{tmp_path / 'files'}'"
    )
    spark.table(table).collect()  # a plan that Spark may keep
    spark.sql(statement.format(table=table))
    detail = spark.sql(f"DESCRIBE DETAIL {table}").collect()[0]
    assert (detail["format"], detail["partitionColumns"]) == ("delta", ["p"])
    assert detail["location"].removeprefix("file:") == str(tmp_path / "files")
    spark.sql(f"INSERT INTO {table} VALUES (7, 1)")
    spark.sql(f"DELETE FROM {table} WHERE id = 0")
    assert sorted(row.id for row in spark.table(table).collect()) == [1, 2, 3, 7]
    spark.sql(statement.format(table=table).replace(" PARTITIONED BY (p BIGINT)", ""))  # it is one already


@pytest.mark.parametrize("partitions", [None, "p BIGINT", StructType().add("p", LongType())])
def test_the_api_of_delta_converts_a_table_by_its_name(
    spark: SparkSession, schema: str, tmp_path: Path, partitions: str | StructType | None
) -> None:
    files = str(tmp_path / "files")
    spark.sql("SELECT id, id % 2 AS p FROM range(4)").write.partitionBy("p").parquet(files)
    spark.sql(
        f"CREATE TABLE {schema}.t (id BIGINT, p BIGINT) USING parquet PARTITIONED BY (p) LOCATION '{files}'"
    )
    converted = DeltaTable.convertToDelta(spark, f"{schema}.t", partitions)
    converted.delete("id = 0")
    assert sorted(row.id for row in spark.table(f"{schema}.t").collect()) == [1, 2, 3]


def test_a_managed_table_of_hive_metastore_is_converted(spark: SparkSession) -> None:
    table = "hive_metastore.default.converted"
    spark.sql(f"CREATE TABLE {table} USING parquet AS SELECT 1 AS id")
    spark.sql(f"CONVERT TO DELTA {table}")
    spark.sql(f"INSERT INTO {table} VALUES (2)")
    assert sorted(row.id for row in spark.table(table).collect()) == [1, 2]
    assert spark.sql(f"DESCRIBE DETAIL {table}").collect()[0]["format"] == "delta"
    spark.sql(f"DROP TABLE {table}")


def test_what_cannot_be_converted_has_a_condition(spark: SparkSession, schema: str, tmp_path: Path) -> None:
    spark.sql(f"CREATE TABLE {schema}.c (id INT) USING csv LOCATION '{tmp_path / 'c'}'")
    spark.range(1).write.partitionBy().parquet(str(tmp_path / "p"))
    spark.sql(f"CREATE TABLE {schema}.p (id BIGINT) USING parquet LOCATION '{tmp_path / 'p'}'")
    for statement, condition in {
        f"CONVERT TO DELTA {schema}.c": "DELTA_CONVERT_NON_PARQUET_TABLE",
        f"CONVERT TO DELTA {schema}.missing": "TABLE_OR_VIEW_NOT_FOUND",
        f"CONVERT TO DELTA {schema}.p PARTITIONED BY (q INT)": "DELTA_UNEXPECTED_PARTITION_SCHEMA_FROM_USER",
        f"CONVERT TO DELTA {schema}.p WRONG": "PARSE_SYNTAX_ERROR",
    }.items():
        with pytest.raises(AnalysisException) as failed:
            spark.sql(statement)
        assert condition_of(failed.value) == condition, statement
        assert "spark_catalog" not in str(failed.value), statement
    assert spark.table(f"{schema}.p").count() == 1


REFUSED_CHANGES = {
    "DROP COLUMN id": "UNSUPPORTED_FEATURE.TABLE_OPERATION",
    "DROP COLUMN p": "UNSUPPORTED_FEATURE.TABLE_OPERATION",
    "DROP COLUMNS (id)": "UNSUPPORTED_FEATURE.TABLE_OPERATION",
    "RENAME COLUMN id TO x": "UNSUPPORTED_FEATURE.TABLE_OPERATION",
    "ALTER COLUMN id TYPE BIGINT": "UNSUPPORTED_FEATURE.TABLE_OPERATION",
    "ALTER COLUMN n FIRST": "UNSUPPORTED_FEATURE.TABLE_OPERATION",
    "ADD COLUMN z INT FIRST": "UNSUPPORTED_FEATURE.TABLE_OPERATION",
    "ADD COLUMN z INT AFTER id": "UNSUPPORTED_FEATURE.TABLE_OPERATION",
    "ADD COLUMN z INT NOT NULL": "UNSUPPORTED_FEATURE.TABLE_OPERATION",
    "REPLACE COLUMNS (id INT)": "UNSUPPORTED_FEATURE.TABLE_OPERATION",
    "ADD CONSTRAINT c CHECK (id > 0)": "DELTA_ONLY_OPERATION",
    "DROP CONSTRAINT IF EXISTS c": "DELTA_ONLY_OPERATION",
}


@pytest.mark.parametrize("catalog", ["main", "hive_metastore"])
@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_changes_that_the_files_do_not_follow_are_refused(
    spark: SparkSession, catalog: str, kind: str
) -> None:
    table = f"{catalog}.default.unchanged_{kind}"
    spark.sql(f"CREATE OR REPLACE TABLE {table} (id INT, n INT, p INT) USING {kind} PARTITIONED BY (p)")
    spark.sql(f"INSERT INTO {table} VALUES (1, 2, 3)")
    for change, condition in REFUSED_CHANGES.items():
        with pytest.raises(AnalysisException) as raised:
            spark.sql(f"ALTER TABLE {table} {change}")
        assert (change, raised.value.getCondition()) == (change, condition)
    assert [tuple(row) for row in spark.table(table).collect()] == [(1, 2, 3)]
    spark.sql(f"ALTER TABLE {table} ALTER COLUMN id COMMENT 'number'")
    spark.sql(f"ALTER TABLE {table} ADD COLUMNS (z INT COMMENT 'new', y STRING)")
    spark.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('a' = 'b')")
    assert spark.table(table).columns == ["id", "n", "z", "y", "p"]
    assert [tuple(row) for row in spark.table(table).collect()] == [(1, 2, None, None, 3)]
    spark.sql(f"DROP TABLE {table}")


APPENDS: dict[str, Callable[[DataFrame, str, str], Any]] = {
    "format": lambda rows, kind, table: rows.write.format(kind).mode("append").saveAsTable(table),
    "arguments": lambda rows, kind, table: rows.write.saveAsTable(table, format=kind, mode="append"),
    "positions": lambda rows, kind, table: rows.write.saveAsTable(table, kind, "append"),
}


@pytest.mark.parametrize("append", sorted(APPENDS))
def test_rows_are_appended_in_the_format_of_the_table_alone(
    spark: SparkSession, schema: str, tmp_path: Path, append: str
) -> None:
    rows = spark.sql("SELECT 'a' AS value")
    own = {kind: f"{schema}.of_{kind}" for kind in ("delta", "parquet", "csv")}
    rows.write.saveAsTable(own["delta"])
    for kind in ("parquet", "csv"):
        MAKERS["saveAsTable"](rows, kind, own[kind], str(tmp_path / kind))
    for existing, table in own.items():
        for kind in ("delta", "parquet", "csv", "json", "orc", "avro"):
            if kind == existing:
                APPENDS[append](rows, kind.upper(), table)
                continue
            with pytest.raises(AnalysisException, match="format of the existing table") as raised:
                APPENDS[append](rows, kind, table)
            assert condition_of(raised.value) == "_LEGACY_ERROR_TEMP_1159"
        assert _values(spark.table(table)) == ["a", "a"], existing
