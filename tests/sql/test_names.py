"""Names as users write and see them."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture
def table(spark: SparkSession) -> str:
    """A table's name without its catalog and schema."""
    name = f"named_{uuid.uuid4().hex[:8]}"
    spark.sql(f"CREATE TABLE main.default.{name} (id INT)")
    return name


def test_names_of_catalogs_count_in_any_case(spark: SparkSession, table: str) -> None:
    assert spark.table(f"MAIN.Default.{table}").columns == ["id"]
    spark.sql(f"INSERT INTO Main.default.{table.upper()} VALUES (1)")
    assert spark.sql(f"SELECT * FROM MAIN.DEFAULT.{table}").collect() == [(1,)]


@pytest.mark.parametrize(
    ("words", "prefix"),
    [("DESCRIBE DETAIL", ""), ("desc detail", "default."), ("-- whose?\nDESCRIBE DETAIL", "`main`.default.")],
)
def test_describe_detail_shows_the_name_that_users_know(
    spark: SparkSession, table: str, words: str, prefix: str
) -> None:
    row = spark.sql(f"{words} {prefix}{table}").first()
    assert row is not None
    assert (row["name"], row["format"]) == (f"main.default.{table}", "delta")
