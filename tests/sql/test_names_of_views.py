"""Tables and views share their names: nothing makes a table behind a view, or a view over a table."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from lakeward.session import condition_of

VIEW, TABLE = "main.names.the_view", "main.names.the_table"
EXISTS = "TABLE_OR_VIEW_ALREADY_EXISTS"
NO_WRITES = "DELTA_CANNOT_WRITE_INTO_VIEW"
NOT_VIEW = "EXPECT_TABLE_NOT_VIEW.NO_ALTERNATIVE"


@pytest.fixture(scope="module", autouse=True)
def _objects(suite_settings: Any) -> Iterator[None]:
    from lakeward.session import session

    spark = session(suite_settings)
    spark.sql("CREATE SCHEMA IF NOT EXISTS main.names")
    spark.sql(f"CREATE TABLE {TABLE} AS SELECT 1 AS id")
    spark.sql(f"CREATE VIEW {VIEW} AS SELECT 1 AS id")
    yield
    spark.sql("DROP SCHEMA main.names CASCADE")


def _save(mode: str) -> Callable[[DataFrame], Any]:
    return lambda frame: frame.write.mode(mode).saveAsTable(VIEW)


WRITERS: dict[str, tuple[Callable[[DataFrame], Any], str]] = {
    "saveAsTable": (_save("errorifexists"), EXISTS),
    "saveAsTable append": (_save("append"), EXISTS),
    "saveAsTable overwrite": (_save("overwrite"), NO_WRITES),
    "insertInto": (lambda frame: frame.write.insertInto(VIEW), "TABLE_OR_VIEW_NOT_FOUND"),
    "create": (lambda frame: frame.writeTo(VIEW).create(), EXISTS),
    "replace": (lambda frame: frame.writeTo(VIEW).replace(), NO_WRITES),
    "createOrReplace": (lambda frame: frame.writeTo(VIEW).createOrReplace(), NO_WRITES),
    "append": (lambda frame: frame.writeTo(VIEW).append(), NOT_VIEW),
    "overwritePartitions": (lambda frame: frame.writeTo(VIEW).overwritePartitions(), NOT_VIEW),
}

STATEMENTS = {
    f"CREATE TABLE {VIEW} (id INT)": EXISTS,
    f"CREATE TABLE {VIEW} AS SELECT 2 AS id": EXISTS,
    f"CREATE TABLE {VIEW} LIKE {TABLE}": EXISTS,
    f"CREATE OR REPLACE TABLE {VIEW} (id INT)": NO_WRITES,
    f"CREATE OR REPLACE TABLE {VIEW} AS SELECT 2 AS id": NO_WRITES,
    f"REPLACE TABLE {VIEW} AS SELECT 2 AS id": NO_WRITES,
    f"CREATE TABLE {VIEW} USING PARQUET AS SELECT 2 AS id": EXISTS,
    f"CREATE MATERIALIZED VIEW {VIEW} AS SELECT 2 AS id": EXISTS,
    f"INSERT INTO {VIEW} VALUES (2)": NOT_VIEW,
    f"INSERT OVERWRITE {VIEW} VALUES (2)": NOT_VIEW,
    f"FROM {TABLE} INSERT INTO {VIEW} SELECT *": NOT_VIEW,
    f"DELETE FROM {VIEW} WHERE id = 1": NOT_VIEW,
    f"UPDATE {VIEW} SET id = 2": NOT_VIEW,
    f"MERGE INTO {VIEW} t USING {TABLE} s ON t.id = s.id WHEN MATCHED THEN DELETE": NOT_VIEW,
    f"TRUNCATE TABLE {VIEW}": NOT_VIEW,
    f"DROP TABLE {VIEW}": "WRONG_COMMAND_FOR_OBJECT_TYPE",
    f"DROP TABLE IF EXISTS {VIEW}": "WRONG_COMMAND_FOR_OBJECT_TYPE",
    f"ALTER TABLE {TABLE} RENAME TO {VIEW}": EXISTS,
    f"ALTER VIEW {VIEW} RENAME TO names.the_table": "VIEW_ALREADY_EXISTS",
    f"CREATE VIEW {TABLE} AS SELECT 2 AS id": EXISTS,
    f"CREATE OR REPLACE VIEW {TABLE} AS SELECT 2 AS id": "EXPECT_VIEW_NOT_TABLE.NO_ALTERNATIVE",
    f"DROP VIEW {TABLE}": "WRONG_COMMAND_FOR_OBJECT_TYPE",
}
SILENT = (
    f"CREATE TABLE IF NOT EXISTS {VIEW} (id INT)",
    f"CREATE TABLE IF NOT EXISTS {VIEW} AS SELECT 2 AS id",
)


def _unchanged(spark: SparkSession) -> bool:
    listed = [row.tableName for row in spark.sql("SHOW TABLES IN main.names").collect()]
    rows = [spark.table(name).collect()[0].id for name in (VIEW, TABLE)]
    return sorted(listed) == ["the_table", "the_view"] and rows == [1, 1]


@pytest.mark.parametrize("writer", WRITERS)
def test_a_writer_does_not_write_behind_a_view(spark: SparkSession, writer: str) -> None:
    write, condition = WRITERS[writer]
    with pytest.raises(Exception, match="view") as raised:
        write(spark.sql("SELECT 2 AS id"))
    assert condition_of(raised.value) == condition
    assert _unchanged(spark)


@pytest.mark.parametrize("statement", STATEMENTS)
def test_a_statement_changes_no_object_of_the_other_kind(spark: SparkSession, statement: str) -> None:
    with pytest.raises(Exception, match="the_") as raised:
        spark.sql(statement)
    assert condition_of(raised.value) == STATEMENTS[statement]
    assert _unchanged(spark)


@pytest.mark.parametrize("statement", SILENT)
def test_if_not_exists_counts_views(spark: SparkSession, statement: str) -> None:
    spark.sql(statement)
    assert _unchanged(spark)


def test_the_mode_ignore_counts_views(spark: SparkSession) -> None:
    _save("ignore")(spark.sql("SELECT 2 AS id"))
    assert _unchanged(spark)
