"""Changes that mark rows give what a MERGE gives. Delta's MERGE is the oracle."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from lakeward.pipelines.autocdc.row_merge import MergeCounts, RowMerge
from lakeward.pipelines.storage.computed_rows import computed_rows
from lakeward.pipelines.storage.file_replacement import FileReplacement

SCHEMA = "row_merge"
VALUES = {"k": "__row.k", "seq": "__row.seq", "x": "__row.x"}
DELETE = "s.gone AND s.__row.seq >= t.seq"
UPDATE = "CASE WHEN s.gone THEN false WHEN s.__row.seq = t.seq THEN NULL ELSE s.__row.seq > t.seq END"
TIE = "s.__row.x > t.x"
INSERT = "NOT s.gone"
ROW = st.tuples(st.none() | st.integers(0, 6), st.integers(0, 3), st.sampled_from(["a", "b", "c"]))
CHANGE = st.tuples(ROW, st.booleans())


@pytest.fixture
def lane(spark: SparkSession) -> Iterator[SparkSession]:
    spark.sql(f"CREATE SCHEMA IF NOT EXISTS main.{SCHEMA}")
    yield spark
    spark.sql(f"DROP SCHEMA main.{SCHEMA} CASCADE")


def _name(table: str) -> tuple[str, ...]:
    return "main", SCHEMA, table


def _target(
    spark: SparkSession,
    name: str,
    rows: list[tuple[Any, ...]],
    properties: str = "",
    columns: str = "k INT, seq INT, x STRING",
    clause: str = "",
) -> None:
    """Make a table of two files; the first has a deletion vector."""
    table = f"main.{SCHEMA}.{name}"
    properties = properties or "'delta.enableDeletionVectors' = 'true'"
    spark.sql(f"CREATE OR REPLACE TABLE {table} ({columns}) {clause} TBLPROPERTIES ({properties})")
    marked = [(-1, 0, "a"), (-2, 0, "b")]
    for part in (marked + rows[::2], rows[1::2]):
        spark.createDataFrame(part, "k INT, seq INT, x STRING").coalesce(1).write.insertInto(table)
    spark.sql(f"DELETE FROM {table} WHERE k = -1")


def _changes(spark: SparkSession, changes: list[tuple[tuple[Any, ...], bool]]) -> DataFrame:
    rows = [((row[0],), row, gone) for row, gone in changes]
    return spark.createDataFrame(
        rows, "__key STRUCT<k: INT>, __row STRUCT<k: INT, seq: INT, x: STRING>, gone BOOLEAN"
    )


def _rows(spark: SparkSession, name: str) -> list[Any]:
    return sorted((tuple(row) for row in spark.table(f"main.{SCHEMA}.{name}").collect()), key=repr)


def _merge(changes: DataFrame, on: str = "t.k <=> s.__key.k") -> RowMerge:
    return RowMerge(changes, on, DELETE, UPDATE, INSERT, TIE, VALUES)


def _metrics(spark: SparkSession, name: str) -> dict[str, int]:
    found = spark.sql(f"DESCRIBE HISTORY main.{SCHEMA}.{name} LIMIT 1").first()
    assert found is not None
    assert found["operation"] == "MERGE"
    return {key: int(value) for key, value in found["operationMetrics"].items()}


COMPARED = (
    *("numTargetRowsInserted", "numTargetRowsUpdated", "numTargetRowsDeleted"),
    "numTargetFilesRemoved",
    *("numTargetDeletionVectorsAdded", "numTargetDeletionVectorsRemoved", "numTargetDeletionVectorsUpdated"),
)


# Each example makes two tables: a failure is shown as it was found.
@settings(max_examples=6, deadline=None, phases=[Phase.generate])
@given(
    rows=st.lists(ROW, min_size=2, max_size=8, unique_by=lambda row: row[0]),
    changes=st.lists(CHANGE, min_size=2, max_size=8, unique_by=lambda change: change[0][0]),
)
def _law(spark: SparkSession, rows: list[Any], changes: list[Any]) -> None:
    for name in ("ours", "theirs"):
        _target(spark, name, rows)
    with computed_rows(_changes(spark, changes)) as computed:
        ours = _merge(computed).replace_rows(_name("ours"), "")
        theirs = _merge(computed).run_statement(_name("theirs"))
    assert ours == theirs
    assert _rows(spark, "ours") == _rows(spark, "theirs")
    if ours != MergeCounts():
        found, expected = _metrics(spark, "ours"), _metrics(spark, "theirs")
        assert {key: found[key] for key in COMPARED} == {key: expected[key] for key in COMPARED}


def test_marked_rows_are_those_of_a_merge(lane: SparkSession) -> None:
    _law(lane)


def test_files_out_of_range_are_not_read(lane: SparkSession) -> None:
    _target(lane, "ours", [(1, 1, "a"), (2, 1, "b")])
    with computed_rows(_changes(lane, [((2, 2, "z"), False), ((1, 2, "z"), False)])) as changes:
        done = _merge(changes, "t.k <=> s.__key.k AND t.k >= 2").replace_rows(_name("ours"), "t.k >= 2")
    assert done == MergeCounts(inserted=1, updated=1)
    assert _rows(lane, "ours") == [(-2, 0, "b"), (1, 1, "a"), (1, 2, "z"), (2, 2, "z")]


@pytest.mark.parametrize(
    "properties",
    [
        "'delta.enableDeletionVectors' = 'false'",
        "'delta.enableDeletionVectors' = 'true', 'delta.enableChangeDataFeed' = 'true'",
        "'delta.enableDeletionVectors' = 'true', 'delta.enableRowTracking' = 'true'",
    ],
)
def test_a_merge_writes_tables_without_vectors_and_those_with_a_history(
    lane: SparkSession, properties: str
) -> None:
    _target(lane, "ours", [(1, 1, "a")], properties)
    with computed_rows(_changes(lane, [((1, 2, "z"), False)])) as changes:
        assert _merge(changes).replace_rows(_name("ours"), "") is None
    assert _rows(lane, "ours") == [(-2, 0, "b"), (1, 1, "a")]


def test_a_merge_writes_a_table_with_further_columns(lane: SparkSession) -> None:
    _target(lane, "ours", [(1, 1, "a")])
    lane.sql(f"ALTER TABLE main.{SCHEMA}.ours ADD COLUMN more STRING")
    with computed_rows(_changes(lane, [((1, 2, "z"), False)])) as changes:
        assert _merge(changes).replace_rows(_name("ours"), "") is None


def test_a_constraint_holds_for_new_rows(lane: SparkSession) -> None:
    _target(lane, "ours", [(1, 1, "a")])
    lane.sql(f"ALTER TABLE main.{SCHEMA}.ours ADD CONSTRAINT small CHECK (seq < 3)")
    with (
        computed_rows(_changes(lane, [((1, 3, "z"), False)])) as changes,
        pytest.raises(Exception, match="DELTA_VIOLATE_CONSTRAINT_WITH_VALUES"),
    ):
        _merge(changes).replace_rows(_name("ours"), "")
    assert _rows(lane, "ours") == [(-2, 0, "b"), (1, 1, "a")]


CHANGES: list[tuple[tuple[Any, ...], bool]] = [
    ((1, 2, "z"), False),
    ((2, 0, "z"), False),
    ((3, 1, "z"), False),
    ((4, 2, "z"), True),
    ((7, 2, "z"), False),
    ((None, 2, "y"), False),
]
# Of each kind of table: its columns, a clause, a further property and a statement.
TABLES = {
    "column mapping": ("", "", "delta.columnMapping.mode = 'name'", ""),
    "a renamed column": (
        "",
        "",
        "delta.columnMapping.mode = 'name'",
        "ALTER TABLE {t} RENAME COLUMN x TO w; ALTER TABLE {t} RENAME COLUMN w TO x",
    ),
    "partitions": ("", "PARTITIONED BY (x)", "", ""),
    "partitions by the key": ("", "PARTITIONED BY (k)", "", ""),
    "clustering": ("", "CLUSTER BY (k)", "", ""),
    "upper case": ("K INT, SEQ INT, X STRING", "", "", ""),
    "a default value": (
        "k INT, seq INT, x STRING DEFAULT 'd'",
        "",
        "delta.feature.allowColumnDefaults = 'supported'",
        "",
    ),
    "a collation": ("k INT, seq INT, x STRING COLLATE UTF8_LCASE", "", "", ""),
    "in-commit timestamps": ("", "", "delta.enableInCommitTimestamps = 'true'", ""),
    "a key out of the statistics": ("", "", "delta.dataSkippingNumIndexedCols = 0", ""),
    "a short text": ("k INT, seq INT, x VARCHAR(1)", "", "", ""),
    "a constraint": ("", "", "", "ALTER TABLE {t} ADD CONSTRAINT small CHECK (seq < 3)"),
    "a violated constraint": ("", "", "", "ALTER TABLE {t} ADD CONSTRAINT old CHECK (x <> 'z')"),
    "a violated NOT NULL": (
        "",
        "",
        "",
        "DELETE FROM {t} WHERE k IS NULL; ALTER TABLE {t} ALTER COLUMN k SET NOT NULL",
    ),
    "append-only": ("", "", "", "ALTER TABLE {t} SET TBLPROPERTIES (delta.appendOnly = 'true')"),
}


@pytest.mark.parametrize("kind", TABLES)
def test_each_kind_of_table_is_written_as_by_a_merge(lane: SparkSession, kind: str) -> None:
    columns, clause, more, statements = TABLES[kind]
    rows = [(1, 1, "a"), (2, 1, "b"), (3, 1, "y"), (4, 1, "c"), (5, 1, "a"), (None, 1, "a")]
    properties = ", ".join(filter(None, ["'delta.enableDeletionVectors' = 'true'", more]))
    for name in ("ours", "theirs"):
        _target(lane, name, rows, properties, columns or "k INT, seq INT, x STRING", clause)
        for statement in filter(None, statements.split("; ")):
            lane.sql(statement.format(t=f"main.{SCHEMA}.{name}"))
    with computed_rows(_changes(lane, CHANGES)) as changes:
        ours = _outcome(lambda: _merge(changes).replace_rows(_name("ours"), ""))
        theirs = _outcome(lambda: _merge(changes).run_statement(_name("theirs")))
    assert ours == theirs
    assert _rows(lane, "ours") == _rows(lane, "theirs")


def _outcome(merge: Callable[[], MergeCounts | None]) -> Any:
    try:
        return merge()
    except PySparkException as error:
        return error.getCondition()


def test_rows_that_were_appended_meanwhile_are_a_conflict(lane: SparkSession) -> None:
    _target(lane, "ours", [(1, 1, "a"), (2, 1, "b")])
    with computed_rows(_changes(lane, [((1, 2, "z"), False)])) as changes:
        files = FileReplacement(lane, _name("ours"), "t.k >= 1", rewrites_small=False)
        lane.sql(f"INSERT INTO main.{SCHEMA}.ours VALUES (1, 5, 'later')")
        assert files.markable is not None
        files.mark(files.markable.where("k = 1"))
        files.write(changes.select("__row.*"), 1)
        with pytest.raises(Exception, match="DELTA_CONCURRENT_APPEND"):
            files.commit("MERGE", updated=1)
    assert _rows(lane, "ours") == [(-2, 0, "b"), (1, 1, "a"), (1, 5, "later"), (2, 1, "b")]
