"""Expectations of targets written with `foreachBatch`: counted and enforced per batch."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from lakeward.pipelines.graph.expectations import (
    CountedExpectations,
    ExpectationCounts,
    ObservedExpectations,
    apply_expectations,
    count_expectations,
)
from lakeward.pipelines.graph.results import FlowResult
from lakeward.pipelines.writers.flow_run import FlowRun

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class BatchExpectations:
    """Counts the expectations of the target on each batch, and filters its rows."""

    def __init__(self, run: FlowRun) -> None:
        self.dataset, self.expectations = run.dataset.name, run.dataset.expectations
        self.flow = run.flow.name
        self.counts = ExpectationCounts.none(self.expectations)

    def __call__(self, batch: DataFrame) -> DataFrame:
        if not self.expectations:
            return batch
        self.counts += count_expectations(batch, self.expectations)
        return apply_expectations(batch, self.expectations, metric=None, flow=self.flow)

    def account(
        self,
        flow_result: FlowResult,
        observed: Iterable[ObservedExpectations],
        progress: Mapping[int, Any] | None,
    ) -> FlowResult:
        """Add the counts of the target's expectations and of those in the query to `flow_result`.

        `progress` is that of each batch by its number; None for a batch query.
        """
        flow_result.progress = [batch.json for batch in (progress or {}).values()]
        flow_result.counted.append(CountedExpectations(self.dataset, self.expectations, self.counts))
        for each in observed:
            if each.expectations:
                by_rule = (
                    count_expectations(each.before, each.expectations)
                    if progress is None
                    else _sum_reported(each, progress)
                )
                flow_result.counted.append(CountedExpectations(each.dataset, each.expectations, by_rule))
        return flow_result


def _sum_reported(each: ObservedExpectations, progress: Mapping[int, Any]) -> ExpectationCounts:
    """Sum the observed metrics of all batches; a batch without rows reports none."""
    rows = [batch.observedMetrics.get(each.metric) for batch in progress.values()]
    return sum(
        (ExpectationCounts.of(list(row)) for row in rows if row is not None),
        ExpectationCounts.none(each.expectations),
    )
