"""A text of SQL as tokens with their places, by Databricks' rules."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, ClassVar, NamedTuple

__all__ = ["Token", "tokenize"]

_WORD = re.compile(r"\w+|\S")
_QUOTES = "'\"`"


class Token(NamedTuple):
    """One token: its kind, its own characters, and where they stand (`end` is the place behind them)."""

    kind: str
    text: str
    start: int
    end: int

    @property
    def word(self) -> str:
        """The characters in upper case; nothing for a string or a quoted name, which are no keywords."""
        return "" if self.is_quoted else self.text.upper()

    @property
    def is_quoted(self) -> bool:
        """Whether what is between the quotes belongs to the user alone."""
        return self.text[0] in _QUOTES or self.text[-1] in _QUOTES

    @property
    def is_string(self) -> bool:
        """A string literal, raw ones included."""
        return self.is_quoted and self.text[0] != "`"

    @property
    def is_name(self) -> bool:
        """A word or a quoted name: what may stand for an identifier."""
        return self.text[0] == "`" or (not self.is_quoted and (self.text[0].isalpha() or self.text[0] == "_"))


def tokenize(text: str) -> tuple[Token, ...] | None:
    """The tokens without comments; None when a quote or a comment does not close.

    >>> [t.text for t in tokenize("select a:b -- c")]
    ['select', 'a', ':', 'b']
    """
    from sqlglot.errors import SqlglotError

    try:
        found = _tokenizer().tokenize(text)
    except (SqlglotError, IndexError, ValueError, RecursionError):
        return None
    tokens: list[Token] = []
    for each in found:
        own = text[each.start : each.end + 1]
        if not own:
            continue
        token = Token(each.token_type.name, own, each.start, each.end + 1)
        tokens += _apart(token) if re.search(r"\s", own) and not token.is_quoted else [token]
    return tuple(tokens)


def _apart(token: Token) -> list[Token]:
    """ORDER BY and the like are one token for the tokenizer, two words for a grammar."""
    return [
        Token("VAR", m.group(), token.start + m.start(), token.start + m.end())
        for m in _WORD.finditer(token.text)
    ]


@lru_cache(maxsize=1)
def _tokenizer() -> Any:
    from sqlglot.dialects.databricks import Databricks

    class Tokenizer(Databricks.Tokenizer):
        # SHOW, VACUUM … would otherwise swallow everything up to the next semicolon, quoted or not.
        COMMANDS: ClassVar[set[Any]] = set()

    return Tokenizer()
