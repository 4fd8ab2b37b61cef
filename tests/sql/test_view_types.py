"""Views over CHAR and VARCHAR columns: spellings of the view × readers, and types in information_schema."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StringType

TABLE = "main.default.lettered"
VIEW = "main.default.lettered_view"

COLUMNS = {
    "v": "varchar(5)",
    "c": "char(4)",
    "s": "struct<Part:varchar(4)>",
    "a": "array<varchar(2)>",
    "m": "map<string,char(2)>",
}
ROW = "'vv', 'c', named_struct('Part', 'x'), array('p'), map('k', 'z')"

VIEWS = {
    "plain": f"CREATE VIEW {VIEW} AS SELECT * FROM {TABLE}",
    "replaced": f"CREATE OR REPLACE VIEW {VIEW} AS SELECT * FROM {TABLE}",
    "named": f"CREATE VIEW {VIEW} (v COMMENT 'a', c, s, a, m) AS SELECT v, c, s, a, m FROM {TABLE}",
    "altered": f"CREATE VIEW {VIEW} AS SELECT 1 AS one; ALTER VIEW {VIEW} AS SELECT * FROM {TABLE}",
    "binding": f"CREATE VIEW {VIEW} WITH SCHEMA BINDING AS SELECT * FROM {TABLE}",
    "compensation": f"CREATE VIEW {VIEW} WITH SCHEMA COMPENSATION AS SELECT * FROM {TABLE}",
    "type evolution": f"CREATE VIEW {VIEW} WITH SCHEMA TYPE EVOLUTION AS SELECT * FROM {TABLE}",
    "evolution": f"CREATE VIEW {VIEW} WITH SCHEMA EVOLUTION AS SELECT * FROM {TABLE}",
}

READERS: dict[str, Callable[[DataFrame], list[Any]]] = {
    "collect": lambda df: df.collect(),
    "limit": lambda df: df.limit(5).collect(),
    "filter": lambda df: df.where("v = 'vv' AND c = 'c'").collect(),
    "arrow": lambda df: df.toArrow().to_pylist(),
    "rdd": lambda df: df.rdd.collect(),
    "union": lambda df: df.select("v", "c").union(df.select("v", "c")).distinct().collect(),
    "join": lambda df: df.join(df.select("v"), "v").collect(),
    "aggregate": lambda df: df.groupBy("v", "c").count().collect(),
}


@pytest.fixture
def view(spark: SparkSession) -> Iterator[Callable[[str], DataFrame]]:
    def create(statements: str) -> DataFrame:
        for statement in statements.split(";"):
            spark.sql(statement)
        return spark.table(VIEW)

    spark.sql(f"CREATE TABLE {TABLE} ({', '.join(f'{name} {type_}' for name, type_ in COLUMNS.items())})")
    spark.sql(f"INSERT INTO {TABLE} SELECT {ROW}")
    yield create
    spark.sql(f"DROP VIEW IF EXISTS {VIEW}")
    spark.sql(f"DROP TABLE IF EXISTS {TABLE}")


@pytest.mark.parametrize("spelling", VIEWS)
def test_every_view_is_read_by_every_reader(view: Callable[[str], DataFrame], spelling: str) -> None:
    df = view(VIEWS[spelling])
    assert df.schema["v"].dataType == df.schema["c"].dataType == StringType()
    for name, read in READERS.items():
        rows = read(df)
        assert len(rows) == 1, name
        assert (rows[0]["v"], rows[0]["c"]) == ("vv", "c   "), name


def test_a_table_and_a_view_of_the_view_have_its_columns(
    spark: SparkSession, view: Callable[[str], DataFrame]
) -> None:
    view(VIEWS["plain"])
    try:
        spark.sql(f"CREATE VIEW {VIEW}_2 AS SELECT * FROM {VIEW}")
        spark.sql(f"CREATE TABLE {TABLE}_2 AS SELECT * FROM {VIEW}_2")
        assert [row.v for row in spark.table(f"{TABLE}_2").where("c = 'c   '").collect()] == ["vv"]
    finally:
        spark.sql(f"DROP VIEW IF EXISTS {VIEW}_2")
        spark.sql(f"DROP TABLE IF EXISTS {TABLE}_2")


def test_information_schema_has_the_declared_types(
    spark: SparkSession, view: Callable[[str], DataFrame]
) -> None:
    view(VIEWS["plain"])
    found = spark.sql(
        "SELECT table_name, column_name, full_data_type, data_type FROM main.information_schema.columns"
        " WHERE table_name LIKE 'lettered%' ORDER BY table_name, ordinal_position"
    ).collect()
    for table in ("lettered", "lettered_view"):
        types = {row.column_name: row.full_data_type for row in found if row.table_name == table}
        assert types == COLUMNS
    assert {row.data_type for row in found} == {"VARCHAR", "CHAR", "STRUCT", "ARRAY", "MAP"}


@pytest.mark.parametrize("statement", ["DESCRIBE", "DESC TABLE", "DESCRIBE EXTENDED", "DESCRIBE FORMATTED"])
def test_descriptions_have_the_declared_types(
    spark: SparkSession, view: Callable[[str], DataFrame], statement: str
) -> None:
    view(VIEWS["plain"])
    for name in (TABLE, VIEW):
        shown = {row.col_name: row.data_type for row in spark.sql(f"{statement} {name}").collect()}
        assert {column: shown[column] for column in COLUMNS} == COLUMNS
        for column, declared in COLUMNS.items():
            rows = spark.sql(f"{statement} {name} {column.upper()}").collect()
            assert ("data_type", declared.lower()) in [(row[0], row[1].lower()) for row in rows]


@pytest.mark.parametrize("name", [TABLE, VIEW])
def test_descriptions_as_json_have_the_declared_types(
    spark: SparkSession, view: Callable[[str], DataFrame], name: str
) -> None:
    view(VIEWS["plain"])
    document = json.loads(spark.sql(f"DESCRIBE TABLE EXTENDED {name} AS JSON").collect()[0][0])
    v, c, s, a, m = (column["type"] for column in document["columns"])
    assert (v, c) == ({"name": "varchar", "length": 5}, {"name": "char", "length": 4})
    assert s["fields"][0]["type"] == {"name": "varchar", "length": 4}
    assert a["element_type"] == {"name": "varchar", "length": 2}
    assert m["value_type"] == {"name": "char", "length": 2}
