"""SQL as tokens, a list a statement, with what templates fill in made into holes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar

from lakeward.check.code.values import HOLE

if TYPE_CHECKING:
    from sqlglot.tokenizer_core import Token

__all__ = ["Statement", "name_at", "statements", "words"]

# `${var}`, `{{ expression }}`, `{% statement %}`, `{# comment #}`, `{name}` and `$name`.
_TEMPLATES = re.compile(r"\$\{[^}]*\}|\{\{.*?\}\}|\{[%#].*?[%#]\}|\{\w*\}|\$\w+", re.DOTALL)


@dataclass(frozen=True)
class Statement:
    """One statement: its tokens, whose places are those in the whole text, and its own text."""

    tokens: list[Token]
    text: str


def statements(sql: str) -> list[Statement]:
    """The statements of a text, templates in it made into holes. Raises ValueError for what is no SQL."""
    from sqlglot.errors import TokenError

    filled = _TEMPLATES.sub(_hole, sql)
    try:
        tokens = _tokenizer().tokenize(filled)
    except TokenError as error:
        raise ValueError(str(error).splitlines()[0]) from None
    found: list[list[Token]] = [[]]
    for token in tokens:
        if token.token_type.name == "SEMICOLON":
            found.append([])
        else:
            found[-1].append(token)
    return [Statement(each, filled[each[0].start : each[-1].end + 1]) for each in found if each]


def words(statement: list[Token]) -> list[str]:
    """The tokens in upper case; strings and quoted names as blanks, so that they match no keyword."""
    return [
        "" if token.token_type.name in ("STRING", "IDENTIFIER") else token.text.upper() for token in statement
    ]


def name_at(statement: list[Token], at: int) -> tuple[tuple[str, ...], int]:
    """The dotted name that begins at a position, and the position behind it; no parts where none begins."""
    parts: list[str] = []
    while at < len(statement):
        token = statement[at]
        if token.token_type.name != "IDENTIFIER" and not _is_word(token.text):
            break
        parts.append(re.sub(f"{HOLE}+", HOLE, token.text))
        at += 1
        if at >= len(statement) or statement[at].token_type.name != "DOT":
            break
        at += 1
    return tuple(parts), at


def _is_word(text: str) -> bool:
    return text.replace("_", "a").replace(HOLE, "a").isalnum()


def _hole(match: re.Match[str]) -> str:
    text = match.group()
    filler = " " if text.startswith(("{%", "{#")) else HOLE
    return "".join(char if char == "\n" else filler for char in text)


@cache
def _tokenizer() -> Any:
    from sqlglot.dialects.databricks import Databricks

    class Tokenizer(Databricks.Tokenizer):
        # SHOW, VACUUM … would otherwise swallow everything up to the next semicolon.
        COMMANDS: ClassVar[set[Any]] = set()

    return Tokenizer()
