"""One run of a flow into its target, which the writers of all flow types but materialized views take."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lakeward.pipelines.graph.dataflow_graph import ResolvedDataset
from lakeward.pipelines.graph.elements import Dataset, Flow
from lakeward.pipelines.graph.expectations import (
    CountedExpectations,
    ExpectationCounts,
    ObservedExpectations,
    apply_expectations,
    count_expectations,
)
from lakeward.pipelines.graph.results import FlowResult
from lakeward.pipelines.storage.checkpoints import Checkpoints
from lakeward.pipelines.storage.delta_tables import WriteMetrics
from lakeward.pipelines.storage.streaming_query_task import MAX_PROGRESS, QueryTask, run_foreach_batch

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery


@dataclass(frozen=True, kw_only=True)
class FlowRun:
    """One run of a flow.

    Attributes:
        spark: The session of the update.
        resolved: The target.
        flow: The flow.
        checkpoints: Checkpoints of the pipeline.
        metrics: Row counts of writes.
        update_id: Identifier of the update.
        on_query: Called with each streaming query that the run starts.
    """

    spark: SparkSession
    resolved: ResolvedDataset
    flow: Flow
    checkpoints: Checkpoints
    metrics: WriteMetrics
    update_id: str
    on_query: Callable[[StreamingQuery], None]

    @property
    def dataset(self) -> Dataset:
        return self.resolved.dataset

    @property
    def checkpoint(self) -> Path:
        """Return the checkpoint folder of the flow; a full refresh starts a new one."""
        return self.checkpoints.current(self.dataset.key, self.flow.name)

    @property
    def query_name(self) -> str:
        return f"{'.'.join(self.dataset.key)}/{self.flow.name}"

    def transaction_app(self, writer: str) -> str:
        """Return the application id of the flow's Delta transactions, a new one after a full refresh."""
        return f"lakeward/{writer}/{self.query_name}/{self.checkpoint.name}"

    def foreach_batch(
        self, source: DataFrame, take: Callable[[DataFrame, int], object]
    ) -> QueryTask[dict[int, Any]]:
        """Call `take` with every batch of the stream `source`; see `run_foreach_batch`."""
        return run_foreach_batch(source, take, self.checkpoint, name=self.query_name, on_query=self.on_query)


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


def _sum_reported(each: ObservedExpectations, progress: Mapping[int, Any]) -> ExpectationCounts | None:
    """Sum the observed metrics of all batches, None if some are lost; a batch without rows reports none."""
    if len(progress) >= MAX_PROGRESS:
        return None
    rows = [batch.observedMetrics.get(each.metric) for batch in progress.values()]
    return sum(
        (ExpectationCounts.of(list(row)) for row in rows if row is not None),
        ExpectationCounts.none(each.expectations),
    )
