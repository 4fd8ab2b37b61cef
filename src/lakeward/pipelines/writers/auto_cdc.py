"""AUTO CDC flows, from change feeds and from snapshots.

Each snapshot is requested, stored and compared with the previous one; the differences are applied like any
change feed, with the version as sequence."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

from lakeward.autoloader import merge_new_fields
from lakeward.pipelines.analysis.flow_evaluation import EvaluatedFlow
from lakeward.pipelines.analysis.schema_enforcement import nullable_schema
from lakeward.pipelines.autocdc.auxiliary_table import AuxiliaryTable
from lakeward.pipelines.autocdc.cdc_schema import DELETED_COLUMN, VERSION_COLUMN, CdcSchema
from lakeward.pipelines.autocdc.foreach_batch_handler import TOMBSTONE_RETENTION_SECONDS, ForeachBatchHandler
from lakeward.pipelines.autocdc.snapshots import (
    Snapshot,
    SnapshotStore,
    align_columns,
    as_change_feed,
    check_version,
    diff_snapshots,
    require_declared_version,
    require_unique_keys,
    snapshot_error,
)
from lakeward.pipelines.autocdc.target_table import TargetTable
from lakeward.pipelines.graph.elements import Flow
from lakeward.pipelines.graph.results import FlowResult
from lakeward.pipelines.graph.session_scope import read_table
from lakeward.pipelines.sql.queries import SqlSnapshots
from lakeward.pipelines.storage.checkpoints import Checkpoints
from lakeward.pipelines.storage.delta_tables import add_missing_columns
from lakeward.pipelines.storage.streaming_query_task import QueryTask
from lakeward.pipelines.writers.flow_run import BatchExpectations, FlowRun
from lakeward.session import temporary_conf

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType
_TOMBSTONE_PROPERTY = "pipelines.cdc.tombstonegcthresholdinseconds"


def run_auto_cdc_flow(run: FlowRun, evaluated: EvaluatedFlow) -> QueryTask[FlowResult]:
    """Apply all available events. Expectations of the target are evaluated on the feed's rows."""
    flow, source = run.flow, evaluated.query
    assert flow.change_args is not None
    judge = BatchExpectations(run)
    feed = _batch_handler(run, CdcSchema.of(source, flow.change_args), run.resolved.schema)
    if run.dataset.expectations or any(each.expectations for each in evaluated.observed):
        feed.filter = judge
    progress: dict[int, Any] | None = None
    with temporary_conf(run.spark, flow.spark_conf):
        # A one-time flow that was applied since the last full refresh.
        done = run.checkpoint / "done"
        if flow.once and done.exists():
            progress = {}
        elif source.isStreaming:
            progress = yield from run.foreach_batch(source, feed.handle_batch)
            feed.compact(run.spark)
        else:
            feed.handle_batch(source, 0)
        if flow.once:
            done.parent.mkdir(parents=True, exist_ok=True)
            done.touch()
    flow_result = FlowResult(flow.name, feed.merge_metrics.upserted, deleted=feed.merge_metrics.deleted)
    flow_result.unchanged = feed.batches == 0
    return judge.account(flow_result, evaluated.observed, progress)


def _batch_handler(run: FlowRun, cdc_schema: CdcSchema, schema: StructType) -> ForeachBatchHandler:
    """Create the handler of a flow's batches; adds the columns of `schema` that the target lacks."""
    dataset = run.dataset
    add_missing_columns(run.spark, dataset.key, schema)
    properties = {key.lower(): value for key, value in dataset.options.properties.items()}
    return ForeachBatchHandler(
        cdc_schema,
        TargetTable(dataset.key, cdc_schema),
        AuxiliaryTable(run.checkpoints.auxiliary_table(dataset.key)),
        run.transaction_app("cdc"),
        schema,
        tombstone_retention=float(properties.get(_TOMBSTONE_PROPERTY, TOMBSTONE_RETENTION_SECONDS)),
    )


Pair = tuple[Any, Any]


def as_analysis_flow(
    spark: SparkSession, flow: Flow, checkpoints: Checkpoints, resets: frozenset[tuple[str, ...]]
) -> Flow:
    """Return the flow that phase 1 evaluates: the next snapshot, or the columns of the last one."""
    if flow.snapshot_source is None:
        return flow
    last = None if flow.target in resets else _snapshot_store(flow, checkpoints).last()

    def query() -> DataFrame:
        given = _next_snapshot(flow, last.version if last else None)
        if given is not None:
            return as_change_feed(*given)
        if last is None:
            return as_change_feed(*flow.snapshot_source.nothing())
        return as_change_feed(spark.createDataFrame([], last.schema), last.version)

    return dataclasses.replace(flow, function=query)


def run_snapshot_flow(run: FlowRun, evaluate: Callable[[Flow], EvaluatedFlow]) -> FlowResult:
    """Apply all available snapshots in order."""
    flow = run.flow
    store = _snapshot_store(flow, run.checkpoints)
    snapshots = _SnapshotWriter(run, store)
    with temporary_conf(run.spark, flow.spark_conf):
        last = store.last()
        if last is not None and not last.is_applied:
            snapshots.apply(last)
        while last is None or not flow.once:
            given = _evaluate_source(flow, last, evaluate)
            if given is None:
                break
            last = snapshots.take(*given)
            if not callable(flow.snapshot_source):
                break
    return snapshots.flow_result


