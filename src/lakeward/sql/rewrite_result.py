"""The result of rewriting a statement that Spark does not parse as Databricks does."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from lakeward.sql.commands import Command


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
