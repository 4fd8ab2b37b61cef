"""DESCRIBE TABLE EXTENDED … AS JSON describes types as Spark does, and tables as the reference says."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

COLUMNS = """
    i INT NOT NULL COMMENT 'the key', b BIGINT, f FLOAT, d DOUBLE, flag BOOLEAN, small SMALLINT, tiny TINYINT,
    n DECIMAL(12, 3), s STRING, day DATE, at TIMESTAMP, local TIMESTAMP_NTZ, bytes BINARY,
    a ARRAY<INT>, nested ARRAY<STRUCT<x: INT, y: MAP<STRING, TIMESTAMP>>>,
    st STRUCT<p: INT COMMENT 'inner', q: STRING>
"""


def described(spark: SparkSession, name: str) -> dict[str, Any]:
    row = spark.sql(f"DESCRIBE TABLE EXTENDED {name} AS JSON").first()
    assert row is not None
    found: dict[str, Any] = json.loads(row.json_metadata)
    return found


@pytest.fixture
def schema(spark: SparkSession, tmp_path: Path) -> Iterator[str]:
    name = f"main.s_{tmp_path.name}".lower()
    spark.sql(f"CREATE SCHEMA {name}")
    yield name
    spark.sql(f"DROP SCHEMA {name} CASCADE")


def test_columns_are_described_as_by_spark(spark: SparkSession, schema: str) -> None:
    """Spark itself describes temporary views."""
    spark.sql(f"CREATE TABLE {schema}.t ({COLUMNS})")
    spark.sql(f"CREATE OR REPLACE TEMPORARY VIEW of_spark AS SELECT * FROM {schema}.t")
    assert described(spark, f"{schema}.t")["columns"] == described(spark, "of_spark")["columns"]
    spark.catalog.dropTempView("of_spark")


def test_columns_of_a_view_are_described_as_by_spark(spark: SparkSession, schema: str) -> None:
    query = (
        "SELECT INTERVAL '1' DAY AS d, INTERVAL '1 2' DAY TO HOUR AS dh, INTERVAL '1-2' YEAR TO MONTH AS ym, "
        "parse_json('1') AS v, 'x' COLLATE UNICODE AS c, CAST(NULL AS VOID) AS n, map('a', array(1)) AS m"
    )
    spark.sql(f"CREATE VIEW {schema}.v AS {query}")
    spark.sql(f"CREATE OR REPLACE TEMPORARY VIEW of_spark AS {query}")
    assert described(spark, f"{schema}.v")["columns"] == described(spark, "of_spark")["columns"]
    spark.catalog.dropTempView("of_spark")


def test_a_table_has_its_names_and_properties(spark: SparkSession, schema: str) -> None:
    spark.sql(
        f"CREATE TABLE {schema}.t (id INT, day DATE) PARTITIONED BY (day) COMMENT 'rows' "
        "TBLPROPERTIES ('team' = 'x')"
    )
    found = described(spark, f"{schema}.t")
    assert found.pop("created_time").endswith("Z")
    assert found.pop("location").endswith("/t")
    del found["columns"]
    assert found == {
        "table_name": "t",
        "catalog_name": "main",
        "schema_name": schema.split(".")[1],
        "namespace": [schema.split(".")[1]],
        "type": "MANAGED",
        "provider": "delta",
        "comment": "rows",
        "partition_columns": ["day"],
        "table_properties": {"team": "x"},
    }
    spark.sql(f"CREATE TABLE {schema}.c (id INT) CLUSTER BY (id)")
    assert described(spark, f"{schema}.c")["clustering_columns"] == ["id"]


def test_a_view_has_its_text(spark: SparkSession, schema: str) -> None:
    spark.sql(f"CREATE VIEW {schema}.v AS SELECT 1 AS a")
    found = described(spark, f"{schema}.v")
    assert (found["type"], found["view_text"]) == ("VIEW", "SELECT 1 AS a")
    assert "provider" not in found
