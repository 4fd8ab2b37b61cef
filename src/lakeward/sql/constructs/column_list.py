"""The column list of CREATE TABLE, as tokens."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lakeward.sql.token_cursor import Token


def tokens_between(tokens: Sequence[Token], left: Sequence[Token], right: Sequence[Token]) -> list[Token]:
    """Return the tokens between two items: the comma."""
    return [t for t in tokens if left[-1].end <= t.start and t.end <= right[0].start]


def column_list_items(tokens: Sequence[Token]) -> Iterator[list[Token]]:
    """Yield the items of the first parentheses: the columns and table constraints."""
    depth = brackets = 0
    item: list[Token] = []
    for token in tokens:
        if token.text == ")" and depth == 1:
            break
        if depth == 0 and token.word in ("AS", "USING", "LIKE", "CLONE"):
            return
        if token.text == "," and depth == 1 and brackets == 0:
            yield item
            item = []
        elif depth:
            item.append(token)
        depth += {"(": 1, ")": -1}.get(token.text, 0)
        if depth == 1 and not token.is_quoted:
            # Never below zero, as a comparison of a DEFAULT would bring it.
            brackets = max(0, brackets + token.text.count("<") - token.text.count(">"))
    if item:
        yield item
