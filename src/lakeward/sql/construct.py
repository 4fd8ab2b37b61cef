"""One row of the table of constructs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from lakeward.sql.cursor import Cursor
from lakeward.sql.outcome import Edit, Outcome
from lakeward.sql.tokens import Token

__all__ = ["BEGINNING", "Construct", "Verdict", "as_is", "refused"]

# Blanks and comments before a statement, for triggers. Possessive, as Java has it: nothing to go back for.
BEGINNING = r"^(?:\s++|--[^\n]*+\n|/\*.*?\*/)*+"

Verdict = Literal["as is", "rewritten", "added", "refused"]


@dataclass(frozen=True)
class Construct:
    """A piece of Databricks SQL and what becomes of it here.

    `statement` reads a whole statement that begins with one of `starts`; `edits` finds the places of
    an expression or clause. `trigger` is the pattern of texts that Spark parses, but in another sense:
    only those and what Spark refuses to parse are looked at. `test` names the test that shows it.
    """

    name: str
    area: str
    verdict: Verdict
    example: str
    note: str = ""
    starts: tuple[str, ...] = ()
    statement: Callable[[Cursor], Outcome] | None = None
    edits: Callable[[Sequence[Token]], list[Edit]] | None = None
    trigger: str = ""
    test: str = "tests/sql/test_corpus.py"


def as_is(name: str, area: str, example: str, note: str = "") -> Construct:
    """What Spark runs by itself; it reaches Spark letter for letter."""
    return Construct(name, area, "as is", example, note)


def refused(name: str, area: str, example: str, starts: str, reason: str) -> Construct:
    """A statement that begins with the words `starts`, and why it cannot be had here."""
    from lakeward.sql.outcome import Refusal

    first, *others = starts.split()

    def statement(cursor: Cursor) -> Outcome:
        cursor.need(first, *others)
        return Refusal("UNSUPPORTED_SQL", f"{name} is not supported here: {reason}", "0A000")

    return Construct(name, area, "refused", example, reason, (first,), statement)
