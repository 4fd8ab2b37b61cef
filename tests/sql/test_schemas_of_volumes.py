"""A schema that has volumes alone, which code or a client made, is a schema for SQL too."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from lakeward.session import Settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

STATEMENTS = {
    "SHOW SCHEMAS IN main LIKE 'only_vol*'": [("only_volumes",)],
    "SHOW VOLUMES IN main.only_volumes": [("only_volumes", "landing"), ("only_volumes", "raw")],
    "SHOW VOLUMES IN main.Only_Volumes LIKE 'RA*'": [("only_volumes", "raw")],
    "SHOW TABLES IN main.only_volumes": [],
    "SELECT schema_name FROM main.information_schema.schemata WHERE schema_name LIKE 'only%'": [
        ("only_volumes",)
    ],
    "SELECT volume_name FROM main.information_schema.volumes WHERE volume_schema = 'only_volumes'": [
        ("landing",),
        ("raw",),
    ],
    "CREATE TABLE main.only_volumes.t (a INT)": [],
    "CREATE SCHEMA IF NOT EXISTS main.only_volumes": [],
    "CREATE VOLUME IF NOT EXISTS main.only_volumes.RAW": [],
    "CREATE VOLUME main.only_volumes.third": [],
    "USE main.only_volumes": [],
}


@pytest.fixture
def schema(spark: SparkSession, suite_settings: Settings) -> Iterator[None]:
    folder = suite_settings.volumes / "main" / "only_volumes"
    for name in ("landing", "raw"):
        folder.joinpath(name).mkdir(parents=True)
    yield
    spark.sql("USE main.default")
    spark.sql("DROP SCHEMA main.only_volumes CASCADE")
    assert spark.sql("SHOW SCHEMAS IN main LIKE 'only*'").collect() == []
    assert not folder.exists()


@pytest.mark.parametrize("text", STATEMENTS)
def test_sql_sees_a_schema_with_volumes_alone(spark: SparkSession, schema: None, text: str) -> None:
    assert sorted(map(tuple, spark.sql(text).collect())) == STATEMENTS[text]


def test_it_is_not_empty(spark: SparkSession, schema: None) -> None:
    with pytest.raises(Exception, match="SCHEMA_NOT_EMPTY"):
        spark.sql("DROP SCHEMA main.only_volumes")
    with pytest.raises(Exception, match="SCHEMA_ALREADY_EXISTS"):
        spark.sql("CREATE SCHEMA main.only_volumes")
