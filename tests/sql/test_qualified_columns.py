"""Columns of tables of every format can be qualified with the table, the schema and the catalog."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FORMATS = ["delta", "csv", "json", "orc", "parquet", "text"]
# The second one is not a name of Spark's session catalog.
SCHEMAS = [
    "main.qualified",
    "main.qualified__by_name",
    "hive_metastore.qualified",
    "other_qualifier.qualified",
]


@pytest.fixture(params=SCHEMAS)
def schema(spark: SparkSession, request: pytest.FixtureRequest) -> Iterator[str]:
    catalog = request.param.split(".")[0]
    if catalog == "other_qualifier":
        spark.sql(f"CREATE CATALOG {catalog}")
    spark.sql(f"CREATE SCHEMA {request.param}")
    yield request.param
    spark.sql(f"DROP SCHEMA {request.param} CASCADE")
    if catalog == "other_qualifier":
        spark.sql(f"DROP CATALOG {catalog} CASCADE")


@pytest.mark.parametrize("file_format", FORMATS)
def test_qualified_columns(spark: SparkSession, schema: str, file_format: str) -> None:
    spark.sql(f"CREATE TABLE {schema}.t (c STRING) USING {file_format}")
    spark.sql(f"INSERT INTO {schema}.t VALUES ('a')")
    full = f"{schema}.t"
    names = [full, full.partition(".")[2], "t"]
    for name in names:
        assert spark.sql(f"SELECT {name}.c, {name}.* FROM {full} WHERE {name}.c > ''").collect() == [
            ("a", "a")
        ], name
        assert spark.table(full).select(f"{name}.c").collect() == [("a",)], name
        assert spark.readStream.table(full).select(f"{name}.c").isStreaming, name
    joined = f"SELECT count({names[0]}.c) FROM {full} JOIN {full} AS u ON {names[1]}.c = u.c"
    assert spark.sql(joined).collect() == [(1,)]