def _evaluate_source(
    flow: Flow, last: Snapshot | None, evaluate: Callable[[Flow], EvaluatedFlow]
) -> Pair | None:
    """Return the next snapshot; its source is called like any dataset function."""
    found: list[Pair] = []

    def query() -> Any:
        given = _next_snapshot(flow, last.version if last else None)
        if given is None:
            raise _NoNewSnapshot
        found.append(given)
        return given[0]

    try:
        evaluate(dataclasses.replace(flow, function=query))
    except _NoNewSnapshot:
        return None
    return found[-1]


class _NoNewSnapshot(Exception):
    """The source has no newer snapshot."""


class _SnapshotWriter:
    """Stores and applies the snapshots of one run, and adds up what they change."""

    def __init__(self, run: FlowRun, store: SnapshotStore) -> None:
        assert run.flow.change_args is not None
        self.run, self.store, self.change_args = run, store, run.flow.change_args
        self.flow_result = FlowResult(run.flow.name, 0, unchanged=True, deleted=0)
        self._schema = run.resolved.schema

    def take(self, rows: DataFrame, version: Any) -> Snapshot:
        """Store a snapshot with all columns of the target, and apply it."""
        self._schema = merge_new_fields(self._schema, nullable_schema(rows.schema))
        wanted = [field for field in self._schema.fields if field.name.lower() not in _RESERVED_COLUMNS]
        keys, flow = self.change_args.keys, self.run.flow.name
        require_declared_version(version, self._schema, flow)
        whole = align_columns(rows, type(self._schema)(wanted))
        snapshot = self.store.add(whole, version, lambda stored: require_unique_keys(stored, keys, flow))
        self.apply(snapshot)
        return snapshot

    def apply(self, snapshot: Snapshot) -> None:
        """Apply the differences to the previous snapshot."""
        spark, before = self.run.spark, self.store.previous(snapshot)
        new = snapshot.rows(spark)
        self._schema = merge_new_fields(self._schema, nullable_schema(new.schema))
        cdc_schema = CdcSchema.of(as_change_feed(new, snapshot.version), self.change_args)
        changes = diff_snapshots(
            new, before.rows(spark) if before else None, cdc_schema.keys, snapshot.version
        )
        feed = _batch_handler(self.run, cdc_schema, self._schema)
        feed.handle_batch(changes, snapshot.number)
        self.store.mark_applied(snapshot)
        feed.compact(spark)
        self.flow_result.unchanged = self.flow_result.unchanged and feed.batches == 0
        self.flow_result.rows_written = (self.flow_result.rows_written or 0) + feed.merge_metrics.upserted
        self.flow_result.deleted = (self.flow_result.deleted or 0) + feed.merge_metrics.deleted


_RESERVED_COLUMNS = {name.lower() for name in ("__START_AT", "__END_AT", VERSION_COLUMN, DELETED_COLUMN)}


def _snapshot_store(flow: Flow, checkpoints: Checkpoints) -> SnapshotStore:
    return SnapshotStore(checkpoints.current(flow.target, flow.name) / "snapshots")


def _next_snapshot(flow: Flow, last: Any) -> Pair | None:
    """Return the next snapshot and its version, None if there is no newer one. Raises PipelineError."""
    from pyspark.sql import DataFrame

    source = flow.snapshot_source
    if isinstance(source, str):
        return read_table(source, stream=False), _now(last)
    given = source(last) if callable(source) else source
    if given is None:
        # A SQL version query may return nothing at first; a function that is called with None may not.
        if last is None and not isinstance(source, SqlSnapshots):
            raise snapshot_error(
                "FIRST_SNAPSHOT_EMPTY",
                flow.name,
                "got None for its first snapshot.",
                "Return the oldest snapshot when the function is called with None.",
            )
        return None
    if not isinstance(given, tuple) or len(given) != 2 or not isinstance(given[0], DataFrame):
        raise snapshot_error(
            "INVALID_SNAPSHOT_VERSION",
            flow.name,
            f"got {_describe(given)} for a snapshot.",
            "A snapshot is a pair: (DataFrame, version).",
        )
    frame, version = given
    if version is None:
        condition = "INVALID_TUPLE_NULL_SNAPSHOT_VERSION" if callable(source) else "NULL_SNAPSHOT_VERSION"
        raise snapshot_error(condition, flow.name, "got None as the version of its snapshot.")
    if not callable(source) and last is not None and version == last:
        return None
    check_version(version, last, flow.name)
    return frame, version


def _now(last: Any) -> datetime:
    """Return the current time, or a later one than the last snapshot's if the clock was set back."""
    now = datetime.now(timezone.utc)
    return now if last is None else max(now, last + timedelta(microseconds=1))


def _describe(given: object) -> str:
    return f"a tuple of {len(given)}" if isinstance(given, tuple) else f"a {type(given).__name__}"
