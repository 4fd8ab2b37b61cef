"""The column list of CREATE TABLE, token by token."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lakeward.sql.tokens import Token

__all__ = ["between", "items"]


def between(tokens: Sequence[Token], left: Sequence[Token], right: Sequence[Token]) -> list[Token]:
    """What stands between two items: a comma."""
    return [t for t in tokens if left[-1].end <= t.start and t.end <= right[0].start]


def items(tokens: Sequence[Token]) -> Iterator[list[Token]]:
    """The items of the first parentheses, which are the columns and constraints of a table."""
    depth = 0
    item: list[Token] = []
    for token in tokens:
        if token.text == ")" and depth == 1:
            break
        if depth == 0 and token.word in ("AS", "USING", "LIKE", "CLONE"):
            return
        if token.text == "," and depth == 1:
            yield item
            item = []
        elif depth:
            item.append(token)
        depth += {"(": 1, ")": -1, "<": 0}.get(token.text, 0)
    if item:
        yield item
