"""The pipeline API, by the table that its functions bind by."""

from __future__ import annotations

from lakeward.check.model import Fact, Use
from lakeward.check.verdicts.words import SERVED, sentence
from lakeward.pipelines import FUNCTIONS, function


def function_(use: Use) -> Fact:
    """Return the verdict on a function or decorator."""
    row = function(use.name)
    name = f"pipelines {use.name}"
    if row is None:
        names = ", ".join(each.name for each in FUNCTIONS)
        return Fact(name, "refused", f"The pipeline API has no such function; there are {names}.")
    return Fact(name, "runs_with_lakeward", SERVED)


def parameter(use: Use) -> Fact | None:
    """Return the verdict on a parameter that was given, None for those that simply work."""
    name, _, parameter_name = use.name.partition(".")
    row = function(name)
    if row is None:
        return None
    declared = row.parameter(parameter_name)
    shown = f"pipelines {name}({parameter_name}=…)"
    if declared is None:
        return Fact(
            shown, "refused", f"The function {name} has no such parameter: it is a TypeError, there as here."
        )
    if declared.verdict == "supported" or use.detail is None or not declared.is_given(use.detail):
        return None
    if declared.verdict == "refused":
        return Fact(shown, "refused", sentence(declared.note))
    return Fact(shown, "differs", f"It has no effect here: {declared.note}.")
