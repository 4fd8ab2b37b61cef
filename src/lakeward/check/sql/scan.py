"""What a piece of SQL uses: tables that it reads and makes, and everything that is not plain SQL."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

from lakeward.check.collector import Sink
from lakeward.check.model import Kind
from lakeward.check.sql.constructs import constructs_in
from lakeward.check.sql.tokens import Statement, name_at, statements, words
from lakeward.check.sql.views import FILE_FORMATS, obstacles_in, view_at
from lakeward.check.values import HOLE, Text
from lakeward.check.view_obstacles import encode_obstacles
from lakeward.quoting import names_path
from lakeward.sql import unquote_token

if TYPE_CHECKING:
    from lakeward.sql import Token

# Functions with a FROM of their own: extract(year FROM day).
_OWN_FROM = frozenset(("EXTRACT", "TRIM", "SUBSTRING", "SUBSTR", "OVERLAY", "POSITION", "LTRIM", "RTRIM"))
_MODIFIERS = frozenset(
    (
        *("OR", "REPLACE", "REFRESH", "TEMP", "TEMPORARY", "GLOBAL", "LIVE", "STREAMING", "MATERIALIZED"),
        *("EXTERNAL", "PRIVATE", "MANAGED"),
    )
)
_NO_TABLE = frozenset(
    ("DIRECTORY", "LOCAL", "LATERAL", "VALUES", "UNNEST", "SELECT", "SET", "ONLY", "IDENTIFIER")
)
# Their FROM is followed by a schema or a principal.
_WITHOUT_TABLES = ("SHOW", "REVOKE")
_NOT_AN_ALIAS = frozenset(
    (
        *(
            "WHERE",
            "JOIN",
            "LEFT",
            "RIGHT",
            "INNER",
            "FULL",
            "CROSS",
            "OUTER",
            "ON",
            "GROUP",
            "ORDER",
            "LIMIT",
        ),
        *(
            "UNION",
            "HAVING",
            "QUALIFY",
            "WINDOW",
            "PIVOT",
            "UNPIVOT",
            "TABLESAMPLE",
            "SEMI",
            "ANTI",
            "NATURAL",
        ),
        *(
            "USING",
            "WHEN",
            "SET",
            "VALUES",
            "SELECT",
            "VERSION",
            "TIMESTAMP",
            "FOR",
            "WITH",
            "SORT",
            "CLUSTER",
        ),
        *(
            "DISTRIBUTE",
            "EXCEPT",
            "INTERSECT",
            "MINUS",
            "LATERAL",
            "OFFSET",
            "BY",
            "PARTITION",
            "TBLPROPERTIES",
        ),
    )
)


_OF_PIPELINES = frozenset(("STREAMING", "MATERIALIZED", "LIVE", "PRIVATE"))
_TEMPORARY = frozenset(("TEMPORARY", "TEMP"))


def scan_sql(text: Text, sink: Sink) -> None:
    """Emit the uses in all statements of `text`. Raises ValueError for text that is not SQL."""
    for each in statements(text.value):
        statement, names = each.tokens, words(each.tokens)

        def use(
            kind: Kind, name: str, at: int, detail: str | None = None, of: list[Token] = statement
        ) -> None:
            sink.emit(kind, name, *text.place(of[at].start), detail)

        use("statement", each.text, 0)
        for at, name in constructs_in(each, names):
            use("sql", name, at)
        _view(each, text, sink)
        if names[0] in _WITHOUT_TABLES:
            continue
        for kind, at, parts in _schemas(statement, names):
            use(kind, ".".join(parts), at)
        known = set(_common_tables(names, statement))
        for kind, at in _files(statement, names):
            use(kind, unquote_token(statement[at].text), at)
        for at, parts in _created_tables(statement, names):
            if names_path(parts):
                use("path", parts[1], at)
                use("writes_files", parts[1], at)
                continue
            use("creates", ".".join(parts), at, _life_of_table(names, at))
        for at, parts in _read(statement, names):
            if len(parts) == 1 and parts[0].lower() in known:
                continue
            if names_path(parts):
                use("path", parts[1], at)
                use("reads_files", parts[1], at)
            else:
                use("reads", ".".join(parts), at)


def _view(statement: Statement, text: Text, sink: Sink) -> None:
    """Report a materialized view with what keeps it from an incremental refresh."""
    names = words(statement.tokens)
    at = view_at(names)
    if at is None:
        return
    parts, _ = name_at(statement.tokens, at)
    if parts:
        # From the query on: the columns and clauses before it have parentheses and words of their own.
        begin = next((i for i, word in enumerate(names) if word == "AS" and i > at), len(names))
        found = encode_obstacles(obstacles_in(names[begin + 1 :]))
        sink.emit("view", ".".join(parts), *text.place(statement.tokens[at].start), found or None)


def _files(statement: list[Token], names: list[str]) -> Iterator[tuple[Kind, int]]:
    """Yield the positions of strings that are paths of files that a statement reads or writes."""
    of_files = names[0] == "CREATE" and any(
        pair[0] == "USING" and pair[1] in FILE_FORMATS for pair in pairwise(names)
    )
    for at, token in enumerate(statement):
        if token.text[:1] not in ("'", '"') or not at:
            continue
        before = names[at - 1]
        call = names[at - 2] if before == "(" and at > 1 else ""
        if call in ("READ_FILES", "CLOUD_FILES") or (names[0] == "COPY" and before == "FROM"):
            yield "reads_files", at
        elif before == "LOCATION" or (of_files and before == "PATH"):
            yield "reads_files" if of_files else "writes_files", at
        elif before == "DIRECTORY":
            yield "writes_files", at


def _schemas(statement: list[Token], names: list[str]) -> Iterator[tuple[Kind, int, tuple[str, ...]]]:
    """Catalogs and schemas that a statement creates or enters; an empty part marks a catalog."""
    words = names[:3]
    if words[0] == "USE":
        at = 2 if words[1:2] and words[1] in ("CATALOG", "SCHEMA", "DATABASE") else 1
        kind: Kind = "uses_schema"
    elif words[0] == "CREATE" and words[1:2] and words[1] in ("CATALOG", "SCHEMA", "DATABASE"):
        at = 5 if names[2:5] == ["IF", "NOT", "EXISTS"] else 2
        kind = "creates_schema"
    elif "VOLUME" in words and words[0] == "CREATE":
        at = words.index("VOLUME") + (4 if "EXISTS" in names[:6] else 1)
        parts, _ = name_at(statement, at)
        if len(parts) > 1 and parts[0].upper() != "IDENTIFIER":
            yield "uses_schema", at, parts[:-1]
        return
    else:
        return
    parts, _ = name_at(statement, at)
    if parts and parts[0].upper() != "IDENTIFIER":
        yield kind, at, ("", *parts) if words[1] == "CATALOG" else parts


def _common_tables(names: list[str], statement: list[Token]) -> Iterator[str]:
    """Yield the names that a WITH defines: `name [(columns)] [MAX RECURSION LEVEL 9] [AS] (query)`."""
    for start, word in enumerate(names):
        if word != "WITH":
            continue
        at = start + 1 + (names[start + 1 : start + 2] == ["RECURSIVE"])
        while at < len(names):
            name, at = statement[at].text, at + 1
            query = _skip_parenthesized(names, at)
            if names[query : query + 3] == ["MAX", "RECURSION", "LEVEL"]:
                query += 4
            query += names[query : query + 1] == ["AS"]
            # Without a second pair of parentheses the first one has the query.
            at = _skip_parenthesized(names, query)
            if names[at - 1] != ")":
                break
            yield unquote_token(name).lower()
            if names[at : at + 1] != [","]:
                break
            at += 1


def _skip_parenthesized(names: list[str], at: int) -> int:
    """Return the position after the parentheses that open at `at`; `at` if none do."""
    depth = 0
    for position in range(at, len(names)):
        depth += (names[position] == "(") - (names[position] == ")")
        if not depth:
            return position + (names[position] == ")")
    return len(names)


def _created_tables(statement: list[Token], names: list[str]) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yield the tables and views that CREATE makes."""
    for start, word in enumerate(names):
        if word != "CREATE":
            continue
        at = start + 1
        while at < len(names) and names[at] in _MODIFIERS:
            at += 1
        if at >= len(names) or names[at] not in ("TABLE", "VIEW"):
            continue
        at += 1
        if names[at : at + 3] == ["IF", "NOT", "EXISTS"]:
            at += 3
        parts, _ = name_at(statement, at)
        if parts:
            prefix = ("global_temp",) if "GLOBAL" in names[start:at] and len(parts) == 1 else ()
            yield at, prefix + parts


