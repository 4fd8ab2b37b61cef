"""What the front end answers about a text that Spark does not take as the platform does."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Command", "Edit", "Edits", "Outcome", "Refusal", "applied"]


@dataclass(frozen=True, order=True)
class Edit:
    """`text` in place of what stands between `start` and `end`."""

    start: int
    end: int
    text: str


@dataclass(frozen=True)
class Edits:
    """Spark parses the text once these are carried out; in order, none overlaps another."""

    edits: tuple[Edit, ...]


@dataclass(frozen=True)
class Command:
    """A statement that is carried out here: the handler's name and what it was asked."""

    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Refusal:
    """A statement that cannot be had: condition, what was asked and what to do instead.

    A condition that Spark knows takes `parameters`, and then Spark's own text is shown.
    """

    condition: str
    message: str
    sql_state: str | None = None
    parameters: Mapping[str, str] | None = None


Outcome = Edits | Command | Refusal


def applied(text: str, edits: Iterable[Edit]) -> str:
    """`text` with the edits carried out.

    >>> applied("abc", [Edit(1, 2, "-")])
    'a-c'
    """
    parts: list[str] = []
    at = 0
    for edit in edits:
        parts += [text[at : edit.start], edit.text]
        at = edit.end
    return "".join([*parts, text[at:]])
