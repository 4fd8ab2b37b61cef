"""A text of SQL as single statements."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import chain
from typing import Any, ClassVar, NamedTuple

__all__ = ["is_complete", "split"]

# END of these closes no BEGIN and no CASE.
OTHER_BLOCKS = ("IF", "LOOP", "WHILE", "FOR", "REPEAT")


class Token(NamedTuple):
    """One token: its own characters in upper case, and where they stand."""

    word: str
    start: int
    end: int


def split(text: str) -> list[str]:
    """The statements between the semicolons, each as it was written.

    A semicolon in a string, in quotes, in a comment or in BEGIN … END separates nothing. A part of
    comments alone is no statement. Text whose quotes do not close is one statement: Spark's parser then
    says where.

    >>> split("select ';' as a; -- done;")
    ["select ';' as a"]
    """
    tokens = tokenize(text)
    if tokens is None:
        return [text.strip()]
    return [text[first.start : last.end + 1] for first, last in groups(tokens)]


def is_complete(text: str) -> bool:
    """Whether what was typed so far ends with a semicolon that separates, or holds nothing to run."""
    tokens = tokenize(text)
    if tokens is None:
        return False
    parts = list(groups(tokens))
    return not parts or parts[-1][1] is not tokens[-1]


def groups(tokens: list[Token]) -> Iterator[tuple[Token, Token]]:
    """The first and the last token of each statement."""
    statement: list[Token] = []
    depth = 0
    for token, following in zip(tokens, chain(tokens[1:], [Token("", 0, 0)]), strict=False):
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


def tokenize(text: str) -> list[Token] | None:
    """The tokens by Databricks' rules, without comments; None when a quote does not close."""
    from sqlglot.errors import TokenError

    try:
        tokens = tokenizer().tokenize(text)
    except TokenError:
        return None
    return [Token(text[each.start : each.end + 1].upper(), each.start, each.end) for each in tokens]


@lru_cache(maxsize=1)
def tokenizer() -> Any:
    from sqlglot.dialects.databricks import Databricks

    class Tokenizer(Databricks.Tokenizer):
        # SHOW, VACUUM … would otherwise swallow everything up to the next semicolon, quoted or not.
        COMMANDS: ClassVar[set[Any]] = set()

    return Tokenizer()
