"""AUTO CDC from snapshots as flows of an update (spec §3.5).

Each snapshot is asked for, kept, compared with the one before, and the difference goes the way of any
change feed, with the version as its sequence.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

from lakeward.pipelines import reads
from lakeward.pipelines.cdc import (
    GONE,
    VERSION,
    Shape,
    Snapshot,
    Snapshots,
    aligned,
    as_feed,
    check_version,
    difference,
    refused,
    require_unique,
)
from lakeward.pipelines.changes import feed_into
from lakeward.pipelines.checkpoints import Checkpoints
from lakeward.pipelines.declared import merged, nullable
from lakeward.pipelines.elements import Flow
from lakeward.pipelines.evaluate import Evaluated
from lakeward.pipelines.in_sql import SqlSnapshots
from lakeward.pipelines.outcome import FlowOutcome
from lakeward.pipelines.spark_settings import settings

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from lakeward.pipelines.resolve import Planned

__all__ = ["planned_snapshot", "run_snapshots"]

Pair = tuple[Any, Any]


def planned_snapshot(
    spark: SparkSession, flow: Flow, checkpoints: Checkpoints, resets: frozenset[tuple[str, ...]]
) -> Flow:
    """The flow as phase 1 evaluates it: the next snapshot, or the columns of the last one."""
    if flow.snapshots is None:
        return flow
    last = None if flow.target in resets else _kept(flow, checkpoints).last()

    def query() -> DataFrame:
        given = _next(flow, last.version if last else None)
        if given is not None:
            return as_feed(*given)
        if last is None:
            return as_feed(*flow.snapshots.nothing())
        return as_feed(spark.createDataFrame([], last.schema), last.version)

    return dataclasses.replace(flow, function=query)


def run_snapshots(
    spark: SparkSession,
    planned: Planned,
    flow: Flow,
    checkpoints: Checkpoints,
    evaluate: Callable[[Flow], Evaluated],
) -> FlowOutcome:
    """Apply all snapshots that there are, one after the other."""
    run = _Run(spark, planned, flow, checkpoints, FlowOutcome(flow.name, 0, unchanged=True, deleted=0))
    kept = _kept(flow, checkpoints)
    with settings(spark, flow.spark_conf):
        last = kept.last()
        if last is not None and not last.is_applied:
            run.apply(kept, last)
        while last is None or not flow.once:
            given = _evaluated(flow, last, evaluate)
            if given is None:
                break
            last = run.take(kept, *given)
            if not callable(flow.snapshots):
                break
    return run.outcome


def _evaluated(flow: Flow, last: Snapshot | None, evaluate: Callable[[Flow], Evaluated]) -> Pair | None:
    """The next snapshot, its source called as any dataset function is."""
    found: list[Pair] = []

    def query() -> Any:
        given = _next(flow, last.version if last else None)
        if given is None:
            raise _NoMore
        found.append(given)
        return given[0]

    try:
        evaluate(dataclasses.replace(flow, function=query))
    except _NoMore:
        return None
    return found[-1]


class _NoMore(Exception):
    """There is no newer snapshot."""


class _Run:
    def __init__(
        self,
        spark: SparkSession,
        planned: Planned,
        flow: Flow,
        checkpoints: Checkpoints,
        outcome: FlowOutcome,
    ) -> None:
        self.spark, self.dataset, self.flow = spark, planned.dataset, flow
        self.checkpoints, self.outcome = checkpoints, outcome
        self._schema = planned.schema

    def take(self, kept: Snapshots, rows: DataFrame, version: Any) -> Snapshot:
        """Keep a snapshot with all columns that the target has, and apply it."""
        assert self.flow.change is not None
        self._schema = merged(self._schema, nullable(rows.schema))
        wanted = [field for field in self._schema.fields if field.name.lower() not in _RESERVED]
        keys, flow = self.flow.change.keys, self.flow.name
        whole = aligned(rows, type(self._schema)(wanted))
        snapshot = kept.keep(whole, version, lambda stored: require_unique(stored, keys, flow))
        self.apply(kept, snapshot)
        return snapshot

    def apply(self, kept: Snapshots, snapshot: Snapshot) -> None:
        """Bring what differs from the snapshot before into the target."""
        assert self.flow.change is not None
        before = kept.before(snapshot)
        new = snapshot.rows(self.spark)
        self._schema = merged(self._schema, nullable(new.schema))
        shape = Shape.of(as_feed(new, snapshot.version), self.flow.change)
        changes = difference(new, before.rows(self.spark) if before else None, shape.keys, snapshot.version)
        feed = feed_into(self.spark, self.dataset, self.flow, shape, self._schema, self.checkpoints)
        feed.take(changes, snapshot.number)
        kept.applied(snapshot)
        feed.tidy(self.spark)
        self.outcome.unchanged = self.outcome.unchanged and feed.batches == 0
        self.outcome.rows_written = (self.outcome.rows_written or 0) + feed.written.upserted
        self.outcome.deleted = (self.outcome.deleted or 0) + feed.written.deleted


_RESERVED = {name.lower() for name in ("__START_AT", "__END_AT", VERSION, GONE)}


def _kept(flow: Flow, checkpoints: Checkpoints) -> Snapshots:
    return Snapshots(checkpoints.current(flow.target, flow.name) / "snapshots")


def _next(flow: Flow, last: Any) -> Pair | None:
    """The next snapshot and its version, None when there is none. Raises PipelineError."""
    from pyspark.sql import DataFrame

    source = flow.snapshots
    if isinstance(source, str):
        return reads.table(source, stream=False), _now(last)
    given = source(last) if callable(source) else source
    if given is None:
        # A version query of SQL may find nothing yet; a function that is called with None may not.
        if last is None and not isinstance(source, SqlSnapshots):
            raise refused(
                "FIRST_SNAPSHOT_EMPTY",
                flow.name,
                "got None for its first snapshot.",
                "When it is called with None, the function gives the oldest snapshot.",
            )
        return None
    if not isinstance(given, tuple) or len(given) != 2 or not isinstance(given[0], DataFrame):
        raise refused(
            "INVALID_SNAPSHOT_VERSION",
            flow.name,
            f"got {_described(given)} for a snapshot.",
            "A snapshot is a pair: (DataFrame, version).",
        )
    frame, version = given
    if version is None:
        condition = "INVALID_TUPLE_NULL_SNAPSHOT_VERSION" if callable(source) else "NULL_SNAPSHOT_VERSION"
        raise refused(condition, flow.name, "got None as the version of its snapshot.")
    if not callable(source) and last is not None and version == last:
        return None
    check_version(version, last, flow.name)
    return frame, version


def _now(last: Any) -> datetime:
    """The time of ingestion, later than that of the last snapshot even when the clock was set back."""
    now = datetime.now(timezone.utc)
    return now if last is None else max(now, last + timedelta(microseconds=1))


def _described(given: Any) -> str:
    return f"a tuple of {len(given)}" if isinstance(given, tuple) else f"a {type(given).__name__}"
