"""Row filters and column masks: functions that say what readers see of a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lakeward.sql.construct import Construct
from lakeward.sql.constructs.column_list import items
from lakeward.sql.cursor import Cursor, Unmatched
from lakeward.sql.outcome import Command, Outcome
from lakeward.sql.tokens import Token

__all__ = ["CONSTRUCTS", "policy_clauses"]

_AREA = "Governance"
_KINDS = (("TABLE",), ("STREAMING", "TABLE"), ("MATERIALIZED", "VIEW"))


def _table(cursor: Cursor) -> list[str]:
    cursor.need("ALTER")
    if not any(cursor.words(*kind) for kind in _KINDS):
        raise Unmatched
    return cursor.name(3)


def _function(cursor: Cursor, *before_arguments: str, required: bool) -> dict[str, Any]:
    """`f ON (a, 'x')`: the function's name, and each argument as a column or as a literal's text."""
    function = cursor.name(3)
    arguments: list[dict[str, str]] = []
    if required:
        cursor.need(*before_arguments)
    elif not cursor.words(*before_arguments):
        return {"function": function, "arguments": arguments}
    cursor.need("(")
    while not cursor.words(")"):
        if arguments:
            cursor.need(",")
        arguments.append(_argument(cursor))
    return {"function": function, "arguments": arguments}


def _argument(cursor: Cursor) -> dict[str, str]:
    token = cursor.next
    if token is not None and token.is_name and token.word not in ("TRUE", "FALSE", "NULL"):
        return {"column": cursor.part()}
    begin = cursor.at
    while cursor.next is not None and cursor.next.text not in (",", ")"):
        cursor.at += 1
    if cursor.at == begin:
        raise Unmatched
    return {"literal": cursor.text(begin)}


def _alter_row_filter(cursor: Cursor) -> Outcome:
    """ALTER TABLE t SET ROW FILTER f ON (…), ALTER TABLE t DROP ROW FILTER."""
    table = _table(cursor)
    if cursor.words("DROP", "ROW", "FILTER"):
        cursor.end()
        return Command("drop_row_filter", {"table": table})
    cursor.need("SET", "ROW", "FILTER")
    policy = _function(cursor, "ON", required=True)
    cursor.end()
    return Command("set_row_filter", {"table": table, **policy})


def _alter_mask(cursor: Cursor) -> Outcome:
    """ALTER TABLE t ALTER COLUMN c SET MASK f USING COLUMNS (…), … DROP MASK."""
    table = _table(cursor)
    cursor.one_of("ALTER", "CHANGE")
    cursor.words("COLUMN")
    column = cursor.part()
    if cursor.words("DROP", "MASK"):
        cursor.end()
        return Command("drop_mask", {"table": table, "column": column})
    cursor.need("SET", "MASK")
    policy = _function(cursor, "USING", "COLUMNS", required=False)
    cursor.end()
    return Command("set_mask", {"table": table, "column": column, **policy})


def policy_clauses(
    tokens: Sequence[Token], text: str
) -> tuple[dict[str, Any] | None, dict[str, Any], list[Token]]:
    """The row filter and the masks of CREATE TABLE, and the tokens that say so."""
    masks, gone = _masks(tokens, text)
    row_filter, clause = _row_filter(tokens, text)
    return row_filter, masks, gone + clause


def _masks(tokens: Sequence[Token], text: str) -> tuple[dict[str, Any], list[Token]]:
    """The masks by column, and the tokens that say so: `ssn STRING MASK f USING COLUMNS (a)`."""
    found: dict[str, Any] = {}
    gone: list[Token] = []
    for item in items(tokens):
        place = next((i for i in range(2, len(item) - 1) if _begins_mask(item, i)), None)
        if place is None:
            continue
        cursor = Cursor(item, text)
        column = cursor.part()
        cursor.at = place + 1
        found[column] = _function(cursor, "USING", "COLUMNS", required=False)
        gone += item[place : cursor.at]
    return found, gone


def _begins_mask(item: Sequence[Token], place: int) -> bool:
    return item[place].word == "MASK" and item[place + 1].is_name and item[place - 1].text not in (",", "<")


def _row_filter(tokens: Sequence[Token], text: str) -> tuple[dict[str, Any] | None, list[Token]]:
    """The clause `[WITH] ROW FILTER f ON (…)` among those of the table."""
    depth = 0
    for place, token in enumerate(tokens):
        depth += {"(": 1, ")": -1}.get(token.text, 0)
        if depth == 0 and token.word == "AS":
            break
        if depth == 0 and [t.word for t in tokens[place : place + 2]] == ["ROW", "FILTER"]:
            cursor = Cursor(tokens, text)
            cursor.at = place + 2
            policy = _function(cursor, "ON", required=True)
            begin = place - 1 if tokens[place - 1].word == "WITH" else place
            return policy, list(tokens[begin : cursor.at])
    return None, []


_NOTE = (
    "for every read by name through lakeward, in SQL and in DataFrames, views and streams; what a statement "
    "writes to is the table itself. No security boundary: whoever reads the folder reads the table"
)

CONSTRUCTS = (
    Construct(
        "SET ROW FILTER, DROP ROW FILTER",
        _AREA,
        "added",
        "ALTER TABLE t SET ROW FILTER main.default.in_my_region ON (region)",
        _NOTE,
        ("ALTER",),
        _alter_row_filter,
        test="tests/sql/test_policies.py",
    ),
    Construct(
        "SET MASK, DROP MASK",
        _AREA,
        "added",
        "ALTER TABLE t ALTER COLUMN ssn SET MASK main.default.hidden USING COLUMNS (region)",
        "as row filters; the mask's value has the column's type",
        ("ALTER",),
        _alter_mask,
        test="tests/sql/test_policies.py",
    ),
)