def _life_of_table(names: list[str], at: int) -> str | None:
    """Return the detail of CREATE at the name `at`: `written` needs a schema that is there."""
    start = max(i for i, word in enumerate(names[:at]) if word == "CREATE")
    between = set(names[start:at])
    if between & _OF_PIPELINES:
        return "dataset"
    if between & _TEMPORARY:
        return "temporary"
    return "written" if names[0] == "CREATE" and "TABLE" in between else None


def _read(statement: list[Token], names: list[str]) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yield the tables that a statement reads, merges or inserts into, or updates."""
    opened: list[str] = []
    for at, word in enumerate(names):
        if word == "(":
            opened.append(names[at - 1] if at else "")
        elif word == ")":
            del opened[-1:]
        elif word == "FROM":
            distinct = names[at - 1] == "DISTINCT" and names[at - 2] in ("IS", "NOT") if at > 1 else False
            if distinct or (opened and opened[-1] in _OWN_FROM) or names[0] == "COPY":
                continue
            yield from _tables_of_list(statement, names, at + 1)
        elif word == "JOIN" or (word == "USING" and names[0] == "MERGE" and not opened):
            yield from _tables_of_list(statement, names, at + 1)
        elif word in ("INTO", "OVERWRITE") and names[at - 1] in ("INSERT", "MERGE"):
            # The parentheses after the table that INSERT writes hold its columns.
            target = at + 1 + (names[at + 1 : at + 2] == ["TABLE"])
            yield from _tables_of_list(statement, names, target, columns=names[at - 1] == "INSERT")
        elif word == "UPDATE" and at == 0:
            yield from _tables_of_list(statement, names, 1)


def _tables_of_list(
    statement: list[Token], names: list[str], at: int, *, columns: bool = False
) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yield the tables of a list `a, b AS c`, up to the first item that is not a table.

    With `columns`, parentheses after a name hold columns; else they make it a call of a function.
    """
    while at < len(names):
        if names[at] == "STREAM":
            at += 1
            if names[at : at + 1] == ["("]:
                at += 1
        parts, after = name_at(statement, at)
        is_call = names[after : after + 1] == ["("] and not columns
        if not parts or names[at] in _NO_TABLE or is_call:
            return
        if parts[-1].strip(HOLE):
            yield at, parts
        at = after + (names[after : after + 1] == ["AS"])
        if at < len(names) and names[at] not in _NOT_AN_ALIAS and name_at(statement, at)[0]:
            at += 1
        if names[at : at + 1] != [","]:
            return
        at += 1
