"""Standalone materialized views and streaming tables: the grammar. The package `pipelines` runs it.

https://docs.databricks.com/aws/en/sql/language-manual/sql-ref-syntax-ddl-create-materialized-view
"""

from __future__ import annotations

from dataclasses import dataclass

from lakeward.errors import SqlError
from lakeward.sql.construct import (
    BEGINNING,
    Command,
    Construct,
    Edit,
    Edits,
    Refusal,
    RewriteResult,
    in_area,
    syntax_error,
)
from lakeward.sql.refresh_schedules import read_schedule, read_update_trigger
from lakeward.sql.standalone_tables import LABELS, DatasetKind
from lakeward.sql.token_cursor import TokenCursor, Unmatched

_TEST = "tests/sql/test_standalone_tables.py"


@dataclass(frozen=True)
class CreateStandaloneTable(Command):
    """Creates, replaces or refreshes a materialized view or streaming table from its definition.

    Attributes:
        kind: What it creates.
        table: The name.
        text: The whole statement.
        or_replace: Whether an existing one gets this definition: OR REPLACE, OR REFRESH.
        if_not_exists: Whether an existing one stays as it is.
    """

    kind: DatasetKind
    table: list[str]
    text: str
    or_replace: bool
    if_not_exists: bool


@dataclass(frozen=True)
class RefreshStandaloneTable(Command):
    """Refreshes a materialized view or streaming table.

    Attributes:
        kind: The kind that the statement names; None for REFRESH TABLE.
        table: The name.
        text: The whole statement.
        full: Whether all input is processed again.
    """

    kind: DatasetKind | None
    table: list[str]
    text: str
    full: bool


@dataclass(frozen=True)
class DropMaterializedView(Command):
    """Drops a materialized view with its definition."""

    table: list[str]
    if_exists: bool


@dataclass(frozen=True)
class AlterSchedule(Command):
    """Sets the schedule of a materialized view or streaming table.

    Attributes:
        kind: The kind that the statement names.
        table: The name.
        schedule: The clause; "" removes the schedule.
        is_new: Whether the table must not have a schedule yet: ADD.
    """

    kind: DatasetKind
    table: list[str]
    schedule: str
    is_new: bool = False


@dataclass(frozen=True)
class ExplainMaterializedView(Command):
    """Shows whether the view of a CREATE statement can be refreshed incrementally.

    Attributes:
        table: The name of the view.
        text: The CREATE statement.
    """

    table: list[str]
    text: str


def _explain(cursor: TokenCursor) -> ExplainMaterializedView:
    cursor.need("EXPLAIN")
    begin = cursor.at
    created = _create_materialized_view(cursor)
    return ExplainMaterializedView(created.table, cursor.text(begin))


def _create_materialized_view(cursor: TokenCursor) -> CreateStandaloneTable:
    cursor.need("CREATE")
    or_replace = cursor.words("OR", "REPLACE") or cursor.words("OR", "REFRESH")
    cursor.need("MATERIALIZED", "VIEW")
    return _definition(cursor, "materialized_view", or_replace=or_replace)


def _create_streaming_table(cursor: TokenCursor) -> RewriteResult:
    cursor.need("CREATE")
    replace = cursor.words("OR", "REPLACE")
    refresh = not replace and cursor.words("OR", "REFRESH")
    cursor.need("STREAMING", "TABLE")
    if replace:
        return Refusal(
            "STREAMING_TABLE_OPERATION_NOT_ALLOWED.CREATE_OR_REPLACE",
            "The operation CREATE OR REPLACE is not allowed: a streaming table cannot be replaced. "
            "Write CREATE OR REFRESH.",
            "42601",
        )
    return _definition(cursor, "streaming_table", or_replace=refresh)


def _definition(cursor: TokenCursor, kind: DatasetKind, *, or_replace: bool) -> CreateStandaloneTable:
    if_not_exists = not or_replace and cursor.words("IF", "NOT", "EXISTS")
    table = cursor.name(3)
    cursor.finish()
    return CreateStandaloneTable(
        kind, table, cursor.text(0), or_replace=or_replace, if_not_exists=if_not_exists
    )


def _kind(cursor: TokenCursor) -> DatasetKind:
    if cursor.words("MATERIALIZED", "VIEW"):
        return "materialized_view"
    if cursor.words("STREAMING", "TABLE"):
        return "streaming_table"
    raise Unmatched


def _refresh(cursor: TokenCursor) -> RefreshStandaloneTable:
    cursor.need("REFRESH")
    kind = None if cursor.words("TABLE") else _kind(cursor)
    table = cursor.name(3)
    full = cursor.words("FULL")
    if not cursor.words("SYNC"):
        cursor.words("ASYNC")
    cursor.end()
    return RefreshStandaloneTable(kind, table, cursor.text(0), full=full)


