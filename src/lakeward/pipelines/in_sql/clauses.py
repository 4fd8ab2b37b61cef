"""The clauses between a dataset's name and its query, in whatever order (spec §6.5)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lakeward.pipelines.in_sql.reading import Reader
from lakeward.sql import Unmatched, unquoted

__all__ = ["QUERY", "READERS", "WITHOUT_EFFECT", "read_clauses", "read_pairs"]

QUERY = ("SELECT", "WITH", "FROM", "VALUES")
"""What a query begins with: AS may be left out before it."""

Options = dict[str, Any]


def read_clauses(reader: Reader) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The options by the names of the Python API's parameters, and the clauses that do nothing here.

    Stops before AS, FLOW and the end. Raises Unmatched at anything else.
    """
    options: dict[str, Any] = {}
    without_effect: list[str] = []
    while reader.next is not None and not reader.is_next("AS", "FLOW"):
        clause = reader.any_words(*READERS, *WITHOUT_EFFECT)
        if clause is None and reader.is_next(*QUERY):
            break
        if clause is None:
            raise Unmatched
        if clause in READERS:
            READERS[clause](reader, options)
        else:
            reader.until(*_NEXT)
            without_effect.append(clause)
    return options, tuple(without_effect)


def _comment(reader: Reader, options: Options) -> None:
    options["comment"] = reader.string()


def _properties(reader: Reader, options: Options) -> None:
    options.setdefault("table_properties", {}).update(read_pairs(reader.brackets()))


def _partitions(reader: Reader, options: Options) -> None:
    options["partition_cols"] = reader.names()


def _clusters(reader: Reader, options: Options) -> None:
    if reader.words("AUTO"):
        options["cluster_by_auto"] = True
    elif not reader.words("NONE"):
        options["cluster_by"] = reader.names()


def _location(reader: Reader, options: Options) -> None:
    options["path"] = reader.string()


def _row_filter(reader: Reader, options: Options) -> None:
    options["row_filter"] = reader.until(*_NEXT)


def _policy(reader: Reader, options: Options) -> None:
    options["refresh_policy"] = reader.until(*_NEXT).lower()


def _format(reader: Reader, options: Options) -> None:
    options["format"] = reader.part().lower()


def read_pairs(inside: Reader) -> dict[str, str]:
    """`'a.b' = 'c', d.e = 1, f = true` as a dictionary; the sign may be left out."""
    pairs = {}
    for item in inside.items():
        if item.next is not None and item.next.is_string:
            key = unquoted(item.next.text)
            item.at += 1
        else:
            # Parts of an unquoted key may be words of any kind.
            key = "".join(unquoted(part) for part in _key(item))
        item.any_words("=", "==")
        value = item.next
        if value is None:
            raise Unmatched
        pairs[key] = item.string() if value.is_string else "".join(item.until().split())
    return pairs


def _key(item: Reader) -> list[str]:
    parts: list[str] = []
    while (token := item.next) is not None and (not parts or parts[-1] == "." or token.text == "."):
        parts.append(token.text)
        item.at += 1
    if not parts:
        raise Unmatched
    return parts


READERS: dict[str, Callable[[Reader, Options], None]] = {
    "COMMENT": _comment,
    "TBLPROPERTIES": _properties,
    "PARTITIONED BY": _partitions,
    "CLUSTER BY": _clusters,
    "LOCATION": _location,
    "ROW FILTER": _row_filter,
    "WITH ROW FILTER": _row_filter,
    "REFRESH POLICY": _policy,
    "USING": _format,
}
WITHOUT_EFFECT = ("SCHEDULE", "TRIGGER ON", "DEFAULT COLLATION", "WITH TAGS")
_NEXT = (*READERS, *WITHOUT_EFFECT, "AS", "FLOW")
