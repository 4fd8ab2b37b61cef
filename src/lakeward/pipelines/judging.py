"""The rules of a target whose batches are applied by `foreachBatch`: counted and enforced batch by batch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from lakeward.pipelines import expectations
from lakeward.pipelines.elements import Dataset, Rule
from lakeward.pipelines.expectations import Counts, Observed

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["Judge", "reported"]


class Judge:
    """Counts the rules of the target on each batch, and lets through what they let through."""

    def __init__(self, dataset: Dataset, flow: str, update_id: str) -> None:
        self.rules: tuple[Rule, ...] = dataset.rules
        self.flow, self._metric = flow, f"lakeward_cdc_{update_id}"
        self.counts = Counts.none(dataset.rules)

    def __call__(self, batch: DataFrame) -> DataFrame:
        if not self.rules:
            return batch
        self.counts += expectations.count_now(batch, self.rules)
        return expectations.apply(batch, self.rules, metric=self._metric, flow=self.flow)


def reported(each: Observed, progress: Mapping[int, Any]) -> Counts:
    """The sum of what every batch observed; a batch without rows reports none."""
    rows = [batch.observedMetrics.get(each.metric) for batch in progress.values()]
    return sum((Counts.of(list(row)) for row in rows if row is not None), Counts.none(each.rules))
