"""Parsers of the clauses of dataset and AUTO CDC statements, which may come in any order."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from lakeward.pipelines.graph.column_ddl import NestedTokenCursor, single_name
from lakeward.pipelines.sql.statements import ChangesClause, Span
from lakeward.sql import TokenCursor, Unmatched, read_properties, read_schedule, read_update_trigger
from lakeward.suggestions import close_matches

# Clauses with a condition, and with an expression or column, by parameter.
_CONDITIONS = {
    "WHERE": "where",
    "APPLY AS DELETE WHEN": "apply_as_deletes",
    "APPLY AS TRUNCATE WHEN": "apply_as_truncates",
}
_EXPRESSIONS = {
    "SEQUENCE BY": "sequence_by",
    "SYSTEM SEQUENCE BY": "system_sequence_by",
    "COLUMNS TO UPDATE": "columns_to_update",
}
_CHANGE_CLAUSES = (
    *(*_CONDITIONS, *_EXPRESSIONS),
    *("KEYS", "IGNORE NULL UPDATES", "COLUMNS", "STORED AS", "TRACK HISTORY ON"),
)


class SqlExpression(str):
    """A SQL expression where the Python API also accepts a column's name."""

    __slots__ = ()


def parse_changes(cursor: NestedTokenCursor, target: str, *, once: bool) -> ChangesClause:
    """Parse FROM … KEYS (…) up to the end of the statement. Raises Unmatched."""
    cursor.need("FROM")
    from_snapshot = cursor.words("SNAPSHOT")
    source = cursor.until(*_CHANGE_CLAUSES, "WITH VERSION")
    arguments: dict[str, Any] = {}
    if cursor.words("WITH", "VERSION"):
        arguments["version"] = cursor.until(*_CHANGE_CLAUSES)
    while cursor.next is not None:
        _parse_change_clause(cursor, arguments)
    name = single_name(source)
    return ChangesClause(target, name or source, name is not None, from_snapshot, once, arguments)


def _parse_change_clause(cursor: NestedTokenCursor, into: dict[str, Any]) -> None:
    if condition := cursor.phrase(*_CONDITIONS):
        into[_CONDITIONS[condition]] = cursor.until(*_CHANGE_CLAUSES)
    elif expression := cursor.phrase(*_EXPRESSIONS):
        into[_EXPRESSIONS[expression]] = _name_or_expression(cursor.until(*_CHANGE_CLAUSES))
    elif cursor.words("KEYS"):
        into["keys"] = cursor.names()
    elif cursor.words("IGNORE", "NULL", "UPDATES"):
        into["ignore_null_updates"] = True
        if cursor.words("ON"):
            _parse_column_list(
                cursor, into, "ignore_null_updates_column_list", "ignore_null_updates_except_column_list"
            )
    elif cursor.words("COLUMNS"):
        _parse_column_list(cursor, into, "column_list", "except_column_list")
    elif cursor.words("STORED", "AS"):
        into["stored_as_scd_type"] = _parse_scd_type(cursor)
    elif cursor.words("TRACK", "HISTORY", "ON"):
        _parse_column_list(cursor, into, "track_history_column_list", "track_history_except_column_list")
    else:
        raise Unmatched(*_similar_clauses(cursor, _CHANGE_CLAUSES))


def _parse_scd_type(cursor: NestedTokenCursor) -> int | str:
    if cursor.words("BITEMPORAL"):
        return "bitemporal"
    cursor.need("SCD", "TYPE")
    return cursor.integer()


def _parse_column_list(cursor: NestedTokenCursor, into: dict[str, Any], listed: str, excepted: str) -> None:
    if cursor.words("*"):
        cursor.need("EXCEPT")
        into[excepted] = cursor.names()
    else:
        into[listed] = cursor.names()


def _name_or_expression(text: str) -> str:
    return single_name(text) or SqlExpression(text)


QUERY_KEYWORDS = ("SELECT", "WITH", "FROM", "VALUES")
"""What a query begins with: AS may be left out before it."""
Options = dict[str, Any]


