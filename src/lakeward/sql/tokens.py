"""Tokenize SQL by the rules of Databricks; sqlglot's tokenizer with positions."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, ClassVar, NamedTuple

_WORD = re.compile(r"\w+|\S")
_QUOTES = "'\"`"


class Token(NamedTuple):
    """One token: its kind, its characters, and their position; `end` is exclusive."""

    kind: str
    text: str
    start: int
    end: int

    @property
    def word(self) -> str:
        """The text in upper case; empty for strings and quoted names, which are never keywords."""
        return "" if self.is_quoted else self.text.upper()

    @property
    def is_quoted(self) -> bool:
        """Return whether it is a string or a quoted name."""
        return self.text[0] in _QUOTES or self.text[-1] in _QUOTES or self.is_dollar_quoted

    @property
    def is_dollar_quoted(self) -> bool:
        """Return whether it is the code of a Python function, between two pairs of dollar signs."""
        return len(self.text) > 3 and self.text.startswith("$$") and self.text.endswith("$$")

    @property
    def is_string(self) -> bool:
        """Return whether it is a string literal, also a raw one."""
        return self.is_quoted and self.text[0] not in "`$"

    @property
    def is_name(self) -> bool:
        """Return whether it can be an identifier: a word or a quoted name."""
        return self.text[0] == "`" or (not self.is_quoted and (self.text[0].isalpha() or self.text[0] == "_"))


def tokenize(text: str) -> tuple[Token, ...] | None:
    """Return the tokens without comments; None if a quote or comment is not closed.

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
        tokens += _split_words(token) if re.search(r"\s", own) and not token.is_quoted else [token]
    return tuple(tokens)


def _split_words(token: Token) -> list[Token]:
    """Split tokens such as ORDER BY into their words."""
    return [
        Token("VAR", m.group(), token.start + m.start(), token.start + m.end())
        for m in _WORD.finditer(token.text)
    ]


@lru_cache(maxsize=1)
def _tokenizer() -> Any:
    from sqlglot.dialects.databricks import Databricks

    class Tokenizer(Databricks.Tokenizer):
        # Otherwise SHOW, VACUUM … become one token up to the next semicolon, quoted or not.
        COMMANDS: ClassVar[set[Any]] = set()
        RAW_STRINGS: ClassVar[list[Any]] = [*Databricks.Tokenizer.RAW_STRINGS, "$$"]

    return Tokenizer()
