"""DESCRIBE EXTENDED lists the keys of a table in the form that clients read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

SPELLINGS = [
    f"{d} {t}{e}" for d in ("DESCRIBE", "DESC") for t in ("", "TABLE ") for e in ("EXTENDED", "FORMATTED")
]


@pytest.fixture
def schema(spark: SparkSession) -> Iterator[str]:
    name = "main.described"
    spark.sql(f"CREATE SCHEMA {name}")
    spark.sql(f"CREATE TABLE {name}.people (id INT NOT NULL, at DATE NOT NULL, PRIMARY KEY (id, at))")
    spark.sql(
        f"CREATE TABLE {name}.pets (id INT NOT NULL PRIMARY KEY, owner INT, born DATE, chip STRING, "
        f"CONSTRAINT of_owner FOREIGN KEY (owner, born) REFERENCES {name}.people, "
        "CONSTRAINT chips UNIQUE (chip))"
    )
    spark.sql(f"CREATE VIEW {name}.seen AS SELECT * FROM {name}.pets")
    yield name
    spark.sql(f"DROP SCHEMA {name} CASCADE")


def constraints(spark: SparkSession, statement: str) -> list[tuple[str, str]]:
    """Return the rows after the heading; an empty list without one."""
    rows = [(row.col_name, row.data_type) for row in spark.sql(statement).collect()]
    headings = [name for name, _ in rows]
    return rows[headings.index("# Constraints") + 1 :] if "# Constraints" in headings else []


def test_keys_are_listed(spark: SparkSession, schema: str) -> None:
    keys_of_people = [("people_pk", "PRIMARY KEY (`id`, `at`)")]
    keys_of_pets = [
        ("pets_pk", "PRIMARY KEY (`id`)"),
        ("of_owner", "FOREIGN KEY (`owner`, `born`) REFERENCES `main`.`described`.`people` (`id`, `at`)"),
        ("chips", "UNIQUE (`chip`)"),
    ]
    people = {spelling: constraints(spark, f"{spelling} {schema}.people") for spelling in SPELLINGS}
    pets = {spelling: constraints(spark, f"{spelling} {schema}.pets") for spelling in SPELLINGS}
    assert people == dict.fromkeys(SPELLINGS, keys_of_people)
    assert pets == dict.fromkeys(SPELLINGS, keys_of_pets)


def test_relations_without_keys_have_no_section(spark: SparkSession, schema: str) -> None:
    """A temporary view hides the table of its name, and has none of its keys."""
    spark.sql(f"CREATE OR REPLACE TEMPORARY VIEW people AS SELECT id AS Catalog FROM {schema}.people")
    spark.sql(f"USE {schema}")
    try:
        assert constraints(spark, "DESCRIBE EXTENDED people") == []
    finally:
        spark.catalog.dropTempView("people")
        spark.sql("USE main.default")
    assert constraints(spark, f"DESCRIBE EXTENDED {schema}.seen") == []


@pytest.mark.parametrize("keys", ["", ", PRIMARY KEY (id)"], ids=["no key", "key"])
@pytest.mark.parametrize(
    ("kind", "shown"), [("materialized_view", "MATERIALIZED_VIEW"), ("streaming_table", "STREAMING_TABLE")]
)
def test_a_dataset_of_a_pipeline_has_its_type(
    spark: SparkSession, schema: str, kind: str, shown: str, keys: str
) -> None:
    """With or without a section of its own, and without the properties of the runtime."""
    properties = f"'lakeward.kind' = '{kind}', 'team' = 'x'"
    spark.sql(f"CREATE TABLE {schema}.d (id INT NOT NULL{keys}) TBLPROPERTIES ({properties})")
    found = {row.col_name: row.data_type for row in spark.sql(f"DESCRIBE EXTENDED {schema}.d").collect()}
    assert found["Type"] == shown
    assert "team=x" in found["Table Properties"] and "lakeward." not in found["Table Properties"]
    assert found.get("d_pk") == ("PRIMARY KEY (`id`)" if keys else None)


def test_a_dropped_key_is_not_listed(spark: SparkSession, schema: str) -> None:
    spark.sql(f"CREATE TABLE {schema}.t (id INT NOT NULL PRIMARY KEY)")
    spark.sql(f"ALTER TABLE {schema}.t DROP PRIMARY KEY")
    assert constraints(spark, f"DESCRIBE EXTENDED {schema}.t") == []


@pytest.fixture(params=["/", "/Volumes/main/described/files/"], ids=["folder", "volume"])
def path_table(spark: SparkSession, schema: str, tmp_path: Path, request: pytest.FixtureRequest) -> str:
    spark.sql(f"CREATE VOLUME {schema}.files")
    place = f"{tmp_path}{request.param}t" if request.param == "/" else f"{request.param}t"
    spark.sql(f"CREATE TABLE delta.`{place}` (id INT, name STRING)")
    return f"delta.`{place}`"


def test_a_table_of_a_path_is_described(spark: SparkSession, path_table: str) -> None:
    """Its name has no catalog and schema that could hold keys."""
    for spelling in SPELLINGS:
        rows = {row.col_name: row.data_type for row in spark.sql(f"{spelling} {path_table}").collect()}
        assert (rows["id"], rows["name"], rows["Provider"]) == ("int", "string", "delta"), spelling
    json_row = spark.sql(f"DESCRIBE TABLE EXTENDED {path_table} AS JSON").first()
    assert json_row is not None
    document = json.loads(json_row.json_metadata)
    assert [column["name"] for column in document["columns"]] == ["id", "name"]
    assert (
        document["table_name"] == path_table.replace("delta.", "`delta`.") and "catalog_name" not in document
    )


def test_a_table_of_a_path_is_changed_and_refreshed(spark: SparkSession, path_table: str) -> None:
    spark.sql(f"ALTER TABLE {path_table} ADD CONSTRAINT positive CHECK (id > 0)")
    spark.sql(f"ALTER TABLE {path_table} DROP CONSTRAINT positive")
    spark.sql(f"REFRESH TABLE {path_table}")
    spark.sql(f"INSERT INTO {path_table} VALUES (-1, 'x')")
    assert spark.table(path_table).count() == 1