def _drop(cursor: TokenCursor) -> DropMaterializedView:
    cursor.need("DROP", "MATERIALIZED", "VIEW")
    if_exists = cursor.words("IF", "EXISTS")
    table = cursor.name(3)
    cursor.end()
    return DropMaterializedView(table, if_exists=if_exists)


def _alter(cursor: TokenCursor) -> AlterSchedule | Refusal:
    cursor.need("ALTER")
    kind = _kind(cursor)
    table = cursor.name(3)
    action = cursor.one_of("ADD", "ALTER", "DROP")
    begin = cursor.at
    clause = cursor.one_of("SCHEDULE", "TRIGGER")
    try:
        if clause == "TRIGGER":
            cursor.need("ON")
            read_update_trigger(cursor)
        elif action != "DROP":
            read_schedule(cursor)
        cursor.end()
    except Unmatched:
        return syntax_error(cursor, f"ALTER {LABELS[kind].upper()}")
    except SqlError as error:
        return Refusal.of(error)
    text = "" if action == "DROP" else cursor.text(begin)
    return AlterSchedule(kind, table, text, is_new=action == "ADD")


def _comment_on_column(cursor: TokenCursor) -> Edits:
    """Parse ALTER MATERIALIZED VIEW m ALTER COLUMN c COMMENT 'text': Spark has ALTER TABLE alone."""
    cursor.need("ALTER")
    begin = cursor.at
    _kind(cursor)
    first, *others = cursor.read(begin)
    cursor.name(3)
    cursor.need("ALTER")
    cursor.words("COLUMN")
    cursor.part()
    cursor.need("COMMENT")
    cursor.string()
    cursor.end()
    return Edits(
        (Edit(first.start, first.end, "TABLE"), *(Edit(word.start, word.end, "") for word in others))
    )


CONSTRUCTS = in_area(
    "Materialized views and streaming tables",
    Construct(
        name="CREATE MATERIALIZED VIEW",
        example="CREATE OR REPLACE MATERIALIZED VIEW m SCHEDULE EVERY 1 HOUR AS SELECT count(*) AS n FROM t",
        note="a pipeline of its own, which runs before the statement ends; all clauses of pipeline files",
        statement=_create_materialized_view,
        trigger=BEGINNING + r"create\s+(?:or\s+re(?:place|fresh)\s+)?materialized\b",
        test=_TEST,
    ),
    Construct(
        name="EXPLAIN CREATE MATERIALIZED VIEW",
        example="EXPLAIN CREATE MATERIALIZED VIEW m AS SELECT count(*) AS n FROM t",
        note="the techniques of an incremental refresh, or each reason against one",
        statement=_explain,
        trigger=BEGINNING + r"explain\s+create\s+(?:or\s+re(?:place|fresh)\s+)?materialized\b",
        test=_TEST,
    ),
    Construct(
        name="CREATE STREAMING TABLE",
        example="CREATE OR REFRESH STREAMING TABLE s AS SELECT * FROM STREAM t",
        note="processes what is new since its last refresh; read_files, tables and FLOW AUTO CDC as sources",
        statement=_create_streaming_table,
        trigger=BEGINNING + r"create\s+(?:or\s+re(?:place|fresh)\s+)?streaming\s+table\b",
        test=_TEST,
    ),
    Construct(
        name="REFRESH MATERIALIZED VIEW, REFRESH STREAMING TABLE",
        example="REFRESH MATERIALIZED VIEW m FULL",
        note="with FULL, SYNC and ASYNC; an ASYNC refresh, too, ends before the statement",
        statement=_refresh,
        trigger=BEGINNING + r"refresh\s+(?:materialized|streaming|table)\b",
        test=_TEST,
    ),
    Construct(
        name="DROP MATERIALIZED VIEW",
        example="DROP MATERIALIZED VIEW IF EXISTS m",
        note="a streaming table is dropped by DROP TABLE",
        statement=_drop,
        trigger=BEGINNING + r"drop\s+materialized\b",
        test=_TEST,
    ),
    Construct(
        name="ALTER MATERIALIZED VIEW, ALTER STREAMING TABLE: SCHEDULE, TRIGGER ON UPDATE",
        example="ALTER MATERIALIZED VIEW m ALTER SCHEDULE CRON '0 0 * * * ?'",
        note="kept and shown by DESCRIBE EXTENDED; here only statements start a refresh",
        statement=_alter,
        trigger=BEGINNING + r"alter\s+(?:materialized\s+view|streaming\s+table)\b",
        test=_TEST,
    ),
    Construct(
        name="ALTER MATERIALIZED VIEW, ALTER STREAMING TABLE: ALTER COLUMN … COMMENT",
        verdict="rewritten",
        example="ALTER MATERIALIZED VIEW m ALTER COLUMN n COMMENT 'number of rows'",
        note="ALTER TABLE",
        statement=_comment_on_column,
        trigger=BEGINNING + r"alter\s+(?:materialized\s+view|streaming\s+table)\b",
        test=_TEST,
    ),
)
