"""Statements of pipelines, outside of one: each spelling names the command that runs them."""

from __future__ import annotations

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from lakeward.session import condition_of


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE LIVE TABLE l AS SELECT 1 AS id",
        "CREATE OR REFRESH LIVE TABLE l (CONSTRAINT c EXPECT (id > 0)) AS SELECT 1 AS id",
        "create or refresh streaming live table s as select * from stream(live.t)",
        "CREATE OR REFRESH INCREMENTAL LIVE TABLE s AS SELECT 1 AS id",
        "CREATE TEMPORARY LIVE VIEW v AS SELECT 1 AS id",
        "CREATE STREAMING LIVE VIEW v AS SELECT 1 AS id",
        "CREATE OR REFRESH PRIVATE MATERIALIZED VIEW m AS SELECT 1 AS id",
        "CREATE TEMPORARY STREAMING TABLE s AS SELECT * FROM STREAM t",
        "CREATE FLOW f AS AUTO CDC INTO t FROM STREAM u KEYS (id) SEQUENCE BY id",
        "-- flow\nCREATE FLOW f AS INSERT INTO t BY NAME SELECT * FROM STREAM u",
        "APPLY CHANGES INTO live.t FROM STREAM(live.u) KEYS (id) SEQUENCE BY id",
    ],
)
def test_the_error_names_the_command(spark: SparkSession, statement: str) -> None:
    with pytest.raises(PySparkException, match="lakeward pipeline FILE") as failed:
        spark.sql(statement)
    assert condition_of(failed.value) == "GRAPH_ELEMENT_DEFINED_OUTSIDE_OF_DECLARATIVE_PIPELINE"


@pytest.mark.parametrize(
    "statement", ["CREATE TEMPORARY VIEW live AS SELECT 1 AS id", "CREATE OR REPLACE TABLE live (id INT)"]
)
def test_other_objects_of_these_names_are_created(spark: SparkSession, statement: str) -> None:
    spark.sql(statement)
    spark.sql("DROP VIEW IF EXISTS live" if "VIEW" in statement else "DROP TABLE live")
