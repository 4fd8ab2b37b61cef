"""Tasks of jobs, by the kinds that the runner has."""

from __future__ import annotations

from lakeward.check.knowledge.words import SERVED
from lakeward.check.model import Fact, Use

__all__ = ["task"]


def task(use: Use) -> Fact:
    """The verdict on a task: by its kind, or by what its definition is refused for (`detail`)."""
    from lakeward.jobs import KINDS

    if use.detail is not None:
        return Fact(use.name, "refused", use.detail)
    if use.name in KINDS:
        return Fact(use.name, "runs_with_lakeward", SERVED)
    known = ", ".join(KINDS)
    return Fact(use.name, "refused", f"Tasks of this kind cannot be run here yet; those that can: {known}.")