def parse_clauses(cursor: NestedTokenCursor) -> tuple[dict[str, Any], dict[str, Span]]:
    """Return the options by parameters of the Python API, and the positions of clauses without effect.

    Stops before AS, FLOW and the end. Raises Unmatched for other tokens.
    """
    options: dict[str, Any] = {}
    without_effect: dict[str, Span] = {}
    while (token := cursor.next) is not None and not cursor.is_next("AS", "FLOW"):
        clause = cursor.phrase(*IGNORED_CLAUSES, *CLAUSE_PARSERS)
        if clause is None and cursor.is_next(*QUERY_KEYWORDS):
            break
        if clause is None:
            raise Unmatched(*_similar_clauses(cursor, (*IGNORED_CLAUSES, *CLAUSE_PARSERS)))
        if clause in CLAUSE_PARSERS:
            CLAUSE_PARSERS[clause](cursor, options)
        else:
            if clause in SCHEDULES:
                SCHEDULES[clause](cursor)
            elif cursor.next is not None and not cursor.is_next(*_CLAUSE_STARTS):
                cursor.until(*_CLAUSE_STARTS)
            without_effect[clause] = (token.start, cursor.position)
    return options, without_effect


def _similar_clauses(cursor: NestedTokenCursor, clauses: Collection[str]) -> list[str]:
    """Return the clauses whose first word resembles the next token."""
    assert cursor.next is not None
    first_words = {clause.partition(" ")[0] for clause in clauses}
    close = close_matches(cursor.next.text, first_words, max_matches=1)
    return [clause for clause in clauses if clause.partition(" ")[0] in close]


def _comment(cursor: NestedTokenCursor, options: Options) -> None:
    options["comment"] = cursor.string()


def _properties(cursor: NestedTokenCursor, options: Options) -> None:
    properties = read_properties(cursor, equals_is_optional=True)
    options.setdefault("table_properties", {}).update(properties)


def _partitioned_by(cursor: NestedTokenCursor, options: Options) -> None:
    options["partition_cols"] = cursor.names()


def _cluster_by(cursor: NestedTokenCursor, options: Options) -> None:
    if not cursor.words("NONE"):
        options["cluster_by"] = cursor.names()


def _location(cursor: NestedTokenCursor, options: Options) -> None:
    options["path"] = cursor.string()


def _row_filter(cursor: NestedTokenCursor, options: Options) -> None:
    options["row_filter"] = cursor.until(*_CLAUSE_STARTS)


def _policy(cursor: NestedTokenCursor, options: Options) -> None:
    options["refresh_policy"] = cursor.until(*_CLAUSE_STARTS).lower()


def _format(cursor: NestedTokenCursor, options: Options) -> None:
    options["format"] = cursor.part().lower()


CLAUSE_PARSERS: dict[str, Callable[[NestedTokenCursor, Options], None]] = {
    "COMMENT": _comment,
    "TBLPROPERTIES": _properties,
    "PARTITIONED BY": _partitioned_by,
    "CLUSTER BY": _cluster_by,
    "LOCATION": _location,
    "ROW FILTER": _row_filter,
    "WITH ROW FILTER": _row_filter,
    "REFRESH POLICY": _policy,
    "USING": _format,
}
SCHEDULES: dict[str, Callable[[TokenCursor], None]] = {
    "SCHEDULE": read_schedule,
    "TRIGGER ON": read_update_trigger,
}
IGNORED_CLAUSES = {
    **dict.fromkeys(SCHEDULES, "updates are started by `lakeward run`"),
    "DEFAULT COLLATION": "strings compare byte by byte",
    "WITH TAGS": "tags are kept by no pipeline",
    "CLUSTER BY AUTO": "clustering columns are never chosen by themselves; name them with CLUSTER BY",
}
"""Clauses that have no effect, with the reason."""
_CLAUSE_STARTS = (*CLAUSE_PARSERS, *IGNORED_CLAUSES, "AS", "FLOW")
