"""`x.t` is the table t of the schema x in the current catalog, also where a catalog x exists."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator

import pytest
from delta import DeltaTable
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from lakeward.session import ensure_catalog


@pytest.fixture
def name(spark: SparkSession) -> Iterator[str]:
    """Yield the name of a catalog and of a schema in `main`; t has 7 in the schema, 1 in the catalog."""
    both = f"b{uuid.uuid4().hex[:10]}"
    ensure_catalog(spark, both)
    spark.sql("USE main.default")
    spark.sql(f"CREATE SCHEMA main.{both}")
    spark.sql(f"CREATE TABLE main.{both}.t AS SELECT 7 AS i")
    spark.sql(f"CREATE TABLE {both}.default.t AS SELECT 1 AS i")
    yield both
    spark.sql("USE main.default")
    spark.sql(f"DROP SCHEMA IF EXISTS main.{both} CASCADE")
    spark.sql(f"DROP CATALOG IF EXISTS {both} CASCADE")


# Statements → rows of main.x.t afterwards.
WRITES = {
    "INSERT INTO x.t VALUES (8)": [7, 8],
    "INSERT OVERWRITE x.t VALUES (8)": [8],
    "UPDATE x.t SET i = 9": [9],
    "DELETE FROM x.t": [],
    "MERGE INTO x.t USING (SELECT 7 AS i) s ON s.i = t.i WHEN MATCHED THEN DELETE": [],
    "TRUNCATE TABLE x.t": [],
    "CREATE OR REPLACE TABLE x.t AS SELECT 3 AS i": [3],
    "ALTER TABLE x.t RENAME TO x.u; ALTER TABLE x.u RENAME TO t": [7],
    "CREATE TABLE x.u AS SELECT * FROM x.t; DROP TABLE x.t; CREATE TABLE x.t AS SELECT * FROM x.u": [7],
    "OPTIMIZE x.t": [7],
}


@pytest.mark.parametrize("statements", WRITES)
def test_writes_reach_the_schema(spark: SparkSession, name: str, statements: str) -> None:
    for statement in statements.replace("x.", f"{name}.").split("; "):
        spark.sql(statement)
    assert sorted(row.i for row in spark.table(f"main.{name}.t").collect()) == WRITES[statements]
    assert [row.i for row in spark.table(f"{name}.default.t").collect()] == [1]


READS: dict[str, Callable[[SparkSession, str], object]] = {
    "select": lambda spark, x: spark.sql(f"SELECT i FROM {x}.t").first()[0],  # type: ignore[index]
    "cte": lambda spark, x: spark.sql(f"WITH c AS (SELECT i FROM {x}.t) SELECT i FROM c").first()[0],  # type: ignore[index]
    "subquery": lambda spark, x: spark.sql(f"SELECT (SELECT max(i) FROM {x}.t)").first()[0],  # type: ignore[index]
    "version": lambda spark, x: spark.sql(f"SELECT i FROM {x}.t VERSION AS OF 0").first()[0],  # type: ignore[index]
    "identifier": lambda spark, x: spark.sql("SELECT i FROM IDENTIFIER(:n)", {"n": f"{x}.t"}).first()[0],  # type: ignore[index]
    "spark.table": lambda spark, x: spark.table(f"{x}.t").first().i,  # type: ignore[union-attr]
    "DeltaTable": lambda spark, x: DeltaTable.forName(spark, f"{x}.t").toDF().first().i,  # type: ignore[union-attr]
    "history": lambda spark, x: 7 + spark.sql(f"DESCRIBE HISTORY {x}.t").first()["version"],  # type: ignore[index]
}


@pytest.mark.parametrize("way", READS)
def test_reads_are_of_the_schema(spark: SparkSession, name: str, way: str) -> None:
    assert READS[way](spark, name) == 7


@pytest.mark.parametrize("query", ["SELECT i FROM x.v", "WITH c AS (SELECT i FROM x.v) SELECT i FROM c"])
def test_views_keep_the_catalog_of_their_definition(spark: SparkSession, name: str, query: str) -> None:
    spark.sql(f"CREATE VIEW {name}.v AS SELECT i FROM {name}.t")
    assert spark.sql(query.replace("x.", f"{name}.")).collect()[0].i == 7
    spark.sql(f"USE {name}.default")
    assert spark.table(f"main.{name}.v").collect()[0].i == 7
    spark.sql("USE main.default")
    spark.sql(f"DROP VIEW {name}.v")


def test_use_and_show_prefer_the_schema(spark: SparkSession, name: str) -> None:
    tables = spark.sql(f"SHOW TABLES IN {name}").where("NOT isTemporary").collect()
    assert [row.tableName for row in tables] == ["t"]
    assert [row[0] for row in spark.sql(f"SHOW COLUMNS IN {name}.t").collect()] == ["i"]
    assert "default" in {row[0] for row in spark.sql(f"SHOW SCHEMAS IN {name}").collect()}
    spark.sql(f"USE {name}")
    assert spark.sql("SELECT current_catalog(), current_schema()").collect()[0] == ("main", name)
    assert spark.table("t").collect()[0].i == 7
    spark.sql("USE main.default")
    spark.sql(f"USE CATALOG {name}")
    assert spark.sql("SELECT current_catalog(), current_schema()").collect()[0] == (name, "default")


def test_a_writer_saves_to_the_schema(spark: SparkSession, name: str) -> None:
    spark.range(2).write.saveAsTable(f"{name}.w")
    spark.range(2).writeTo(f"{name}.v2").create()
    assert spark.table(f"main.{name}.w").count() == spark.table(f"main.{name}.v2").count() == 2
    assert spark.catalog.tableExists(f"{name}.w")


@pytest.mark.parametrize(
    ("statement", "condition"),
    [
        ("SELECT * FROM x.t", "TABLE_OR_VIEW_NOT_FOUND"),
        ("INSERT INTO x.t VALUES (1)", "TABLE_OR_VIEW_NOT_FOUND"),
        ("CREATE TABLE x.t (i INT)", "SCHEMA_NOT_FOUND"),
        ("CREATE VIEW x.v AS SELECT 1", "SCHEMA_NOT_FOUND"),
        ("SHOW TABLES IN x", "SCHEMA_NOT_FOUND"),
    ],
)
def test_a_catalog_alone_is_no_schema(spark: SparkSession, name: str, statement: str, condition: str) -> None:
    spark.sql(f"DROP SCHEMA main.{name} CASCADE")
    with pytest.raises(AnalysisException) as error:
        spark.sql(statement.replace("x.", f"{name}.").replace("IN x", f"IN {name}"))
    assert error.value.getCondition() == condition
    assert "spark_catalog" not in str(error.value)
