"""One row of the table of SQL constructs, and the result of a rewrite."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from lakeward.sql.commands import Command
from lakeward.sql.token_cursor import Token, TokenCursor


@dataclass(frozen=True, order=True)
class Edit:
    """Replaces the characters from `start` to before `end` with `text`."""

    start: int
    end: int
    text: str


@dataclass(frozen=True)
class Edits:
    """Spark parses the text after these edits, which are sorted and do not overlap."""

    edits: tuple[Edit, ...]


@dataclass(frozen=True)
class Refusal:
    """The statement fails with this error.

    For a condition that Spark knows, `parameters` fill Spark's own message.
    """

    condition: str
    message: str
    sql_state: str | None = None
    parameters: Mapping[str, str] | None = None


RewriteResult = Edits | Command | Refusal


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """Return `text` with the edits applied.

    >>> apply_edits("abc", [Edit(1, 2, "-")])
    'a-c'
    """
    parts: list[str] = []
    at = 0
    for edit in edits:
        parts += [text[at : edit.start], edit.text]
        at = edit.end
    return "".join([*parts, text[at:]])


# Blanks and comments before a statement, for triggers. Possessive quantifiers prevent backtracking.
BEGINNING = r"^(?:\s++|--[^\n]*+\n|/\*.*?\*/)*+"

Verdict = Literal["supported", "rewritten", "emulated", "unsupported"]


@dataclass(frozen=True)
class Construct:
    """A piece of Databricks SQL and how it runs here.

    Attributes:
        name: Shown in docs/sql.md and by `lakeward check`; unique.
        area: The heading of docs/sql.md.
        verdict: How it runs.
        example: One statement that has it.
        note: What users should know, in one line.
        starts: The words that a whole statement can begin with, for `statement`.
        statement: Parses a whole statement; raises Unmatched if it is a different one.
        edits: Finds the edits in an expression or clause of any statement.
        trigger: A pattern of texts that Spark parses with a different meaning. Only those, and what Spark
            cannot parse, are looked at.
        test: The test file that shows it.
    """

    name: str
    area: str
    verdict: Verdict
    example: str
    note: str = ""
    starts: tuple[str, ...] = ()
    statement: Callable[[TokenCursor], RewriteResult] | None = None
    edits: Callable[[Sequence[Token]], list[Edit]] | None = None
    trigger: str = ""
    test: str = "tests/sql/test_corpus.py"


def supported(name: str, area: str, example: str, note: str = "") -> Construct:
    """Declare what Spark runs itself; the statement reaches Spark unchanged."""
    return Construct(name, area, "supported", example, note)


def unsupported(name: str, area: str, *, example: str, starts: str, reason: str) -> Construct:
    """Declare a statement that fails with UNSUPPORTED_SQL.

    Args:
        name: The construct's name.
        area: The heading of docs/sql.md.
        example: One such statement.
        starts: The words that it begins with.
        reason: Why it cannot run, or what to use instead.
    """
    first, *others = starts.split()

    def statement(cursor: TokenCursor) -> RewriteResult:
        cursor.need(first, *others)
        return Refusal("UNSUPPORTED_SQL", f"{name} is not supported here: {reason}", "0A000")

    return Construct(name, area, "unsupported", example, reason, (first,), statement)
