"""Statements of a source file with their positions, and their parsed form."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from lakeward.pipelines.graph.column_ddl import ColumnDefinition
from lakeward.pipelines.graph.elements import Expectation, ReplaceSpec, SourceCodeLocation
from lakeward.quoting import quote_string
from lakeward.sql import fill_parameters, spans, tokenize

_VARIABLE = re.compile(r"\$\{([^}$\s]+)\}")
_STRING_OR_COMMENT = re.compile(
    r"""(?P<string>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")|--[^\n]*|/\*.*?\*/""", re.DOTALL
)
_SKIP_CHANGES = re.compile(r"WITH\s*\(\s*SKIPCHANGECOMMITS\s*\)", re.IGNORECASE)
Lookup = Callable[[str], "str | None"]


@dataclass(frozen=True)
class SourceStatement:
    """A statement: its text, and the line and column of its start in the user's file (from 1).

    `unset` are the parameters of its code that have no value.
    """

    text: str
    file: str
    line: int
    column: int
    unset: tuple[str, ...] = ()

    @property
    def location(self) -> SourceCodeLocation:
        return SourceCodeLocation(self.file, self.line)

    def position(self, offset: int) -> tuple[int, int]:
        """Return line and column of a character of the statement in the user's file."""
        before = self.text[:offset]
        breaks = before.count("\n")
        return self.line + breaks, offset - before.rfind("\n") if breaks else self.column + offset

    def text_in_place(self, begin: int, end: int) -> str:
        """Return part of the text at its position in the file, with blanks before it.

        Spark's errors then refer to lines and columns of the file.
        """
        before = re.sub(r"[^\n]", " ", self.text[:begin])
        return "\n" * (self.line - 1) + " " * (self.column - 1) + before + self.text[begin:end]


def split_source(text: str, file: str, line: int, lookup: Lookup) -> Iterator[SourceStatement]:
    """Split `text`, which begins at `line` of `file`, into statements with parameters substituted.

    `lookup` is called when a statement is yielded, after the SET statements before it.

    `${key}` is substituted everywhere, by nothing if `lookup` does not know it; `:key` where a value is
    allowed, and only if it is known.
    Line numbers are those of the file; a value shifts columns on its own line only.
    """
    for begin, end in spans(text):
        before = text[:begin]
        column = begin - before.rfind("\n")
        values = {key: lookup(key) for key in _VARIABLE.findall(text[begin:end])}
        code = _STRING_OR_COMMENT.sub(lambda found: found["string"] or "", text[begin:end])
        unset = tuple(key for key in dict.fromkeys(_VARIABLE.findall(code)) if values[key] is None)
        own = _substitute(text[begin:end], values, lookup)
        yield SourceStatement(own, file, line + before.count("\n"), column, unset)


def _substitute(text: str, variables: Mapping[str, str | None], lookup: Lookup) -> str:
    text = _VARIABLE.sub(lambda found: variables[found[1]] or "", text)
    if ":" in text:
        tokens = tokenize(text) or ()
        names = {after.text for before, after in itertools.pairwise(tokens) if before.text == ":"}
        values = {name: quote_string(value) for name in names if (value := lookup(name)) is not None}
        text = fill_parameters(text, values) if values else text
    if "SKIPCHANGECOMMITS" in text.upper():
        text = _SKIP_CHANGES.sub("WITH ('skipChangeCommits' = 'true')", text)
    return text


Span = tuple[int, int]
"""Where a part of the statement's text begins and ends."""


@dataclass(frozen=True)
class ChangesClause:
    """The clauses of AUTO CDC by parameters of `create_auto_cdc_flow`.

    `source` is a name, or the text of a relation.
    """

    target: str
    source: str
    source_is_name: bool
    from_snapshot: bool = False
    once: bool = False
    arguments: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class DatasetStatement:
    """CREATE … of a dataset."""

    kind: Literal["streaming_table", "materialized_view", "view"]
    name: str
    columns: tuple[ColumnDefinition, ...] = ()
    expectations: tuple[Expectation, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    query: Span | None = None
    changes: ChangesClause | None = None
    warnings: tuple[str, ...] = ()
    replaces: ReplaceSpec | None = None
    schedule: Span | None = None


@dataclass(frozen=True)
class FlowStatement:
    """CREATE FLOW … AS, INSERT INTO and APPLY CHANGES INTO."""

    target: str
    name: str | None = None
    comment: str | None = None
    once: bool = False
    query: Span | None = None
    changes: ChangesClause | None = None
    replaces: ReplaceSpec | None = None


@dataclass(frozen=True)
class SetStatement:
    """SET k = v, for the statements that follow in the file; SET k without a value (None) has no effect."""

    key: str
    value: str | None


@dataclass(frozen=True)
class UseStatement:
    """USE, for the statements that follow in the file."""

    catalog: str | None = None
    schema: str | None = None
