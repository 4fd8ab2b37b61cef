"""Tables and columns whose names are keywords of Delta's grammar, in the statements of its parser."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.lanes import sampled

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SCHEMA = "main.delta_keywords"
WORDS = ("timestamp", "comment", "plain")
STATEMENTS = (
    "OPTIMIZE {}",
    "VACUUM {} DRY RUN",
    "REORG TABLE {} APPLY (PURGE)",
    "DESCRIBE HISTORY {}",
    "desc detail {}",
    "RESTORE TABLE {} TO VERSION AS OF 0",
    "RESTORE {} TO VERSION AS OF 0",
    "ALTER TABLE {} CLUSTER BY NONE",
)


@pytest.fixture
def tables(spark: SparkSession) -> Iterator[str]:
    """A schema with a table for each word, which has a column for each word."""
    spark.sql(f"DROP SCHEMA IF EXISTS {SCHEMA} CASCADE")
    spark.sql(f"CREATE SCHEMA {SCHEMA}")
    columns = ", ".join(f"{word} INT" for word in WORDS)
    for word in WORDS:
        spark.sql(f"CREATE TABLE {SCHEMA}.{word} ({columns})")
    spark.sql(f"USE {SCHEMA}")
    yield SCHEMA
    spark.sql("USE main.default")
    spark.sql(f"DROP SCHEMA {SCHEMA} CASCADE")


@pytest.mark.parametrize(
    "text",
    [
        "OPTIMIZE plain ZORDER BY ({})",
        "OPTIMIZE plain ZORDER BY {}",
        "BEGIN OPTIMIZE plain ZORDER BY (plain, {}); END",
        "ALTER TABLE plain CLUSTER BY ({})",
    ],
)
def test_columns_are_found(spark: SparkSession, tables: str, text: str) -> None:
    for number, word in enumerate(WORDS):
        if "CLUSTER" not in text:
            spark.sql(f"INSERT INTO plain VALUES ({', '.join([str(number)] * len(WORDS))})")
        spark.sql(text.format(word)).collect()
        row = spark.sql("DESCRIBE HISTORY plain").first()
        assert row is not None and word in str(row["operationParameters"])


@pytest.mark.parametrize("every", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize("statement", STATEMENTS)
def test_tables_are_found_by_names_of_one_to_three_parts(
    spark: SparkSession, tables: str, statement: str, every: bool
) -> None:
    prefixes = ("", "delta_keywords.", f"{tables}.")
    first = STATEMENTS.index(statement)
    for number, word in enumerate(WORDS):
        for prefix in prefixes if every else prefixes[(first + number) % 3 :][:1]:
            spark.sql(statement.format(prefix + word)).collect()


@pytest.mark.parametrize("word", sampled(["timestamp", "if", "add"], "if"))
def test_constraints_and_clones_are_found(spark: SparkSession, tables: str, word: str) -> None:
    for statement in (
        "CREATE TABLE IF NOT EXISTS {} SHALLOW CLONE plain",
        "CREATE OR REPLACE TABLE {} SHALLOW CLONE plain",
        "ALTER TABLE {0} ADD CONSTRAINT {0} CHECK (timestamp IS NULL OR timestamp > 0)",
        "CREATE OR REPLACE TABLE other SHALLOW CLONE {}",
        "ALTER TABLE {0} DROP CONSTRAINT {0}",
        "ALTER TABLE {0} DROP CONSTRAINT IF EXISTS {0}",
    ):
        spark.sql(statement.format(word))
        if "ADD" in statement:
            properties = spark.sql(f"SHOW TBLPROPERTIES {word}").collect()
            assert f"delta.constraints.{word}" in [row["key"] for row in properties]


def test_predicates_and_versions_keep_their_meaning(spark: SparkSession, tables: str) -> None:
    spark.sql("CREATE TABLE parts (timestamp INT, version INT) PARTITIONED BY (version)")
    spark.sql("INSERT INTO parts VALUES (1, 1), (2, 2)")
    spark.sql("OPTIMIZE parts WHERE version = 1 AND version IS NOT NULL ZORDER BY (timestamp)").collect()
    assert spark.sql("SELECT count(*) FROM parts VERSION AS OF 1").collect() == [(2,)]
