"""Views WITH SCHEMA …, after columns of their table were added, dropped, renamed or changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

TABLE = "main.default.evolving"
VIEW = "main.default.evolving_view"

# Statements that change the table; its columns in views WITH SCHEMA EVOLUTION and WITH SCHEMA TYPE EVOLUTION.
CHANGES = {
    "added": (f"ALTER TABLE {TABLE} ADD COLUMN c DATE", "a int, b string, c date", "a int, b string"),
    "widened": (
        f"CREATE OR REPLACE TABLE {TABLE} AS SELECT 7L AS a, 'x' AS b",
        "a bigint, b string",
        "a bigint, b string",
    ),
    "replaced": (
        f"CREATE OR REPLACE TABLE {TABLE} AS SELECT 'x' AS b, 7 AS a, 1.5D AS c",
        "b string, a int, c double",
        "a int, b string",
    ),
    "char": (
        f"CREATE OR REPLACE TABLE {TABLE} (a INT, b VARCHAR(9))",
        "a int, b string",
        "a int, b string",
    ),
}


@pytest.fixture
def create(spark: SparkSession) -> Iterator[Callable[[str], None]]:
    spark.sql(f"CREATE TABLE {TABLE} AS SELECT 1 AS a, 'x' AS b")
    yield lambda mode: spark.sql(f"CREATE VIEW {VIEW} WITH SCHEMA {mode} AS SELECT * FROM {TABLE}") and None
    spark.sql(f"DROP VIEW IF EXISTS {VIEW}_2")
    spark.sql(f"DROP VIEW IF EXISTS {VIEW}")
    spark.sql(f"DROP TABLE IF EXISTS {TABLE}")


def queried(spark: SparkSession, view: str = VIEW) -> str:
    df = spark.table(view)
    assert len(df.collect()) == spark.table(TABLE).count()
    return ", ".join(f"{field.name} {field.dataType.simpleString()}" for field in df.schema)


def described(spark: SparkSession, view: str = VIEW) -> str:
    """Return the columns as DESCRIBE shows them; a declared VARCHAR is a STRING in queries."""
    columns = (f"{row.col_name} {row.data_type}" for row in spark.sql(f"DESCRIBE {view}").collect())
    return ", ".join(columns).replace("varchar(9)", "string")


@pytest.mark.parametrize("change", CHANGES)
def test_schema_evolution_follows_the_table(
    spark: SparkSession, create: Callable[[str], None], change: str
) -> None:
    create("EVOLUTION")
    spark.sql(CHANGES[change][0])
    assert queried(spark) == described(spark) == CHANGES[change][1]


@pytest.mark.parametrize("change", CHANGES)
def test_type_evolution_keeps_the_columns_and_follows_their_types(
    spark: SparkSession, create: Callable[[str], None], change: str
) -> None:
    create("TYPE EVOLUTION")
    spark.sql(CHANGES[change][0])
    assert queried(spark) == described(spark) == CHANGES[change][2]


@pytest.mark.parametrize("mode", ["EVOLUTION", "TYPE EVOLUTION"])
def test_a_view_of_an_evolving_view_and_information_schema_follow(
    spark: SparkSession, create: Callable[[str], None], mode: str
) -> None:
    create(mode)
    spark.sql(f"CREATE VIEW {VIEW}_2 WITH SCHEMA {mode} AS SELECT * FROM {VIEW}")
    spark.sql(CHANGES["replaced"][0])
    expected = CHANGES["replaced"][1 if mode == "EVOLUTION" else 2]
    assert queried(spark, f"{VIEW}_2") == expected
    columns = spark.sql(
        "SELECT table_name, concat(column_name, ' ', full_data_type) AS column"
        " FROM main.information_schema.columns WHERE table_name LIKE 'evolving_view%'"
        " ORDER BY table_name, ordinal_position"
    ).collect()
    for name in ("evolving_view", "evolving_view_2"):
        assert ", ".join(row.column for row in columns if row.table_name == name) == expected


def test_comments_of_the_view_stay(spark: SparkSession, create: Callable[[str], None]) -> None:
    spark.sql(
        f"CREATE VIEW {VIEW} (a COMMENT 'a number', b) WITH SCHEMA TYPE EVOLUTION AS SELECT * FROM {TABLE}"
    )
    spark.sql(CHANGES["widened"][0])
    for _ in range(2):
        assert queried(spark) == "a bigint, b string"
    comments = {row.col_name: row.comment for row in spark.sql(f"DESCRIBE {VIEW}").collect()}
    assert comments == {"a": "a number", "b": None}


@pytest.mark.parametrize("mode", ["BINDING", "COMPENSATION"])
def test_other_modes_keep_their_columns(
    spark: SparkSession, create: Callable[[str], None], mode: str
) -> None:
    create(mode)
    spark.sql(CHANGES["added"][0])
    assert queried(spark) == described(spark) == "a int, b string"


def test_type_evolution_of_a_dropped_column_is_an_error(
    spark: SparkSession, create: Callable[[str], None]
) -> None:
    create("TYPE EVOLUTION")
    spark.sql(f"CREATE OR REPLACE TABLE {TABLE} AS SELECT 1 AS a")
    with pytest.raises(AnalysisException) as failed:
        spark.table(VIEW).collect()
    assert failed.value.getCondition() == "INCOMPATIBLE_VIEW_SCHEMA_CHANGE"
