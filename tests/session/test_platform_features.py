"""Table features of Databricks that open-source Delta refuses: tables are created without them."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from delta.tables import DeltaTable
from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from tests.lanes import sampled

_SOURCE = Path(__file__).parents[2] / "src/lakeward/session/jvm/PlatformFeatures.java"
_FEATURES = re.findall(r'"([a-z0-9-]+)"', _SOURCE.read_text().partition("NAMES")[2].partition(";")[0])


def _sql(spark: SparkSession, table: str, key: str) -> None:
    spark.sql(f"CREATE TABLE {table} (id BIGINT) TBLPROPERTIES ('{key}' = 'supported', 'own' = '1')")


def _as_select(spark: SparkSession, table: str, key: str) -> None:
    spark.sql(f"CREATE TABLE {table} TBLPROPERTIES ('{key}' = 'supported', 'own' = '1') AS SELECT 1L AS id")


def _replace(spark: SparkSession, table: str, key: str) -> None:
    spark.sql(f"CREATE TABLE {table} (id BIGINT)")
    spark.sql(
        f"CREATE OR REPLACE TABLE {table} (id BIGINT) TBLPROPERTIES ('{key}' = 'supported', 'own' = '1')"
    )


def _alter(spark: SparkSession, table: str, key: str) -> None:
    spark.sql(f"CREATE TABLE {table} (id BIGINT)")
    spark.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('{key}' = 'supported', 'own' = '1')")


def _alter_alone(spark: SparkSession, table: str, key: str) -> None:
    spark.sql(f"CREATE TABLE {table} (id BIGINT) TBLPROPERTIES ('own' = '1')")
    spark.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('{key}' = 'supported')")


def _writer(spark: SparkSession, table: str, key: str) -> None:
    spark.sql(f"CREATE TABLE {table} (id BIGINT) TBLPROPERTIES ('own' = '1')")
    spark.range(1).write.option(key, "supported").mode("overwrite").saveAsTable(table)


def _new_by_writer(spark: SparkSession, table: str, key: str) -> None:
    spark.range(1).write.option(key, "supported").option("delta.appendOnly", "false").saveAsTable(table)
    spark.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('own' = '1')")


def _writer_v2(spark: SparkSession, table: str, key: str) -> None:
    spark.range(1).writeTo(table).using("delta").tableProperty(key, "supported").tableProperty(
        "own", "1"
    ).create()


def _builder(spark: SparkSession, table: str, key: str) -> None:
    builder = DeltaTable.create(spark).tableName(table).addColumn("id", "BIGINT")
    builder.property(key, "supported").property("own", "1").execute()


_STATEMENTS: list[Callable[[SparkSession, str, str], None]] = [
    *(_sql, _as_select, _replace, _alter, _alter_alone),
    *(_writer, _new_by_writer, _writer_v2, _builder),
]


@pytest.mark.parametrize("statement", sampled(_STATEMENTS, _sql, _alter, _writer, _builder))
def test_a_table_is_created_without_the_feature(
    spark: SparkSession, schema: str, statement: Callable[[SparkSession, str, str], None]
) -> None:
    for number, feature in enumerate(("catalogManaged", "catalogOwned-preview")):
        table = f"{schema}.{statement.__name__}_{number}"
        statement(spark, table, f"delta.feature.{feature}")
        properties = {row["key"]: row["value"] for row in spark.sql(f"SHOW TBLPROPERTIES {table}").collect()}
        assert properties["own"] == "1"
        assert not [key for key in properties if "catalog" in key.lower()]
        spark.sql(f"INSERT INTO {table} VALUES (2)")
        assert spark.table(table).where("id = 2").count() == 1


def test_every_feature_of_the_list_is_left_out(spark: SparkSession, schema: str) -> None:
    assert len(_FEATURES) == 8
    pairs = ", ".join(f"'delta.feature.{feature}' = 'supported'" for feature in _FEATURES)
    spark.sql(f"CREATE TABLE {schema}.every (id BIGINT) TBLPROPERTIES ({pairs})")
    assert spark.table(f"{schema}.every").columns == ["id"]


def test_a_feature_that_does_not_exist_is_an_error_and_a_known_one_is_kept(
    spark: SparkSession, schema: str
) -> None:
    with pytest.raises(Py4JJavaError, match="DELTA_UNSUPPORTED_FEATURES_IN_CONFIG"):
        spark.sql(
            f"CREATE TABLE {schema}.no (id BIGINT) TBLPROPERTIES ('delta.feature.nonsense' = 'supported')"
        )
    known = "'delta.feature.allowColumnDefaults' = 'supported'"
    spark.sql(f"CREATE TABLE {schema}.kept (id BIGINT) TBLPROPERTIES ({known})")
    shown = {row["key"] for row in spark.sql(f"SHOW TBLPROPERTIES {schema}.kept").collect()}
    assert "delta.feature.allowColumnDefaults" in shown
