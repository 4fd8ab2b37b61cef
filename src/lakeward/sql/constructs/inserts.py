"""INSERT … REPLACE USING and REPLACE ON, which Spark parses and Delta does not carry out."""

from __future__ import annotations

from lakeward.sql.construct import BEGINNING, Construct
from lakeward.sql.cursor import Cursor, Unmatched
from lakeward.sql.outcome import Command, Outcome

__all__ = ["CONSTRUCTS"]

_AREA = "Tables"
_QUERY = ("SELECT", "VALUES", "TABLE", "WITH", "FROM", "MAP", "REDUCE")


def _replace(cursor: Cursor) -> Outcome:
    cursor.need("INSERT", "INTO")
    cursor.words("TABLE")
    table = cursor.name()
    columns: list[str] | None = None
    by_name = cursor.words("BY", "NAME")
    alias = None
    if not by_name and cursor.words("("):
        columns = _names(cursor)
    elif not by_name and (cursor.words("AS") or (cursor.next is not None and cursor.next.word != "REPLACE")):
        alias = cursor.part()
    cursor.need("REPLACE")
    using = on = None
    if cursor.words("USING"):
        cursor.need("(")
        using = _names(cursor)
    else:
        cursor.need("ON")
        on = _condition(cursor)
    query, source = _query(cursor)
    return Command(
        "insert_replace",
        {
            "table": table,
            "columns": columns,
            "by_name": by_name,
            "alias": alias,
            "using": using,
            "on": on,
            "query": query,
            "source": source,
        },
    )


def _names(cursor: Cursor) -> list[str]:
    """The names up to the closing parenthesis; the opening one is read."""
    names = [cursor.part()]
    while cursor.words(","):
        names.append(cursor.part())
    cursor.need(")")
    return names


def _condition(cursor: Cursor) -> str:
    """Everything up to the query."""
    begin = cursor.at
    depth = 0
    while cursor.next is not None:
        token = cursor.next
        if depth == 0 and cursor.at > begin and (token.word in _QUERY or _opens_query(cursor)):
            return cursor.text(begin)
        depth += {"(": 1, ")": -1}.get(token.text, 0)
        cursor.at += 1
    raise Unmatched


def _opens_query(cursor: Cursor) -> bool:
    ahead = cursor.ahead(2)
    return len(ahead) == 2 and ahead[0].text == "(" and ahead[1].word in _QUERY


def _query(cursor: Cursor) -> tuple[str, str | None]:
    """The query, and its alias when it stands in parentheses with one."""
    begin = cursor.at
    if not _opens_query(cursor):
        if cursor.next is None:
            raise Unmatched
        cursor.finish()
        return cursor.text(begin), None
    depth = 0
    while cursor.next is not None:
        depth += {"(": 1, ")": -1}.get(cursor.next.text, 0)
        cursor.at += 1
        if depth == 0:
            break
    end = cursor.at
    if cursor.next is None:
        return cursor.text(begin, end), None
    cursor.words("AS")
    source = cursor.part()
    cursor.end()
    return cursor.text(begin, end), source


CONSTRUCTS = (
    Construct(
        "INSERT … REPLACE USING, REPLACE ON",
        _AREA,
        "added",
        "INSERT INTO t AS t REPLACE ON t.id = s.id (SELECT 1 AS id) AS s",
        "one MERGE: rows that a row of the query replaces go, all rows of the query come",
        ("INSERT",),
        _replace,
        trigger=BEGINNING + r"insert\s+into\s.*?\breplace\s+(?:using|on)\b",
    ),
)
