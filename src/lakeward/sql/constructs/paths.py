"""Where paths (`column:a.b[0]`) stand among the tokens."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from lakeward.sql.tokens import Token

__all__ = ["Path", "paths"]


class Path(NamedTuple):
    """A path: the colon before it, and its own tokens."""

    colon: Token
    tokens: tuple[Token, ...]


def paths(tokens: Sequence[Token]) -> Iterator[Path]:
    """All paths; a colon that follows no expression is a parameter's."""
    for i, token in enumerate(tokens):
        if token.text == ":" and i and _ends_expression(tokens[i - 1]):
            end = _end(tokens, i + 1)
            if end > i + 1:
                yield Path(token, tuple(tokens[i + 1 : end]))


def _ends_expression(token: Token) -> bool:
    return token.is_name or token.is_string or token.text in (")", "]")


def _end(tokens: Sequence[Token], at: int) -> int:
    """The place behind the path that begins at `at`."""
    if at < len(tokens) and tokens[at].is_name:
        at += 1
    elif not _is_bracket(tokens, at):
        return at
    while at < len(tokens):
        if tokens[at].text == "." and at + 1 < len(tokens) and tokens[at + 1].is_name:
            at += 2
        elif _is_bracket(tokens, at):
            at += 3
        else:
            break
    return at


def _is_bracket(tokens: Sequence[Token], at: int) -> bool:
    """['name'], [0] or [*]"""
    if at + 2 >= len(tokens) or tokens[at].text != "[" or tokens[at + 2].text != "]":
        return False
    inside = tokens[at + 1]
    return inside.is_string or inside.text == "*" or inside.text.isdigit()
