"""SQL of the platform, by the tables of the SQL front end."""

from __future__ import annotations

from lakeward.check.model import Fact, Use, Verdict
from lakeward.check.verdicts.words import NOTHING, SERVED, sentence
from lakeward.sql import CONSTRUCTS, MISSING_FUNCTIONS, PASSTHROUGH_STATEMENTS

_VERDICTS: dict[str, Verdict] = {
    "supported": "runs_as_is",
    "rewritten": "runs_with_lakeward",
    "emulated": "runs_with_lakeward",
    "unsupported": "refused",
}


def _facts() -> dict[str, Fact]:
    found = {}
    for row in CONSTRUCTS:
        verdict, note = _VERDICTS[row.verdict], row.note
        if verdict != "refused":
            note = f"nothing to do: {note}" if note else NOTHING if verdict == "runs_as_is" else SERVED
        found[row.name] = Fact(f"SQL {row.name}", verdict, sentence(note))
    for phrase in PASSTHROUGH_STATEMENTS:
        name = f"SQL {phrase.name}"
        found[phrase.name] = Fact(name, _VERDICTS[phrase.verdict], sentence(phrase.instead) or NOTHING)
    for group in MISSING_FUNCTIONS:
        for name in group.names:
            cure = f"Not available here: {group.reason}. Call it in a view that tests replace."
            found.setdefault(f"{name}()", Fact(f"SQL {name}()", "refused", cure))
    return found


_FACTS = _facts()


def construct(use: Use) -> Fact | None:
    """Return the verdict on a construct of SQL."""
    return _FACTS.get(use.name)
