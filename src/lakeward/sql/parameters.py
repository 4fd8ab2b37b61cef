"""Parameters of statements that are carried out here; Spark puts in those of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lakeward.sql.outcome import Edit, applied
from lakeward.sql.tokens import Token, tokenize

__all__ = ["filled"]


def filled(text: str, values: Mapping[str, str] | Sequence[str]) -> str:
    """`text` with SQL literals in place of its markers; a marker without a value stays.

    >>> filled("USE CATALOG IDENTIFIER(:c) -- :c", {"c": "'main'"})
    "USE CATALOG IDENTIFIER('main') -- :c"
    >>> filled("LIST ? LIMIT ?", ["'/a'"])
    "LIST '/a' LIMIT ?"
    """
    tokens = tokenize(text) or ()
    edits: list[Edit] = []
    listed = list(values) if not isinstance(values, Mapping) else []
    for i, token in enumerate(tokens):
        if token.text == "?" and listed:
            edits.append(Edit(token.start, token.end, listed.pop(0)))
        if token.text != ":" or i + 1 == len(tokens) or _is_beside(tokens, i):
            continue
        name = tokens[i + 1]
        if isinstance(values, Mapping) and name.text in values and name.start == token.end:
            edits.append(Edit(token.start, name.end, values[name.text]))
    return applied(text, edits)


def _is_beside(tokens: Sequence[Token], at: int) -> bool:
    """Whether the colon touches what is before it, as that of a path does."""
    return at > 0 and tokens[at - 1].end == tokens[at].start and tokens[at - 1].text not in "(,="
