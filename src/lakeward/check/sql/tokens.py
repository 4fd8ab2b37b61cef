"""Statements of SQL as tokens, with placeholders for what templates fill in."""

from __future__ import annotations

import re
from dataclasses import dataclass

from lakeward.check.values import HOLE
from lakeward.sql import Token, tokenize, unquote_token

_QUOTED = r"""'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*\""""
# Quoted text of a template can contain its end: `{{ config(post_hook="vacuum {{ this }}") }}`.
_EXPRESSION = rf"""\{{\{{(?:{_QUOTED}|[^'"}}]|\}}(?!\}}))*\}}\}}|\{{\{{.*?\}}\}}"""
_STATEMENT = rf"""\{{%(?:{_QUOTED}|[^'"%]|%(?!\}}))*%\}}|\{{%.*?%\}}"""
# Both, `${var}`, `{# comment #}`, `{name}` and `$name`.
_TEMPLATES = re.compile(rf"\$\{{[^}}]*\}}|{_EXPRESSION}|{_STATEMENT}|\{{#.*?#\}}|\{{\w*\}}|\$\w+", re.DOTALL)


@dataclass(frozen=True)
class Statement:
    """One statement: its tokens, with positions in the whole text, and its own text."""

    tokens: list[Token]
    text: str


def statements(sql: str) -> list[Statement]:
    """Return the statements of a text, with placeholders for templates; raises ValueError if not SQL."""
    filled = _TEMPLATES.sub(_hole, sql)
    tokens = tokenize(filled)
    if tokens is None:
        raise ValueError("a quote or comment is not closed")
    found: list[list[Token]] = [[]]
    for token in tokens:
        if token.text == ";":
            found.append([])
        else:
            found[-1].append(token)
    return [Statement(each, filled[each[0].start : each[-1].end]) for each in found if each]


def words(statement: list[Token]) -> list[str]:
    """Return the tokens in upper case; empty for strings and quoted names, so that they match no keyword."""
    return [token.word for token in statement]


def name_at(statement: list[Token], at: int) -> tuple[tuple[str, ...], int]:
    """Return the dotted name that begins at `at` and the position after it; no parts if none begins."""
    parts: list[str] = []
    while at < len(statement):
        token = statement[at]
        if token.text[0] != "`" and not _is_word(token.text):
            break
        parts.append(re.sub(f"{HOLE}+", HOLE, unquote_token(token.text)))
        at += 1
        if at >= len(statement) or statement[at].text != ".":
            break
        at += 1
    return tuple(parts), at


def _is_word(text: str) -> bool:
    return text.replace("_", "a").replace(HOLE, "a").isalnum()


def _hole(match: re.Match[str]) -> str:
    text = match.group()
    filler = " " if text.startswith(("{%", "{#")) else HOLE
    return "".join(char if char == "\n" else filler for char in text)
