"""One run of a flow into its target, which the writers of all flow types but materialized views take."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lakeward.pipelines.graph.dataflow_graph import ResolvedDataset
from lakeward.pipelines.graph.elements import Dataset, Flow
from lakeward.pipelines.storage.checkpoints import Checkpoints
from lakeward.pipelines.storage.delta_tables import WriteMetrics
from lakeward.pipelines.storage.streaming_query_task import QueryTask, run_foreach_batch

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
