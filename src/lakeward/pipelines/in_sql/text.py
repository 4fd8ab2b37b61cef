"""Statements of a file with their places, and pieces of them as Spark should see them."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from dataclasses import dataclass

from lakeward.sql import filled, spans, tokenize

__all__ = ["Piece", "blank_live", "pieces_of"]

_VARIABLE = re.compile(r"\$\{([^}$\s]+)\}")
_LIVE = re.compile(r"\blive\s*\.", re.IGNORECASE)
_SKIP_CHANGES = re.compile(r"WITH\s*\(\s*SKIPCHANGECOMMITS\s*\)", re.IGNORECASE)

Lookup = Callable[[str], "str | None"]


@dataclass(frozen=True)
class Piece:
    """A statement: its text and the line and column at which it starts in the user's file (from 1)."""

    text: str
    file: str
    line: int
    column: int

    def place(self, offset: int) -> tuple[int, int]:
        """Line and column of a character of the statement in the user's file."""
        before = self.text[:offset]
        breaks = before.count("\n")
        return self.line + breaks, offset - before.rfind("\n") if breaks else self.column + offset

    def alone(self, begin: int, end: int) -> str:
        """A piece with blanks in place of all that stands before it in the file: Spark's errors then tell
        the lines and columns of the file."""
        before = re.sub(r"[^\n]", " ", self.text[:begin])
        return "\n" * (self.line - 1) + " " * (self.column - 1) + before + self.text[begin:end]


def pieces_of(text: str, file: str, line: int, lookup: Lookup) -> list[Piece]:
    """The statements of `text`, which begins at `line` of `file`, with parameters filled in.

    `${key}` is replaced wherever it stands, `:key` where a value may stand; what `lookup` does not know
    stays. Line numbers are those of the file; a value changes columns on its own line alone.
    """
    found = []
    for begin, end in spans(text):
        before = text[:begin]
        column = begin - before.rfind("\n")
        own = _filled(text[begin:end], lookup)
        found.append(Piece(own, file, line + before.count("\n"), column))
    return found


def _filled(text: str, lookup: Lookup) -> str:
    if "${" in text:
        text = _VARIABLE.sub(lambda found: _or_else(lookup(found[1]), found[0]), text)
    if ":" in text:
        tokens = tokenize(text) or ()
        names = {after.text for before, after in itertools.pairwise(tokens) if before.text == ":"}
        values = {name: _literal(value) for name in names if (value := lookup(name)) is not None}
        text = filled(text, values) if values else text
    if "SKIPCHANGECOMMITS" in text.upper():
        text = _SKIP_CHANGES.sub("WITH ('skipChangeCommits' = 'true')", text)
    return text


def _or_else(value: str | None, text: str) -> str:
    return text if value is None else value


def _literal(value: str) -> str:
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"


def blank_live(text: str) -> str:
    """SQL without the legacy schema LIVE before names of datasets; all other characters stay in place.

    >>> blank_live("SELECT 'live.x' FROM LIVE.x, stream(live.y), a.live.z")
    "SELECT 'live.x' FROM      x, stream(     y), a.live.z"
    """
    if not _LIVE.search(text):
        return text
    tokens = tokenize(text) or ()
    out = text
    for i, token in enumerate(tokens[:-2]):
        is_schema = token.word == "LIVE" and tokens[i + 1].text == "." and tokens[i + 2].is_name
        is_first = i == 0 or tokens[i - 1].text != "."
        is_last = i + 3 >= len(tokens) or tokens[i + 3].text != "."
        if is_schema and is_first and is_last:
            begin, end = token.start, tokens[i + 1].end
            out = out[:begin] + " " * (end - begin) + out[end:]
    return out
