"""Parameter markers of a statement: `:name` and `?`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from lakeward.sql.construct import Edit, apply_edits
from lakeward.sql.token_cursor import Token, tokenize

# In the clause IDENTIFIER, Spark takes a parameter without a value for an expression or for a syntax error.
_UNBOUND = re.compile(
    r"UNBOUND_SQL_PARAMETER|NOT_A_CONSTANT_STRING.*namedparameter\(\)"
    r"|PARSE_SYNTAX_ERROR.*near '(?:IDENTIFIER|[:(])'",
    re.DOTALL,
)


class Marker(NamedTuple):
    """A parameter marker: its name, empty for `?`, and its position; `end` is exclusive."""

    name: str
    start: int
    end: int


def parameter_markers(tokens: Sequence[Token]) -> Iterator[Marker]:
    """Yield the parameter markers among the tokens of a statement."""
    for at, token in enumerate(tokens):
        if token.text == "?":
            yield Marker("", token.start, token.end)
        if token.text != ":" or at + 1 == len(tokens) or _follows_expression(tokens, at):
            continue
        name = tokens[at + 1]
        if name.start == token.end:
            yield Marker(name.text, token.start, name.end)


def _follows_expression(tokens: Sequence[Token], at: int) -> bool:
    """Return whether the colon touches the end of an expression, as in the path `column:a`."""
    if at == 0 or tokens[at - 1].end != tokens[at].start:
        return False
    before = tokens[at - 1]
    return before.is_name or before.is_quoted or before.text[-1].isalnum() or before.text in (")", "]")


def unbound_parameters(statement: str, message: str) -> list[str]:
    """Return the named parameters of a statement if `message` is Spark's error about one without a value.

    >>> unbound_parameters("SELECT :a, :b", "[UNBOUND_SQL_PARAMETER] Found the unbound parameter: a.")
    ['a', 'b']
    >>> unbound_parameters("SELECT :a", "[DIVIDE_BY_ZERO] Division by zero.")
    []
    """
    if not _UNBOUND.search(message):
        return []
    return list(
        dict.fromkeys(marker.name for marker in parameter_markers(tokenize(statement) or ()) if marker.name)
    )


def fill_parameters(text: str, values: Mapping[str, str] | Sequence[str]) -> str:
    """Replace parameter markers with SQL literals; a marker without a value stays.

    For statements that run here: Spark fills its own.

    >>> fill_parameters("USE CATALOG IDENTIFIER(:c) -- :c", {"c": "'main'"})
    "USE CATALOG IDENTIFIER('main') -- :c"
    >>> fill_parameters("LIST ? LIMIT ?", ["'/a'"])
    "LIST '/a' LIMIT ?"
    """
    named = values if isinstance(values, Mapping) else {}
    positional = list(values) if not isinstance(values, Mapping) else []
    edits: list[Edit] = []
    for marker in parameter_markers(tokenize(text) or ()):
        if marker.name in named:
            edits.append(Edit(marker.start, marker.end, named[marker.name]))
        elif not marker.name and positional:
            edits.append(Edit(marker.start, marker.end, positional.pop(0)))
    return apply_edits(text, edits)
