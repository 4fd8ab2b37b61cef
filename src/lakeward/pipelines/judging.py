"""The rules of a target whose batches are applied by `foreachBatch`: counted and enforced batch by batch."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from lakeward.pipelines import expectations
from lakeward.pipelines.elements import Dataset
from lakeward.pipelines.expectations import Counts, Observed
from lakeward.pipelines.outcome import FlowOutcome, RuleCounts

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["Judge"]


class Judge:
    """Counts the rules of the target on each batch, and lets through what they let through."""

    def __init__(self, dataset: Dataset, flow: str, update_id: str) -> None:
        self.dataset, self.rules = dataset.name, dataset.rules
        self.flow, self._metric = flow, f"lakeward_cdc_{update_id}"
        self.counts = Counts.none(dataset.rules)

    def __call__(self, batch: DataFrame) -> DataFrame:
        if not self.rules:
            return batch
        self.counts += expectations.count_now(batch, self.rules)
        return expectations.apply(batch, self.rules, metric=self._metric, flow=self.flow)

    def account(
        self, outcome: FlowOutcome, observed: Iterable[Observed], progress: Mapping[int, Any] | None
    ) -> FlowOutcome:
        """Add to `outcome` the counts of the target's rules and of those that its query went through.

        `progress` is that of each batch by its number; None where a query that is no stream was taken.
        """
        outcome.progress = [batch.json for batch in (progress or {}).values()]
        outcome.counted.append(RuleCounts(self.dataset, self.rules, self.counts))
        for each in observed:
            if each.rules:
                by_rule = (
                    expectations.count_now(each.before, each.rules)
                    if progress is None
                    else _reported(each, progress)
                )
                outcome.counted.append(RuleCounts(each.dataset, each.rules, by_rule))
        return outcome


def _reported(each: Observed, progress: Mapping[int, Any]) -> Counts:
    """The sum of what every batch observed; a batch without rows reports none."""
    rows = [batch.observedMetrics.get(each.metric) for batch in progress.values()]
    return sum((Counts.of(list(row)) for row in rows if row is not None), Counts.none(each.rules))
