"""Managed tables of a schema with a LOCATION: every statement that moves or removes their files."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from tests.lanes import sampled

SPELLINGS: dict[str, Callable[[Path, str], str]] = {
    "dbfs:/": lambda _, name: f"dbfs:/Shared/{name}.db",
    "/mnt": lambda _, name: f"dbfs:/mnt/lake/{name}",
    "volume": lambda _, name: f"/Volumes/main/default/places/{name}",
    "file:": lambda folder, name: f"file:{folder}/{name}",
    "local path": lambda folder, name: f"{folder}/{name}",
}
FORMATS = ("delta", "parquet")


@pytest.fixture(params=SPELLINGS)
def located(spark: SparkSession, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[tuple[str, str]]:
    """A schema of hive_metastore and the folder that is its LOCATION."""
    name = f"l{uuid.uuid4().hex[:10]}"
    if request.param == "volume":
        spark.sql("CREATE VOLUME IF NOT EXISTS main.default.places")
    location = SPELLINGS[request.param](tmp_path, name)
    spark.sql("CREATE CATALOG IF NOT EXISTS hive_metastore")
    spark.sql(f"CREATE SCHEMA hive_metastore.{name} LOCATION '{location}'")
    yield f"hive_metastore.{name}", location
    spark.sql(f"DROP SCHEMA IF EXISTS hive_metastore.{name} CASCADE")


def _make(spark: SparkSession, table: str, kind: str) -> None:
    spark.range(3).write.format(kind).saveAsTable(table)


def _is_there(spark: SparkSession, folder: str, kind: str) -> bool:
    try:
        return spark.read.format(kind).load(folder).count() > 0
    except AnalysisException:
        return False


@pytest.mark.parametrize("kind", FORMATS)
def test_a_dropped_table_leaves_nothing(spark: SparkSession, located: tuple[str, str], kind: str) -> None:
    schema, location = located
    _make(spark, f"{schema}.t", kind)
    assert _is_there(spark, f"{location}/t", kind)
    spark.sql(f"DROP TABLE {schema}.t")
    assert not _is_there(spark, f"{location}/t", kind)
    spark.sql(f"CREATE TABLE {schema}.t (other INT)")
    assert spark.table(f"{schema}.t").collect() == []


@pytest.mark.parametrize("kind", FORMATS)
def test_a_renamed_table_stays_in_the_location(
    spark: SparkSession, located: tuple[str, str], kind: str
) -> None:
    schema, location = located
    _make(spark, f"{schema}.t", kind)
    spark.sql(f"ALTER TABLE {schema}.t RENAME TO {schema}.Moved")
    assert spark.table(f"{schema}.moved").count() == 3
    assert _is_there(spark, f"{location}/moved", kind)
    assert not _is_there(spark, f"{location}/t", kind)
    spark.sql(f"INSERT INTO {schema}.moved VALUES (9)")
    assert spark.table(f"{schema}.moved").count() == 4


@pytest.mark.parametrize("kind", sampled(FORMATS, *[*FORMATS][::3]))
def test_replacing_writes_stay_in_the_location(
    spark: SparkSession, located: tuple[str, str], kind: str
) -> None:
    schema, location = located
    _make(spark, f"{schema}.t", kind)
    spark.range(5).write.format(kind).mode("overwrite").saveAsTable(f"{schema}.t")
    spark.sql(f"INSERT OVERWRITE {schema}.t VALUES (9)")
    assert spark.table(f"{schema}.t").count() == 1
    assert spark.read.format(kind).load(f"{location}/t").count() == 1


def test_a_dropped_schema_leaves_external_tables_alone(spark: SparkSession, located: tuple[str, str]) -> None:
    schema, location = located
    for kind in FORMATS:
        _make(spark, f"{schema}.t_{kind}", kind)
    outside = f"dbfs:/mnt/outside/{uuid.uuid4().hex}"
    spark.sql(f"CREATE TABLE {schema}.e LOCATION '{outside}' AS SELECT 1 AS a")
    with pytest.raises(AnalysisException, match="SCHEMA_NOT_EMPTY"):
        spark.sql(f"DROP SCHEMA {schema}")
    spark.sql(f"DROP SCHEMA {schema} CASCADE")
    assert not any(_is_there(spark, f"{location}/t_{kind}", kind) for kind in FORMATS)
    assert _is_there(spark, outside, "delta")
    spark.sql(f"CREATE SCHEMA {schema} LOCATION '{location}'")
    assert spark.sql(f"SHOW TABLES IN {schema}").collect() == []
    spark.sql(f"CREATE TABLE {schema}.t_delta (other INT)")


def test_a_dropped_schema_leaves_other_files_of_its_location(
    spark: SparkSession, located: tuple[str, str]
) -> None:
    schema, location = located
    spark.range(2).write.json(f"{location}/files")
    _make(spark, f"{schema}.t", "delta")
    spark.sql(f"DROP SCHEMA {schema} CASCADE")
    assert spark.read.json(f"{location}/files").count() == 2
