"""Whether Databricks refreshes a materialized view incrementally."""

from __future__ import annotations

from lakeward.check.model import Fact, Use
from lakeward.check.view_obstacles import DOCUMENTATION, decoded


def view(use: Use) -> Fact:
    """Return the verdict on one materialized view."""
    name = f"materialized view {use.name}"
    found = decoded(use.detail)
    if not found:
        return Fact(name, "runs_with_lakeward", "Nothing in its source keeps it from an incremental refresh.")
    reasons = "; ".join(f"{obstacle.reason.format(word=word)} ({obstacle.cure})" for obstacle, word in found)
    return Fact(name, "differs", f"Databricks recomputes it in every update: {reasons}. See {DOCUMENTATION}.")
