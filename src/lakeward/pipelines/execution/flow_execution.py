"""Executes one flow with the writer for its type, and retries transient failures.

Transient are: a concurrent writer (Delta's concurrency conditions), a connection that was refused, reset or
timed out, a throttling service. Everything else is deterministic and would fail again."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, TypeVar

from lakeward.pipelines.analysis.flow_evaluation import EvaluatedFlow, FlowEvaluator
from lakeward.pipelines.analysis.schema_enforcement import align_to_schema, declared_schema
from lakeward.pipelines.graph.dataflow_graph import ResolvedDataset
from lakeward.pipelines.graph.elements import Dataset, Flow
from lakeward.pipelines.graph.error_location import error_chain
from lakeward.pipelines.graph.results import FlowResult
from lakeward.pipelines.incremental.refresh_plan import RefreshPlan, ViewUpdate
from lakeward.pipelines.incremental.view_plan import frame_of
from lakeward.pipelines.storage.checkpoints import Checkpoints
from lakeward.pipelines.storage.delta_tables import WriteMetrics
from lakeward.pipelines.storage.streaming_query_task import (
    QueryTask,
    run_foreach_batch,
    run_in_background,
    run_in_pool,
)
from lakeward.pipelines.writers.auto_cdc import run_auto_cdc_flow, run_snapshot_flow
from lakeward.pipelines.writers.flow_run import FlowRun
from lakeward.pipelines.writers.materialized_view import refresh_materialized_view
from lakeward.pipelines.writers.replace_flow import run_replace_flow
from lakeward.pipelines.writers.streaming_table import run_append_flow, run_once_flow, run_sink_flow
from lakeward.session import condition_of, is_disk_full
from lakeward.spark_internals import analyzed_plan

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery
T = TypeVar("T")
_MAX_RETRIES_KEY = "pipelines.maxflowretryattempts"
_DEFAULT_RETRIES = 2
_FIRST_BACKOFF, _MAX_BACKOFF = 5.0, 60.0
_CONDITIONS = ("DELTA_CONCURRENT", "DELTA_METADATA_CHANGED", "DELTA_PROTOCOL_CHANGED")
_EXCEPTIONS = (
    "java.net.ConnectException",
    "java.net.NoRouteToHostException",
    "java.net.SocketException",
    "java.net.SocketTimeoutException",
    "java.net.UnknownHostException",
    "SlowDown",
    "503 Service Unavailable",
)


def is_transient(error: BaseException) -> bool:
    """Return whether a retry may succeed."""
    if is_disk_full(error):
        return False
    if isinstance(error, ConnectionError | TimeoutError):
        return True
    if (condition_of(error) or "").startswith(_CONDITIONS):
        return True
    return any(name in text for text in error_chain(error) for name in (*_CONDITIONS, *_EXCEPTIONS))


def max_retries(conf: Mapping[str, str], *, production: bool) -> int:
    """Return the maximum of retries of a flow: none in development."""
    if not production:
        return 0
    lower = {key.lower(): value for key, value in conf.items()}
    return int(lower.get(_MAX_RETRIES_KEY, lower.get(f"spark.sql.{_MAX_RETRIES_KEY}", _DEFAULT_RETRIES)))


def with_retries(
    work: Callable[[], QueryTask[T]],
    retries: int,
    *,
    note: Callable[[Exception, int], None],
    pause: Callable[[float], None] = time.sleep,
) -> QueryTask[T]:
    """Run `work`; after a transient failure run it again, at most `retries` times.

    Args:
        work: Creates the task of one attempt.
        retries: Maximum of retries.
        note: Called with each failure that is retried, and the number of the retry.
        pause: Sleeps for a number of seconds; the backoff doubles.

    Returns:
        The result of the first attempt that succeeds. The last failure propagates.
    """
    for attempt in range(retries):
        try:
            return (yield from work())
        except Exception as error:
            if not is_transient(error):
                raise
            note(error, attempt + 1)
            pause(min(_FIRST_BACKOFF * 2**attempt, _MAX_BACKOFF))
    return (yield from work())


@dataclass(frozen=True, kw_only=True)
class ExecutionContext:
    """The state that all flows of one update share.

    Attributes:
        spark: The session of the update.
        checkpoints: Checkpoints of the pipeline.
        metrics: Row counts of writes.
        schema_location: Schema location of a reader of a flow (`SchemaLocations`).
        owner: Name of the pipeline, stored in its tables.
        update_id: Identifier of the update.
        code: Hash of the user's code.
        conf: Configuration of the pipeline.
        folders: Folders of the user's files, for error locations.
        production: Whether transient failures are retried.
        now: Returns the time in seconds since 1970.
    """

    spark: SparkSession
    checkpoints: Checkpoints
    metrics: WriteMetrics
    schema_location: Callable[[Flow, int | str], str]
    owner: str
    update_id: str
    code: str
    conf: Mapping[str, str]
    folders: tuple[Path, ...]
    production: bool = False
    now: Callable[[], float] = time.time


@dataclass(frozen=True)
class FlowExecution:
    """Executes flows with the writer of their type.

    `on_query` is called with the dataset, the flow and each query that it starts, `on_plan` with the planned
    refresh of every view.
    """

    context: ExecutionContext
    evaluator: FlowEvaluator
    on_query: Callable[[Dataset, str, StreamingQuery], None]
    on_plan: Callable[[Dataset, str, RefreshPlan], None]

    def run(self, resolved: ResolvedDataset, flow: Flow, *, full_refresh: bool) -> QueryTask[FlowResult]:
        """Process new input, or recompute (always in a full refresh). Errors of the flow propagate."""
        context = self.context
        run = FlowRun(
            spark=context.spark,
            resolved=resolved,
            flow=flow,
            checkpoints=context.checkpoints,
            metrics=context.metrics,
            update_id=context.update_id,
            on_query=partial(self.on_query, resolved.dataset, flow.name),
        )
        return run_in_pool(context.spark.sparkContext, flow.name, self._write(run, full_refresh=full_refresh))

    def infer_json(self, flow: Flow) -> QueryTask[None]:
        """Run a flow without its target until a batch has stored the schemas of `from_json`.

        Raises UnknownFieldException then. A flow without texts ends without them.
        """
        evaluated = self.evaluator.evaluate(flow, infers_json=True)

        def infer(rows: DataFrame, _: int = 0) -> None:
            rows.write.format("noop").mode("overwrite").save()
            for column in evaluated.unknown_json:
                column.require_unknown()

        if not evaluated.unknown_json:
            return
        if not evaluated.query.isStreaming:
            infer(evaluated.query)
            return
        with TemporaryDirectory(dir=self.context.checkpoints.storage) as checkpoint:
            name = f"{flow.name}/from_json"
            yield from run_foreach_batch(
                evaluated.query, infer, Path(checkpoint), name=name, on_query=lambda _: None
            )

    def _write(self, run: FlowRun, *, full_refresh: bool) -> QueryTask[FlowResult]:
        """Evaluate the flow, and call the writer of its type."""
        flow, kind, dataset = run.flow, run.resolved.kind, run.dataset
        if flow.snapshot_source is not None:
            return run_snapshot_flow(run, self.evaluator.evaluate)
        evaluated = self.evaluator.evaluate(flow)
        if flow.change_args is not None:
            return (yield from run_auto_cdc_flow(run, evaluated))
        if kind == "sink":
            return (yield from run_sink_flow(run, evaluated))
        is_view = kind == "materialized_view"
        schema = declared_schema(dataset)
        evaluated.query = align_to_schema(evaluated.query, schema, dataset, complete=is_view)
        if is_view:
            return (yield from self._refresh_view(dataset, evaluated, full_refresh=full_refresh))
        if flow.replaces is not None:
            return (yield from run_replace_flow(run, evaluated))
        if flow.once:
            return run_once_flow(run, evaluated)
        return (yield from run_append_flow(run, evaluated))

    def _refresh_view(
        self, dataset: Dataset, evaluated: EvaluatedFlow, *, full_refresh: bool
    ) -> QueryTask[FlowResult]:
        """Refresh a view in the background, so that others are evaluated and refreshed meanwhile."""
        context, flow = self.context, evaluated.flow
        plans: list[RefreshPlan] = []
        update = ViewUpdate(
            owner=context.owner,
            update_id=context.update_id,
            code=context.code,
            conf={**context.conf, **flow.spark_conf},
            full_refresh=full_refresh,
            on_plan=plans.append,
            now=context.now,
            storage=context.checkpoints.storage,
        )

        def refresh(session: SparkSession) -> FlowResult:
            evaluated.query = frame_of(session, analyzed_plan(evaluated.query))
            return refresh_materialized_view(session, dataset, evaluated, context.metrics, update)

        try:
            return (yield from run_in_background(context.spark, refresh))
        finally:
            for plan in plans:
                self.on_plan(dataset, flow.name, plan)
