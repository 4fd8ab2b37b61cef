"""A version in a table's name, `t@v1`, as readers and SQL take it; a table with such a name is read as it is.

Source: https://docs.databricks.com/aws/en/tables/history
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from pyspark.errors import AnalysisException, ParseException
from pyspark.sql import DataFrame, SparkSession

NAME = "main.default.versioned"
READERS: dict[str, Callable[[SparkSession, str], DataFrame]] = {
    "spark.table": lambda spark, name: spark.table(name),
    "spark.read.table": lambda spark, name: spark.read.table(name),
    "SELECT": lambda spark, name: spark.sql(f"SELECT * FROM {name}"),
    "script": lambda spark, name: spark.sql(f"BEGIN SELECT * FROM {name}; END"),
}


@pytest.fixture
def table(spark: SparkSession) -> Iterator[str]:
    """Return a table of the versions 0 to 2, which have as many rows."""
    spark.sql(f"DROP TABLE IF EXISTS {NAME}")
    spark.sql(f"CREATE TABLE {NAME} (id INT)")
    for value in (1, 2):
        spark.sql(f"INSERT INTO {NAME} VALUES ({value})")
    yield NAME
    spark.sql(f"DROP TABLE {NAME}")


@pytest.mark.parametrize("name", ["versioned@v1", f"{NAME}@V1", "`main`.default.`versioned`@v1"])
@pytest.mark.parametrize("reader", READERS)
def test_a_version_is_read(spark: SparkSession, table: str, reader: str, name: str) -> None:
    assert [row.id for row in READERS[reader](spark, name).collect()] == [1]


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize(
    ("name", "condition"),
    [
        (f"{NAME}@v9", "DELTA_VERSION_NOT_FOUND"),
        ("main.default.nope@v1", "TABLE_OR_VIEW_NOT_FOUND"),
        (f"{NAME}@20200101000000000", "DELTA_TIMESTAMP_EARLIER_THAN_COMMIT_RETENTION"),
        (f"{NAME}@20990101000000000", "DELTA_TIMESTAMP_GREATER_THAN_COMMIT"),
        (f"{NAME}@20209901000000000", "INVALID_TIME_TRAVEL_TIMESTAMP_EXPR.INPUT"),
    ],
)
def test_a_missing_version_fails(
    spark: SparkSession, table: str, reader: str, name: str, condition: str
) -> None:
    with pytest.raises(AnalysisException) as raised:
        READERS[reader](spark, name).collect()
    assert raised.value.getCondition() == condition


@pytest.mark.parametrize("reader", READERS)
def test_other_names_with_the_sign_are_syntax_errors(spark: SparkSession, table: str, reader: str) -> None:
    with pytest.raises(ParseException):
        READERS[reader](spark, f"{NAME}@yesterday")


def test_a_table_with_such_a_name_is_read_as_it_is(spark: SparkSession, table: str) -> None:
    own = "main.default.`versioned@v1`"
    spark.sql(f"CREATE OR REPLACE TABLE {own} AS SELECT 7 AS id")
    try:
        for reader in READERS.values():
            assert [row.id for row in reader(spark, own).collect()] == [7]
    finally:
        spark.sql(f"DROP TABLE {own}")
    assert spark.table(own).collect()[0].id == 1
