"""`(DESCRIBE HISTORY t)` is a relation of queries: in every place, with every spelling of a table."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.errors import AnalysisException, ParseException
from pyspark.sql import SparkSession

from lakeward.session import Settings


@pytest.fixture
def table(spark: SparkSession) -> Iterator[str]:
    """Return a table of three versions."""
    name = "main.default.described"
    spark.sql(f"DROP TABLE IF EXISTS {name}")
    spark.sql(f"CREATE TABLE {name} (id INT)")
    spark.sql(f"INSERT INTO {name} VALUES (1), (2)")
    spark.sql(f"DELETE FROM {name} WHERE id = 1")
    yield name
    spark.sql(f"DROP TABLE {name}")


@pytest.mark.parametrize(
    "name",
    ["described", "main.default.described", "`main`.default.`described`", "delta.`{folder}`", "'{folder}'"],
)
def test_every_spelling_of_a_table(
    spark: SparkSession, table: str, suite_settings: Settings, name: str
) -> None:
    folder = suite_settings.warehouse / "main" / "default" / "described"
    given = name.format(folder=folder)
    query = f"SELECT version, operation FROM (DESCRIBE HISTORY {given}) ORDER BY version"
    assert [tuple(row) for row in spark.sql(query).collect()] == [
        (0, "CREATE TABLE"),
        (1, "WRITE"),
        (2, "DELETE"),
    ]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("SELECT max(version) FROM (DESCRIBE HISTORY {t})", 2),
        ("select max(h.version) from (desc history {t} limit 1) as h", 2),
        ("SELECT count(*) FROM (DESCRIBE HISTORY {t} LIMIT 2)", 2),
        ("WITH h AS (DESCRIBE HISTORY {t}) SELECT min(version) FROM h", 0),
        ("SELECT (SELECT max(version) FROM (DESCRIBE HISTORY {t})) AS latest", 2),
        (
            "FROM (DESCRIBE HISTORY {t}) a JOIN (DESCRIBE HISTORY {t}) b USING (version) SELECT count(*)",
            3,
        ),
        ("WITH h AS (DESCRIBE /* newest */ HISTORY {t} LIMIT 1), j AS (TABLE h) TABLE j", 2),
        (
            "SELECT operationMetrics.numOutputRows FROM (DESCRIBE HISTORY {t}) WHERE operation = 'WRITE'",
            "2",
        ),
    ],
)
def test_every_place_of_a_query(spark: SparkSession, table: str, query: str, expected: object) -> None:
    assert spark.sql(query.format(t=table)).collect()[0][0] == expected


def test_a_view_sees_the_versions_that_are_there_when_it_is_read(spark: SparkSession, table: str) -> None:
    spark.sql("CREATE TABLE main.default.growing (id INT)")
    spark.sql(
        "CREATE VIEW main.default.versions AS SELECT version FROM (DESCRIBE HISTORY main.default.growing)"
    )
    assert spark.table("main.default.versions").count() == 1
    spark.sql("INSERT INTO main.default.growing VALUES (1)")
    assert spark.table("main.default.versions").count() == 2
    spark.sql("DROP VIEW main.default.versions")
    spark.sql("DROP TABLE main.default.growing")


def test_a_missing_table_is_named(spark: SparkSession) -> None:
    with pytest.raises(AnalysisException, match="nope") as raised:
        spark.sql("SELECT * FROM (DESCRIBE HISTORY nope)")
    assert raised.value.getCondition() in ("TABLE_OR_VIEW_NOT_FOUND", "DELTA_TABLE_NOT_FOUND")


def test_a_description_is_no_relation(spark: SparkSession, table: str) -> None:
    with pytest.raises(ParseException):
        spark.sql(f"SELECT * FROM (DESCRIBE DETAIL {table})")
