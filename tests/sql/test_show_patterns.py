"""Patterns of SHOW statements mean the same in ours as in Spark's SHOW TABLES."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from lakeward.session import Settings, session
from lakeward.sql.session_context import matches_pattern

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NAMES = ["cats", "cows", "dogs", "c_ts"]
PATTERNS = [
    "*",
    "c*",
    "C*s",
    "c.ts",
    "[cd]o.s",
    "cats|dogs",
    " cats | dogs ",
    "ca",
    "[",
    "[|cats",
    "c_ts",
    "",
]
STATEMENTS = {
    "SHOW VOLUMES IN patterns LIKE {}": 1,
    "SHOW PROCEDURES IN patterns LIKE {}": -1,
    "SHOW TABLES IN CATALOG main SCHEMA LIKE 'patterns' LIKE {}": 1,
    "SHOW COLUMNS IN CATALOG main SCHEMA LIKE 'patterns' TABLE LIKE {} LIKE 'id'": 3,
    "SHOW FUNCTIONS IN CATALOG main SCHEMA LIKE 'patterns' LIKE {}": 0,
}


@pytest.fixture(scope="module")
def objects(suite_settings: Settings) -> Iterator[None]:
    """A table, volume, procedure and function of each name."""
    spark = session(suite_settings)
    spark.sql("CREATE SCHEMA main.patterns")
    for name in NAMES:
        spark.sql(f"CREATE TABLE main.patterns.{name} (id INT)")
        spark.sql(f"CREATE VOLUME main.patterns.{name}")
        body = "LANGUAGE SQL SQL SECURITY INVOKER AS BEGIN SELECT 1; END"
        spark.sql(f"CREATE PROCEDURE main.patterns.{name}() {body}")
        spark.sql(f"CREATE FUNCTION main.patterns.{name}() RETURNS INT RETURN 1")
    yield
    spark.sql("DROP SCHEMA main.patterns CASCADE")


def _tables(spark: SparkSession, pattern: str) -> set[str]:
    return {row.tableName for row in spark.sql(f"SHOW TABLES IN main.patterns LIKE '{pattern}'").collect()}


def test_the_rule_is_that_of_show_tables(spark: SparkSession, objects: None) -> None:
    for pattern in PATTERNS:
        assert {name for name in NAMES if matches_pattern(pattern, name)} == _tables(spark, pattern), pattern


def test_statements_have_the_rule(spark: SparkSession, objects: None) -> None:
    for statement, column in STATEMENTS.items():
        for pattern in ("[cd]o.s| CATS", "[|c*s"):
            rows = spark.sql(statement.format(f"'{pattern}'")).collect()
            expected = {name for name in NAMES if matches_pattern(pattern, name)}
            assert {row[column] for row in rows} == expected, (statement, pattern)
