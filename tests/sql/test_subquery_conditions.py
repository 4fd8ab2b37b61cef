"""DELETE and UPDATE with subqueries, against DuckDB: statements × table features × entry points.

Source: https://docs.databricks.com/aws/en/sql/language-manual/delta-delete-from
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import duckdb
import pytest
from delta.tables import DeltaTable
from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import SparkSession

from tests.lanes import sampled

S = "main.subquery_conditions"
ROWS = "(1, 'a', 1), (1, 'a', 1), (2, 'b', 1), (3, NULL, 2), (NULL, 'n', 2), (4, 'x', 3)"
OTHERS = "(1, 'x'), (NULL, 'y'), (4, 'a'), (4, 'z')"

# DuckDB needs the table's own name in correlated subqueries, too.
CONDITIONS = [
    "id IN (SELECT id FROM s)",
    "id NOT IN (SELECT id FROM s)",
    "id NOT IN (SELECT id FROM s WHERE id IS NOT NULL)",
    "NOT (id IN (SELECT id FROM s)) OR v = 'n'",
    "EXISTS (SELECT 1 FROM s WHERE s.id = t.id)",
    "NOT EXISTS (SELECT 1 FROM s WHERE s.id = t.id)",
    "EXISTS (SELECT 1 FROM s)",
    "EXISTS (SELECT 1 FROM s WHERE id > 9)",
    "id = (SELECT max(id) FROM s)",
    "id > (SELECT min(id) FROM s) AND v IS NULL",
    "(SELECT count(*) FROM s) = 4",
    "id = (SELECT max(id) FROM s WHERE s.w = t.v)",
    "(id, v) IN (SELECT id, 'a' FROM s)",
    "id IN (SELECT id FROM t WHERE v = 'a')",
    "id IN (SELECT id FROM s WHERE s.w > t.v)",
    "id IN (SELECT id FROM s) AND id IN (SELECT 4)",
    "CASE WHEN id IN (SELECT id FROM s) THEN v = 'a' ELSE v = 'b' END",
]
ASSIGNMENTS = [
    "v = 'new'",
    "v = (SELECT max(w) FROM s)",
    "v = (SELECT max(w) FROM s WHERE s.id = t.id)",
    "v = v || (SELECT max(w) FROM s WHERE s.id = t.id), id = p + 10",
]
STATEMENTS = [
    *(f"DELETE FROM t WHERE {each}" for each in CONDITIONS),
    *(f"UPDATE t SET {ASSIGNMENTS[0]} WHERE {each}" for each in CONDITIONS),
    *(f"UPDATE t SET {each}" for each in ASSIGNMENTS[1:]),
    *(f"UPDATE t SET {each} WHERE {CONDITIONS[0]}" for each in ASSIGNMENTS[1:]),
]
LAYOUTS = {
    "plain": "TBLPROPERTIES ('delta.enableDeletionVectors' = 'false')",
    "deletion vectors": "TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')",
    "partitions": "PARTITIONED BY (p)",
    "column mapping": "TBLPROPERTIES ('delta.columnMapping.mode' = 'name')",
    "change data feed": "TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')",
}


def create(spark: SparkSession, layout: str) -> None:
    spark.sql(f"CREATE OR REPLACE TABLE {S}.t (id INT, v STRING, p INT) {LAYOUTS[layout]}")
    # Several files, so that some have no row to change.
    spark.sql(f"INSERT INTO {S}.t VALUES {ROWS}")
    spark.sql(f"INSERT INTO {S}.t VALUES (7, 'far', 9)")


@pytest.fixture
def session(spark: SparkSession) -> Iterator[SparkSession]:
    """The session, in a schema with the table `s`."""
    spark.sql(f"CREATE SCHEMA IF NOT EXISTS {S}")
    spark.sql(f"USE {S}")
    spark.sql(f"CREATE OR REPLACE TABLE {S}.s AS SELECT * FROM VALUES {OTHERS} AS s(id, w)")
    yield spark
    spark.sql("USE main.default")
    spark.sql(f"DROP TABLE IF EXISTS {S}.appended")


def in_duckdb(statement: str) -> tuple[int, list[tuple[object, ...]]]:
    """How many rows the statement changes, and the rows after it."""
    with duckdb.connect() as database:
        database.execute(f"CREATE TABLE t AS FROM (VALUES {ROWS}, (7, 'far', 9)) AS t(id, v, p)")
        database.execute(f"CREATE TABLE s AS FROM (VALUES {OTHERS}) AS s(id, w)")
        (changed,) = database.execute(statement).fetchall()[0]
        return int(changed), sorted(database.execute("FROM t").fetchall(), key=repr)


def rows(spark: SparkSession) -> list[tuple[object, ...]]:
    return sorted((tuple(row) for row in spark.table(f"{S}.t").collect()), key=repr)


@pytest.mark.parametrize(
    ("statement", "layout"),
    sampled(
        product(STATEMENTS, LAYOUTS),
        *((each, "plain") for each in STATEMENTS[: len(CONDITIONS) : 3]),
        *((each, "deletion vectors") for each in STATEMENTS[-2 * len(ASSIGNMENTS) :: 3]),
        *((STATEMENTS[1], each) for each in LAYOUTS if each != "plain"),
    ),
)
def test_rows_are_those_of_duckdb(session: SparkSession, statement: str, layout: str) -> None:
    create(session, layout)
    changed, expected = in_duckdb(statement)
    result = session.sql(statement)
    assert result.columns == ["num_affected_rows"]
    assert [row[0] for row in result.collect()] == [changed]
    assert rows(session) == expected


ENTRIES = {
    "an alias": "DELETE FROM {t} AS a WHERE EXISTS (SELECT 1 FROM s WHERE s.id = a.id)",
    "a table expression": "WITH x AS (SELECT id FROM s) DELETE FROM {t} WHERE id IN (SELECT id FROM x)",
    "a script": "BEGIN DECLARE n INT DEFAULT 9; DELETE FROM {t} WHERE id IN (SELECT id FROM s LIMIT n); END",
    "a loop": "BEGIN FOR r AS SELECT id FROM s DO DELETE FROM {t} WHERE id = (SELECT r.id); END FOR; END",
    "execute immediate": "EXECUTE IMMEDIATE 'DELETE FROM {t} WHERE id IN (SELECT id FROM s LIMIT ?)' USING 9",
    "identifier": "DELETE FROM IDENTIFIER('{t}') WHERE id IN (SELECT id FROM s)",
    "several levels": "DELETE FROM {t} WHERE id IN (SELECT id FROM s WHERE id IN (SELECT id FROM s))",
    "a version": "DELETE FROM {t} WHERE id IN (SELECT id FROM s VERSION AS OF 0)",
}


@pytest.mark.parametrize("entry", sampled(ENTRIES, *[*ENTRIES][::3]))
def test_entry_points(session: SparkSession, entry: str) -> None:
    create(session, "plain")
    session.sql(ENTRIES[entry].format(t=f"{S}.t"))
    assert [row[0] for row in rows(session)] == [2, 3, 7, None]


def test_the_api_of_delta(session: SparkSession) -> None:
    create(session, "deletion vectors")
    table = DeltaTable.forName(session, f"{S}.t")
    table.update("id IN (SELECT id FROM s)", {"v": "(SELECT max(w) FROM s)"})
    assert [row for row in rows(session) if row[1] == "z"] == [(1, "z", 1), (1, "z", 1), (4, "z", 3)]
    table.delete("id IN (SELECT id FROM s)")
    assert [row[0] for row in rows(session)] == [2, 3, 7, None]


@pytest.mark.parametrize("mode", ["", "EXTENDED", "FORMATTED", "COST"])
def test_explain_changes_nothing(session: SparkSession, mode: str) -> None:
    create(session, "plain")
    before = rows(session)
    for statement in ("DELETE FROM t", "UPDATE t SET v = 'x'"):
        plan = session.sql(f"EXPLAIN {mode} {statement} WHERE id IN (SELECT id FROM s)").first()
        assert plan is not None
        assert "Merge" in plan[0]
    assert rows(session) == before


def test_options_of_a_writer_that_replace_rows(session: SparkSession) -> None:
    create(session, "plain")
    new = session.sql("SELECT 1 AS id, 'new' AS v, 1 AS p")
    new.write.mode("overwrite").option("replaceUsing", "id").saveAsTable(f"{S}.t")
    assert [row for row in rows(session) if row[0] == 1] == [(1, "new", 1)]
    condition = (
        new.alias("n").write.mode("overwrite").option("targetAlias", "t").option("replaceOn", "t.v = n.v")
    )
    condition.saveAsTable(f"{S}.t")
    assert [row for row in rows(session) if row[1] == "new"] == [(1, "new", 1)]


def test_a_path(session: SparkSession) -> None:
    create(session, "plain")
    detail = session.sql(f"DESCRIBE DETAIL {S}.t").first()
    assert detail is not None
    session.sql(f"DELETE FROM delta.`{detail['location']}` WHERE id IN (SELECT id FROM s)")
    assert [row[0] for row in rows(session)] == [2, 3, 7, None]


def test_changed_rows_are_in_the_change_data_feed(session: SparkSession) -> None:
    create(session, "change data feed")
    session.sql("UPDATE t SET v = 'new' WHERE id IN (SELECT id FROM s WHERE w = 'a')")
    (last,) = session.sql(f"DESCRIBE HISTORY {S}.t LIMIT 1").select("version").collect()
    changes = session.sql(
        f"SELECT id, v, _change_type FROM table_changes('{S}.t', {last['version']})"
    ).collect()
    assert sorted(tuple(row) for row in changes) == [
        (4, "new", "update_postimage"),
        (4, "x", "update_preimage"),
    ]


def test_an_append_only_table_stays(session: SparkSession) -> None:
    session.sql(
        f"CREATE TABLE {S}.appended TBLPROPERTIES ('delta.appendOnly' = 'true') AS SELECT 1 AS id, 'a' AS v"
    )
    for statement in ("DELETE FROM appended", "UPDATE appended SET v = 'b'"):
        with pytest.raises(PySparkException) as raised:
            session.sql(f"{statement} WHERE id IN (SELECT id FROM s)")
        assert raised.value.getCondition() == "DELTA_CANNOT_MODIFY_APPEND_ONLY"
    assert session.table(f"{S}.appended").collect() == [(1, "a")]


def test_columns_that_cannot_be_compared_are_refused(session: SparkSession) -> None:
    session.sql(f"CREATE OR REPLACE TABLE {S}.m AS SELECT 1 AS id, map('a', 1) AS m")
    for statement in (
        "DELETE FROM m WHERE m['a'] IN (SELECT id FROM s)",
        "UPDATE m SET m = (SELECT map('b', count(*)) FROM s) WHERE id IN (SELECT id FROM s)",
    ):
        with pytest.raises(AnalysisException) as raised:
            session.sql(statement)
        assert raised.value.getCondition() == "DELTA_UNSUPPORTED_SUBQUERY"
    session.sql("UPDATE m SET m = (SELECT map('b', count(*)) FROM s)")
    assert session.table(f"{S}.m").collect() == [(1, {"b": 4})]
    session.sql("DELETE FROM m WHERE id IN (SELECT id FROM s)")
    assert session.table(f"{S}.m").count() == 0


def test_unknown_columns_are_reported(session: SparkSession) -> None:
    create(session, "plain")
    for statement in (
        "DELETE FROM t WHERE nope IN (SELECT id FROM s)",
        "DELETE FROM t WHERE id IN (SELECT nope FROM s)",
        "UPDATE t SET nope = (SELECT 1)",
    ):
        with pytest.raises(AnalysisException) as raised:
            session.sql(statement)
        assert (raised.value.getCondition() or "").startswith("UNRESOLVED_COLUMN")
