"""Tasks of jobs, by the kinds that the runner has."""

from __future__ import annotations

from lakeward.check.model import Fact, Use
from lakeward.check.verdicts.words import SERVED


def task(use: Use) -> Fact:
    """Return the verdict on a task: by its kind, or by what its definition is refused for (`detail`)."""
    from lakeward.jobs import COMPOSITES, KINDS, REFUSED

    if use.detail is not None:
        return Fact(use.name, "refused", use.detail)
    known = (*KINDS, *COMPOSITES)
    if use.name in known:
        return Fact(use.name, "runs_with_lakeward", SERVED)
    why = REFUSED.get(use.name, "")
    text = f"Tasks of this kind cannot be run here; those that can: {', '.join(sorted(known))}."
    return Fact(use.name, "refused", f"{why} {text}".lstrip())
