"""SHOW TABLE EXTENDED lists tables and views of any catalog, with what clients such as dbt read of each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from pyspark.errors import PySparkException

from lakeward.session import Settings, session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CATALOGS = ("main", "listed_catalog")
OBJECTS = {
    "plain": "CREATE TABLE {n} (id BIGINT NOT NULL COMMENT 'key', v STRUCT<a: INT>) COMMENT 'of {n}' "
    "TBLPROPERTIES (x = 'y')",
    "partitioned": "CREATE TABLE {n} (id INT, p STRING) PARTITIONED BY (p)",
    "files": "CREATE TABLE {n} (id INT) USING csv",
    "view": "CREATE VIEW {n} COMMENT 'of {n}' AS SELECT 1 AS id",
    "dangling": "CREATE VIEW {n} AS SELECT id FROM {s}.gone",
    "derived": "CREATE MATERIALIZED VIEW {n} AS SELECT 1 AS id",
}
TYPES = {"view": "VIEW", "dangling": "VIEW", "derived": "MATERIALIZED_VIEW"}


@pytest.fixture(scope="module")
def schema(suite_settings: Settings) -> Iterator[str]:
    spark = session(suite_settings)
    spark.sql("CREATE CATALOG IF NOT EXISTS listed_catalog")
    for catalog in CATALOGS:
        name = f"{catalog}.extended_listing"
        spark.sql(f"CREATE SCHEMA {name}")
        spark.sql(f"CREATE TABLE {name}.gone (id INT)")
        for each, statement in OBJECTS.items():
            spark.sql(statement.format(n=f"{name}.{each}", s=name))
        spark.sql(f"DROP TABLE {name}.gone")
    yield "extended_listing"
    for catalog in CATALOGS:
        spark.sql(f"DROP SCHEMA {catalog}.extended_listing CASCADE")
    spark.sql("DROP CATALOG listed_catalog CASCADE")


def information(spark: SparkSession, statement: str, **args: str) -> dict[str, list[str]]:
    rows = spark.sql(statement, args=args).collect()
    return {row["tableName"]: row["information"].split("\n") for row in rows if not row["isTemporary"]}


@pytest.mark.parametrize("catalog", CATALOGS)
def test_every_kind_of_table_and_view_is_described(spark: SparkSession, schema: str, catalog: str) -> None:
    found = information(spark, f"SHOW TABLE EXTENDED IN {catalog}.{schema} LIKE '*'")
    assert sorted(found) == sorted(OBJECTS)
    for name, lines in found.items():
        assert lines[:3] == [f"Catalog: {catalog}", f"Database: {schema}", f"Table: {name}"]
        assert lines[3] not in ("Owner: ", "Owner: None")
        assert lines[4] == f"Type: {TYPES.get(name, 'MANAGED')}"
        comment = [line for line in lines if line.startswith("Comment: ")]
        has_comment = "COMMENT 'of" in OBJECTS[name]
        assert comment == ([f"Comment: of {catalog}.{schema}.{name}"] if has_comment else [])
        if name != "dangling":
            at = lines.index("Schema: root")
            assert lines[at + 1].startswith(" |-- id: ")
            assert not has_comment or lines[at - 1] == comment[0], "dbt reads a comment up to the schema"
        assert not any("lakeward." in line for line in lines), "properties of the runtime alone"
    (properties,) = (line for line in found["plain"] if line.startswith("Table Properties: "))
    assert properties.startswith("Table Properties: [delta.")
    assert properties.endswith("x=y]")
    assert found["plain"][found["plain"].index("Schema: root") + 1 :][:3] == [
        " |-- id: long (nullable = false)",
        " |-- v: struct (nullable = true)",
        " |    |-- a: integer (nullable = true)",
    ]


@pytest.mark.parametrize("catalog", CATALOGS)
@pytest.mark.parametrize(
    ("clause", "names"),
    [
        ("IN {c}.{s} LIKE 'plain|view'", ["plain", "view"]),
        ("FROM {s} LIKE 'VIEW'", ["view"]),
        ("LIKE 'p*'", ["partitioned", "plain"]),
        ("'nothing'", []),
        ("IN IDENTIFIER('{c}.{s}') LIKE 'view'", ["view"]),
        ("IN IDENTIFIER(:name) LIKE :pattern", ["plain"]),
        (r"LIKE 'it\'s'", []),
    ],
)
def test_schema_and_pattern(
    spark: SparkSession, schema: str, catalog: str, clause: str, names: list[str]
) -> None:
    spark.sql(f"USE {catalog}.{schema}")
    try:
        text = clause.format(c=catalog, s=schema)
        args = {"name": f"{catalog}.{schema}", "pattern": "plain"} if ":" in text else {}
        assert sorted(information(spark, f"SHOW TABLE EXTENDED {text}", **args)) == names
        assert sorted(information(spark, f"show table extended {text}", **args)) == names
    finally:
        spark.sql("USE main.default")


@pytest.mark.parametrize("kind", ["TABLE", "VIEW"])
def test_the_owner_is_the_one_that_was_set(spark: SparkSession, schema: str, kind: str) -> None:
    name = {"TABLE": "partitioned", "VIEW": "view"}[kind]
    spark.sql(f"ALTER {kind} listed_catalog.{schema}.{name} OWNER TO `data team`")
    found = information(spark, f"SHOW TABLE EXTENDED IN listed_catalog.{schema} LIKE '{name}'")
    assert "Owner: data team" in found[name]


def test_temporary_views_come_last(spark: SparkSession, schema: str) -> None:
    spark.sql("CREATE TEMPORARY VIEW view_of_session AS SELECT 1 AS a")
    try:
        rows = spark.sql(f"SHOW TABLE EXTENDED IN listed_catalog.{schema} LIKE 'view*'").collect()
        assert [tuple(row)[:3] for row in rows] == [
            (schema, "view", False),
            ("", "view_of_session", True),
        ]
    finally:
        spark.catalog.dropTempView("view_of_session")


def test_a_partition_is_described_by_spark(spark: SparkSession, schema: str) -> None:
    """The clause PARTITION names one table; a pattern is required without it, too."""
    for clause in ("LIKE 'plain' PARTITION (p = 'a')", ""):
        with pytest.raises(PySparkException) as caught:
            spark.sql(f"SHOW TABLE EXTENDED IN main.{schema} {clause}")
        assert caught.value.getCondition()
