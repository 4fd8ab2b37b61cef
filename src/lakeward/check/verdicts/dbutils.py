"""`dbutils`, by its own table."""

from __future__ import annotations

from lakeward.check.model import Fact, Use, Verdict
from lakeward.check.verdicts.words import SERVED, sentence
from lakeward.dbutils import FUNCTIONS, GROUPS

_ROWS = {f"{row.group}.{row.name}": row for row in FUNCTIONS}
_VERDICTS: dict[str, Verdict] = {
    "runs": "runs_with_lakeward",
    "differs": "differs",
    "no effect": "differs",
    "refused": "refused",
}


def function(use: Use) -> Fact | None:
    """Return the verdict on `dbutils.<group>.<function>`; None for a group that is only passed on."""
    name = use.name
    shown = f"dbutils.{name}"
    if name in GROUPS or name == "help" or name.endswith(".help"):
        return None
    for entry_point in ("notebook.entry_point", "entry_point"):
        if f"{name}.".startswith(f"{entry_point}."):
            return Fact(f"dbutils.{entry_point}", "runs_with_lakeward", SERVED)
    row = _ROWS.get(name)
    if row is None:
        if use.detail is not None:  # imported: it may be the user's own module of this name
            return None
        if ".".join(name.split(".")[:2]) in _ROWS:  # an attribute of the function: a test double
            return None
        return Fact(shown, "refused", "There is no such function in dbutils.")
    verdict = _VERDICTS[row.verdict]
    if verdict == "runs_with_lakeward":
        return Fact(shown, verdict, SERVED)
    if row.verdict == "no effect":
        return Fact(shown, verdict, f"It has no effect here{': ' + row.note if row.note else ''}.")
    return Fact(shown, verdict, sentence(row.note))
