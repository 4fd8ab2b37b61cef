"""Table properties of Databricks that open-source Delta lacks or refuses, through every way to set them."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from delta.tables import DeltaTable

from lakeward.session import condition_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Set = Callable[["SparkSession", str, str, str], object]


def _alter(spark: SparkSession, name: str, key: str, value: str) -> None:
    spark.sql(f"CREATE TABLE {name} (id INT) USING delta")
    spark.sql(f"ALTER TABLE {name} SET TBLPROPERTIES ('{key}' = '{value}')")


WAYS: dict[str, Set] = {
    "CREATE": lambda spark, name, key, value: spark.sql(
        f"CREATE TABLE {name} (id INT) USING delta TBLPROPERTIES ('{key}' = '{value}')"
    ),
    "CREATE AS": lambda spark, name, key, value: spark.sql(
        f"CREATE TABLE {name} USING delta TBLPROPERTIES ('{key}' = '{value}') AS SELECT 1 AS id"
    ),
    "REPLACE": lambda spark, name, key, value: spark.sql(
        f"CREATE OR REPLACE TABLE {name} (id INT) USING delta TBLPROPERTIES ('{key}' = '{value}')"
    ),
    "ALTER": _alter,
    "option": lambda spark, name, key, value: (
        spark.range(1).selectExpr("INT(id)").write.format("delta").option(key, value).saveAsTable(name)
    ),
    "writeTo": lambda spark, name, key, value: (
        spark.range(1).selectExpr("INT(id)").writeTo(name).using("delta").tableProperty(key, value).create()
    ),
    "DeltaTable": lambda spark, name, key, value: (
        DeltaTable.create(spark).tableName(name).addColumn("id", "INT").property(key, value).execute()
    ),
}
VALUES = {
    ("delta.isolationLevel", "WriteSerializable"): "WriteSerializable",
    ("delta.autoOptimize.autoCompact", "auto"): "true",
    ("delta.autoOptimize.autoCompact", "LEGACY"): "true",
    ("delta.tuneFileSizesForRewrites", "true"): "true",
    ("delta.enableSomethingOfNextYear", "x"): "x",
}


# The others take the name of a table.
OF_PATHS = ("CREATE", "CREATE AS", "REPLACE", "ALTER")


@pytest.mark.parametrize(
    ("way", "is_path"), [*((way, False) for way in WAYS), *((way, True) for way in OF_PATHS)]
)
def test_properties_of_the_platform_are_stored_and_rows_are_written(
    spark: SparkSession, tmp_path: Path, way: str, *, is_path: bool
) -> None:
    for number, ((key, value), stored) in enumerate(VALUES.items()):
        plain = f"main.default.properties_{uuid.uuid4().hex[:8]}"
        name = f"delta.`{tmp_path}/{number}`" if is_path else plain
        WAYS[way](spark, name, key, value)
        spark.sql(f"INSERT INTO {name} VALUES (2)")
        rows = spark.sql(f"SHOW TBLPROPERTIES {name}").collect()
        # A property that no list has is stored with its name in lower case.
        assert {row["key"].lower(): row["value"] for row in rows}[key.lower()] == stored


@pytest.mark.parametrize("way", WAYS)
def test_a_misspelled_property_is_refused(spark: SparkSession, way: str) -> None:
    name = f"main.default.properties_{uuid.uuid4().hex[:8]}"
    with pytest.raises(Exception) as refused:  # noqa: PT011  # the condition is what counts
        WAYS[way](spark, name, "delta.autoOptimize.autoCompct", "true")
    assert condition_of(refused.value) == "DELTA_UNKNOWN_CONFIGURATION"


WRONG = (
    ("delta.enableChangeDataFeed", "maybe"),
    ("delta.enableChangeDataFeed", ""),
    ("delta.columnMapping.mode", "x"),
    ("delta.dataSkippingNumIndexedCols", "-5"),
    ("delta.dataSkippingNumIndexedCols", "x"),
    ("delta.logRetentionDuration", "interval 1 month"),
    ("delta.checkpointInterval", "0"),
    ("delta.checkpointPolicy", "v9"),
    ("delta.isolationLevel", "SnapshotIsolation"),
    ("delta.autoOptimize.autoCompact", "perhaps"),
    ("delta.targetFileSize", "big"),
    ("delta.tuneFileSizesForRewrites", "maybe"),
    ("delta.universalFormat.enabledFormats", "foo"),
    ("delta.minReaderVersion", "99"),
)


@pytest.mark.parametrize("way", WAYS)
def test_a_wrong_value_names_its_property(spark: SparkSession, way: str) -> None:
    for key, value in WRONG:
        name = f"main.default.properties_{uuid.uuid4().hex[:8]}"
        with pytest.raises(Exception) as refused:  # noqa: PT011  # the condition is what counts
            WAYS[way](spark, name, key, value)
        wanted = "UNSUPPORTED_TABLE_CHANGE" if way == "ALTER" else "DELTA_ILLEGAL_OPTION"
        assert condition_of(refused.value) == wanted, (key, value)
        assert f"Invalid value '{value}' for option '{key}', " in str(refused.value)
        if way != "ALTER":
            assert not spark.catalog.tableExists(name)


@pytest.mark.parametrize("way", WAYS)
def test_a_wrong_interval_has_the_condition_of_intervals(spark: SparkSession, way: str) -> None:
    for key in ("delta.logRetentionDuration", "delta.deletedFileRetentionDuration"):
        with pytest.raises(Exception) as refused:  # noqa: PT011  # the condition is what counts
            WAYS[way](spark, f"main.default.properties_{uuid.uuid4().hex[:8]}", key, "soon")
        assert condition_of(refused.value) == "DELTA_INVALID_INTERVAL"


def test_a_wrong_default_of_the_session_names_its_property(spark: SparkSession) -> None:
    setting = "spark.databricks.delta.properties.defaults.enableChangeDataFeed"
    spark.conf.set(setting, "maybe")
    try:
        with pytest.raises(Exception) as refused:  # noqa: PT011  # the condition is what counts
            spark.sql(f"CREATE TABLE main.default.properties_{uuid.uuid4().hex[:8]} (id INT)")
    finally:
        spark.conf.unset(setting)
    assert condition_of(refused.value) == "DELTA_ILLEGAL_OPTION"
