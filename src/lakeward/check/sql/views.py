"""What in the text of a query keeps a materialized view from an incremental refresh."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from lakeward.check.view_obstacles import TIME_FUNCTIONS, UNSTABLE_FUNCTIONS

_TIMES = frozenset(each.upper() for each in TIME_FUNCTIONS)
_UNSTABLE = frozenset(each.upper() for each in UNSTABLE_FUNCTIONS)
_CLAUSES = frozenset(("SELECT", "FROM", "WHERE", "HAVING", "QUALIFY", "GROUP", "ORDER", "ON"))
_FILTERS = frozenset(("WHERE", "HAVING", "QUALIFY", "ON"))
# What may stand before a subquery that is a relation.
_BEFORE_RELATION = frozenset(
    ("FROM", "JOIN", ",", "AS", "ALL", "UNION", "EXCEPT", "INTERSECT", "MINUS", "(", "LATERAL")
)
FILE_FORMATS = frozenset(("JSON", "CSV", "PARQUET", "TEXT", "AVRO", "ORC", "XML", "BINARYFILE"))


def view_at(words: list[str]) -> int | None:
    """Return the position of the name in a statement that creates a materialized view, None for others."""
    if words[:1] != ["CREATE"]:
        return None
    at = 3 if words[1:3] in (["OR", "REFRESH"], ["OR", "REPLACE"]) else 1
    at += words[at : at + 1] == ["PRIVATE"]
    if words[at : at + 2] not in (["MATERIALIZED", "VIEW"], ["LIVE", "TABLE"]):
        return None
    at += 2
    return at + 3 if words[at : at + 3] == ["IF", "NOT", "EXISTS"] else at


@dataclass
class _Level:
    """One pair of parentheses, and the clause that is open in it."""

    clause: str = ""


def obstacles_in(words: list[str]) -> Iterator[tuple[str, str]]:
    """Yield the obstacles of a query with the words that were found; `words` are in upper case."""
    # The tokenizer takes some pairs of words, such as GROUP BY, for one.
    flat = [each for word in words for each in (word.split() or ("",))]
    levels = [_Level()]
    groupings: list[int] = []
    for at, word in enumerate(flat):
        following, before = flat[at + 1 : at + 2], flat[at - 1] if at else ""
        if word == "(":
            levels.append(_Level(levels[-1].clause))
            if following in (["SELECT"], ["WITH"]) and before not in _BEFORE_RELATION and at:
                yield "subquery", ""
        elif word == ")":
            del levels[max(1, len(levels) - 1) :]
        elif word in _CLAUSES and before not in ("DISTINCT", "WITHIN"):
            levels[-1].clause = word
        yield from _obstacles_at(flat, at, levels[-1].clause)
        if word == "GROUP" and following == ["BY"]:
            groupings.append(len(levels))
    if len(set(groupings)) > 1:
        yield "nested aggregate", ""


def _obstacles_at(words: list[str], at: int, clause: str) -> Iterator[tuple[str, str]]:
    word, following, before = words[at], words[at + 1 : at + 2], words[at - 1] if at else ""
    is_call = following == ["("] and before != "."
    if word in ("LIMIT", "OFFSET") and before != ".":
        yield "limit", word
    elif word in ("EXCEPT", "INTERSECT", "MINUS") and _begins_query(words, at + 1):
        yield "set operator", word
    elif word == "TABLESAMPLE":
        yield "sample", word
    elif word == "PIVOT" and is_call:
        yield "pivot", word
    elif word == "OVER" and following == ["("] and words[at + 2 : at + 4] != ["PARTITION", "BY"]:
        if words[at + 2 : at + 3] in ([")"], ["ORDER"], ["ROWS"], ["RANGE"]):
            yield "window", ""
    elif word in _UNSTABLE and is_call:
        yield "unstable", word.lower()
    elif word in _TIMES and before != "." and clause not in _FILTERS:
        if is_call or word.startswith("CURRENT_"):
            yield "time", word.lower()
    elif word == "READ_FILES" and is_call:
        yield "source", "read_files"
    elif word in FILE_FORMATS and before in ("FROM", "JOIN") and following == ["."]:
        yield "source", f"a {word.lower()} file"


def _begins_query(words: list[str], at: int) -> bool:
    while words[at : at + 1] in (["ALL"], ["DISTINCT"], ["("]):
        at += 1
    return words[at : at + 1] in (["SELECT"], ["FROM"], ["TABLE"], ["VALUES"])
