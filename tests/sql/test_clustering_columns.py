"""CLUSTER BY of new tables: the same columns, in their order, wherever the statement is."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from lakeward.session import condition_of

_STATEMENTS = {
    "create": (
        "CREATE TABLE {} (id INT, s STRUCT<a: INT>, z INT, v INT) CLUSTER BY (z, id, s.a)",
        ["z", "id", "s.a"],
    ),
    "case": (
        "CREATE TABLE {} (id INT, s STRUCT<a: INT>, z INT, v INT) CLUSTER BY (Z, ID, s.A)",
        ["z", "id", "s.a"],
    ),
    "all": ("CREATE TABLE {} (id INT) CLUSTER BY (id)", ["id"]),
    "as": ("CREATE TABLE {} CLUSTER BY (v, id) AS SELECT 1 AS id, 2 AS v", ["v", "id"]),
    "replace": ("CREATE OR REPLACE TABLE {} (id INT, v INT) CLUSTER BY (v, id)", ["v", "id"]),
    "replace as": ("CREATE OR REPLACE TABLE {} CLUSTER BY (v) AS SELECT 1 AS id, 2 AS v", ["v"]),
    "auto": ("CREATE TABLE {} (id INT) CLUSTER BY AUTO", []),
}
_PLACES = {
    "alone": "{}",
    "script": "BEGIN {}; END",
    "branch": "begin -- clustered\n IF true THEN\n {};\n END IF; end",
    "procedure": "CREATE OR REPLACE PROCEDURE p() LANGUAGE SQL SQL SECURITY INVOKER AS BEGIN {}; END",
    "dynamic": "EXECUTE IMMEDIATE '{}'",
    "dynamic in a script": "BEGIN EXECUTE IMMEDIATE '{}'; END",
}


@pytest.fixture
def schema(spark: SparkSession) -> Iterator[str]:
    name = f"main.c_{uuid.uuid4().hex[:8]}"
    spark.sql(f"CREATE SCHEMA {name}")
    spark.sql(f"USE {name}")
    yield name
    spark.sql("USE main.default")
    spark.sql(f"DROP SCHEMA {name} CASCADE")


def _run(spark: SparkSession, place: str, statement: str) -> None:
    spark.sql(_PLACES[place].format(statement))
    if "PROCEDURE" in _PLACES[place]:
        spark.sql("CALL p()")


@pytest.mark.parametrize("statement", _STATEMENTS)
@pytest.mark.parametrize("place", _PLACES)
def test_the_columns_are_those_of_the_clause(
    spark: SparkSession, schema: str, place: str, statement: str
) -> None:
    text, columns = _STATEMENTS[statement]
    _run(spark, place, text.format("t"))
    (detail,) = spark.sql("DESCRIBE DETAIL t").collect()
    assert (detail.clusteringColumns, detail.partitionColumns) == (columns, [])


@pytest.mark.parametrize("place", _PLACES)
def test_an_unknown_column_has_a_condition(spark: SparkSession, schema: str, place: str) -> None:
    with pytest.raises(AnalysisException) as caught:
        _run(spark, place, "CREATE TABLE t (id INT, v INT) CLUSTER BY (nope)")
    assert condition_of(caught.value) == "DELTA_COLUMN_NOT_FOUND_IN_SCHEMA"


def test_a_partitioning_of_a_script_with_a_clustered_table_is_kept(spark: SparkSession, schema: str) -> None:
    spark.sql(
        "BEGIN CREATE TABLE c (id INT, v INT) CLUSTER BY (id); "
        "CREATE TABLE p (id INT, v INT) PARTITIONED BY (id); OPTIMIZE c; END"
    )
    found = [spark.sql(f"DESCRIBE DETAIL {table}").collect()[0] for table in ("c", "p")]
    assert [(each.clusteringColumns, each.partitionColumns) for each in found] == [(["id"], []), ([], ["id"])]
