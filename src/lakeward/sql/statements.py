"""Split a SQL text into statements."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain

from lakeward.sql.token_cursor import Token, tokenize

# END before one of these closes neither BEGIN nor CASE.
OTHER_BLOCKS = ("IF", "LOOP", "WHILE", "FOR", "REPEAT")
# A text without these has no quotes and comments: it needs no tokenizer, which takes 50 ms to import.
_NOT_PLAIN = re.compile(r"[^\w\s.,()*=<>+]", re.ASCII)
_NOTHING = Token("", " ", 0, 0)


def split(text: str) -> list[str]:
    """Return the statements of a text, without their semicolons.

    A semicolon in a string, a quoted name, a comment or BEGIN … END does not separate. Comments alone are
    not a statement. A text with an unclosed quote is one statement, for which Spark reports the position.

    >>> split("select ';' as a; -- done;")
    ["select ';' as a"]
    """
    return [text[start:end] for start, end in spans(text)]


def spans(text: str) -> list[tuple[int, int]]:
    """Return start and end of each statement of `split`."""
    plain = text.rstrip("; \t\r\n")
    start = len(plain) - len(plain.lstrip(" \t\r\n"))
    if plain[start : start + 1].isalpha() and not _NOT_PLAIN.search(plain):
        return [(start, len(plain))]
    tokens = tokenize(text)
    if tokens is None:
        start = len(text) - len(text.lstrip())
        return [(start, max(start, len(text.rstrip())))]
    return [(first.start, last.end) for first, last in groups(tokens)]


def is_complete(text: str) -> bool:
    """Return whether the typed text ends with a separating semicolon, or contains no statement."""
    tokens = tokenize(text)
    if tokens is None:
        return False
    parts = list(groups(tokens))
    return not parts or parts[-1][1] is not tokens[-1]


def groups(tokens: Sequence[Token]) -> Iterator[tuple[Token, Token]]:
    """Yield the first and the last token of each statement."""
    statement: list[Token] = []
    depth = 0
    for token, following in zip(tokens, chain(tokens[1:], [_NOTHING]), strict=False):
        before = statement[-1].word if statement else ""
        if token.word == ";" and not depth:
            if statement:
                yield statement[0], statement[-1]
            statement = []
            continue
        statement.append(token)
        if token.word == "END" and depth:
            depth -= following.word not in OTHER_BLOCKS
        elif token.word == "BEGIN":
            depth += bool(depth) or before in ("", ":")
        elif token.word == "CASE" and depth:
            depth += before != "END"
    if statement:
        yield statement[0], statement[-1]
