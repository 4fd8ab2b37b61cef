"""What one flow did, before it is summed up into results and events."""

from __future__ import annotations

from dataclasses import dataclass, field

from lakeward.pipelines.elements import Rule
from lakeward.pipelines.expectations import Counts

__all__ = ["FlowOutcome", "RuleCounts"]


@dataclass
class RuleCounts:
    """Counts of the rules of `dataset`; None where Spark gave no number that can be trusted."""

    dataset: str
    rules: tuple[Rule, ...]
    counts: Counts | None


@dataclass
class FlowOutcome:
    """Rows that reached the table (None: not known) and the counts of every rule evaluated on the way.

    `deleted` counts the rows that a change feed took out of the table; None for other flows. `progress` is
    what Spark reported of each micro-batch, as JSON.
    """

    flow: str
    rows_written: int | None = 0
    counted: list[RuleCounts] = field(default_factory=list)
    unchanged: bool = False
    deleted: int | None = None
    progress: list[str] = field(default_factory=list)
