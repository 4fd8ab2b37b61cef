"""Parses the text of one statement. Pure: no Spark, no files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

from lakeward.pipelines.graph.column_ddl import NestedTokenCursor, dotted_name, format_ddl, parse_columns
from lakeward.pipelines.graph.elements import ReplaceSpec
from lakeward.pipelines.sql.clauses import QUERY_KEYWORDS, SCHEDULES, parse_changes, parse_clauses
from lakeward.pipelines.sql.statements import DatasetStatement, FlowStatement, SetStatement, UseStatement
from lakeward.sql import Unmatched, tokenize

Statement = DatasetStatement | FlowStatement | SetStatement | UseStatement
_STREAMING = ("STREAMING TABLE", "STREAMING LIVE TABLE", "INCREMENTAL LIVE TABLE", "INCREMENTAL TABLE")
_VIEWS = ("LIVE VIEW", "STREAMING LIVE VIEW", "INCREMENTAL LIVE VIEW", "VIEW")
DATASET_KINDS: dict[str, Literal["streaming_table", "materialized_view", "view"]] = {
    **dict.fromkeys(_STREAMING, "streaming_table"),
    **dict.fromkeys(("MATERIALIZED VIEW", "LIVE TABLE"), "materialized_view"),
    **dict.fromkeys(_VIEWS, "view"),
}
INSERTS = ("INSERT INTO ONCE", "INSERT ONCE INTO", "INSERT INTO")
REPLACES = ("REPLACE WHERE", "REPLACE USING")
CHANGES = ("AUTO CDC ONCE INTO", "AUTO CDC INTO ONCE", "AUTO CDC INTO", "APPLY CHANGES INTO")


_FIRST_WORDS = """
    ( ALTER ANALYZE APPLY AUTO BEGIN CACHE CALL CLEAR COMMENT COPY CREATE DECLARE DELETE DENY
    DESC DESCRIBE DROP EXECUTE EXPLAIN FROM FSCK GENERATE GET GRANT INSERT LIST LOAD MAP
    MERGE MSCK OPTIMIZE PUT REDUCE REFRESH REMOVE REORG REPAIR REPLACE RESET RESTORE REVOKE
    SELECT SET SHOW SYNC TABLE TRUNCATE UNCACHE UNDROP UNSET UPDATE USE VACUUM VALUES WITH
"""
STATEMENTS = frozenset(_FIRST_WORDS.split())
"""The first words of all statements of Databricks SQL: what begins with another one is a typing error."""


class SqlSyntaxError(Exception):
    """The statement is invalid at the character `offset`, where the token `found` is.

    `expected` are the words that it allows there, if known. `is_other` marks a complete statement of another
    kind.
    """

    def __init__(
        self, offset: int, found: str, *, expected: Sequence[str] = (), is_other: bool = False
    ) -> None:
        super().__init__(found)
        self.offset, self.found, self.is_other = offset, found, is_other
        self.expected = f"Expected: {', '.join(expected)}." if expected else None


def parse_statement(text: str) -> Statement:
    """Parse a statement of a pipeline's SQL file. Raises SqlSyntaxError.

    >>> parse_statement("CREATE OR REFRESH MATERIALIZED VIEW m AS SELECT 1").query
    (41, 49)
    """
    tokens = tokenize(text)
    if tokens is None:
        raise SqlSyntaxError(len(text), "end of file")
    cursor = NestedTokenCursor(tokens, text)
    try:
        return _parse(cursor)
    except Unmatched as error:
        stopped = cursor.stopped_at or cursor.next
        if stopped is None:
            raise SqlSyntaxError(len(text.rstrip()), "end of statement", expected=error.expected) from None
        is_other = cursor.at == 0 and stopped.text.upper() in STATEMENTS
        raise SqlSyntaxError(
            stopped.start, stopped.text, expected=error.expected, is_other=is_other
        ) from None


def _parse(cursor: NestedTokenCursor) -> Statement:
    if cursor.words("SET"):
        return _parse_set(cursor)
    if cursor.words("USE"):
        return _parse_use(cursor)
    if cursor.is_next(*INSERTS, *CHANGES):
        return _parse_flow(cursor, None, None)
    if cursor.phrase("CREATE FLOW", "CREATE OR REPLACE FLOW", "CREATE OR REFRESH FLOW"):
        name = dotted_name(cursor.name(3))
        comment = cursor.string() if cursor.words("COMMENT") else None
        cursor.need("AS")
        return _parse_flow(cursor, name, comment)
    return _parse_dataset(cursor)


def _parse_dataset(cursor: NestedTokenCursor) -> DatasetStatement:
    start = cursor.at
    cursor.need("CREATE")
    cursor.phrase("OR REFRESH", "OR REPLACE")
    private = cursor.phrase("PRIVATE", "TEMPORARY", "TEMP") is not None
    spelling = cursor.phrase(*DATASET_KINDS)
    if spelling is None:
        cursor.at = start
        raise Unmatched
    kind = DATASET_KINDS[spelling]
    cursor.words("IF", "NOT", "EXISTS")
    if cursor.is_next("AS"):
        # The name is missing, as where it was a parameter without a value: AS is not one.
        raise Unmatched
    name = dotted_name(cursor.name(3))
    columns, expectations = parse_columns(cursor) if cursor.is_next("(") else ((), ())
    options, ignored = parse_clauses(cursor)
    without_effect = tuple(ignored)
    if kind != "view" and private:
        options["private"] = True
    if kind == "view" and spelling == "VIEW" and not private:
        options["stored"] = True
    if any(column.mask for column in columns) and format_ddl(columns) is None:
        without_effect = (*without_effect, "MASK")
    schedule = next((ignored[clause] for clause in SCHEDULES if clause in ignored), None)
    statement = DatasetStatement(
        kind, name, columns, expectations, options, warnings=without_effect, schedule=schedule
    )
    if cursor.words("FLOW"):
        return _with_flow(statement, cursor)
    if cursor.words("AS") or cursor.is_next(*QUERY_KEYWORDS):
        return replace(statement, query=cursor.rest())
    if kind != "streaming_table":
        raise Unmatched("AS")
    return statement


def _with_flow(statement: DatasetStatement, cursor: NestedTokenCursor) -> DatasetStatement:
    """Return the statement with its flow: a query to insert, or AUTO CDC."""
    if cursor.phrase("INSERT BY NAME", "INSERT") or cursor.is_next(*REPLACES):
        replaces = _parse_replace_spec(cursor)
        return replace(statement, query=cursor.rest(), replaces=replaces)
    cursor.one_of("AUTO", "APPLY")
    cursor.one_of("CDC", "CHANGES")
    return replace(statement, changes=parse_changes(cursor, statement.name, once=cursor.words("ONCE")))


def _parse_flow(cursor: NestedTokenCursor, name: str | None, comment: str | None) -> FlowStatement:
    insert = cursor.phrase(*INSERTS)
    if insert is not None:
        cursor.words("TABLE")
        target = dotted_name(cursor.name(3))
        cursor.words("BY", "NAME")
        replaces = _parse_replace_spec(cursor)
        return FlowStatement(target, name, comment, "ONCE" in insert, query=cursor.rest(), replaces=replaces)
    apply = cursor.phrase(*CHANGES)
    if apply is None:
        raise Unmatched(*CHANGES, *INSERTS)
    target = dotted_name(cursor.name(3))
    changes = parse_changes(cursor, target, once="ONCE" in apply)
    return FlowStatement(target, name, comment, changes.once, changes=changes)


def _parse_replace_spec(cursor: NestedTokenCursor) -> ReplaceSpec | None:
    """Parse REPLACE WHERE condition, REPLACE USING (keys) SEQUENCE BY column, or neither."""
    found = None
    if cursor.words("REPLACE", "WHERE"):
        found = ReplaceSpec(where=cursor.until("BY NAME", *QUERY_KEYWORDS))
    elif cursor.words("REPLACE", "USING"):
        keys = tuple(cursor.names())
        cursor.need("SEQUENCE", "BY")
        found = ReplaceSpec(keys, sequence_by=cursor.until("BY NAME", *QUERY_KEYWORDS))
    cursor.words("BY", "NAME")
    return found


def _parse_set(cursor: NestedTokenCursor) -> SetStatement:
    # Keys may contain any word; the value extends to the end and may be quoted.
    key = "".join(cursor.until("=").split()).replace("`", "")
    if not cursor.words("="):
        return SetStatement(key, None)
    if cursor.next is None:
        return SetStatement(key, "")
    if cursor.next.is_string:
        value = cursor.string()
        cursor.end()
        return SetStatement(key, value)
    begin, end = cursor.rest()
    return SetStatement(key, cursor.source[begin:end].strip())


def _parse_use(cursor: NestedTokenCursor) -> UseStatement:
    if cursor.words("CATALOG"):
        catalog = _single_name(cursor)
        return UseStatement(catalog=catalog)
    cursor.phrase("SCHEMA", "DATABASE")
    parts: Any = [cursor.string()] if cursor.is_string else cursor.name(2)
    cursor.end()
    return UseStatement(*parts) if len(parts) == 2 else UseStatement(schema=parts[0])


def _single_name(cursor: NestedTokenCursor) -> str:
    value = cursor.part_or_string()
    cursor.end()
    return value
