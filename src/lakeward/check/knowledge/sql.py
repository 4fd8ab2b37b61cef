"""SQL of the platform, by the tables of the SQL front end."""

from __future__ import annotations

from lakeward.check.knowledge.words import NOTHING, SERVED, sentence
from lakeward.check.model import Fact, Use, Verdict
from lakeward.sql import CONSTRUCTS, PHRASES

__all__ = ["construct"]

_VERDICTS: dict[str, Verdict] = {
    "as is": "runs_as_is",
    "rewritten": "runs_with_lakeward",
    "added": "runs_with_lakeward",
    "refused": "refused",
}


def _facts() -> dict[str, Fact]:
    found = {}
    for row in CONSTRUCTS:
        verdict, note = _VERDICTS[row.verdict], row.note
        if verdict != "refused":
            note = f"nothing to do: {note}" if note else NOTHING if verdict == "runs_as_is" else SERVED
        found[row.name] = Fact(f"SQL {row.name}", verdict, sentence(note))
    for phrase in PHRASES:
        name = f"SQL {phrase.name}"
        found[phrase.name] = Fact(name, _VERDICTS[phrase.verdict], sentence(phrase.instead) or NOTHING)
    return found


_FACTS = _facts()


def construct(use: Use) -> Fact | None:
    """The verdict on a construct of SQL."""
    return _FACTS.get(use.name)
