"""AUTO CDC flows as flows of an update: their target's columns, their rules, their counts."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from lakeward.pipelines.appending import widen
from lakeward.pipelines.cdc import (
    TOMBSTONES_KEPT,
    Feed,
    Shape,
    State,
    Target,
    apply_changes_once,
    apply_changes_stream,
)
from lakeward.pipelines.checkpoints import Checkpoints
from lakeward.pipelines.elements import Dataset, Flow
from lakeward.pipelines.evaluate import Evaluated
from lakeward.pipelines.judging import Judge
from lakeward.pipelines.outcome import FlowOutcome
from lakeward.pipelines.spark_settings import settings
from lakeward.pipelines.waiting import Waiting

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructType

    from lakeward.pipelines.resolve import Planned

__all__ = ["applied", "feed_into", "run_changes"]

_TOMBSTONES = "pipelines.cdc.tombstonegcthresholdinseconds"


def applied(evaluated: Evaluated) -> Evaluated:
    """For a change feed, the query with the columns of its target; any other query as it is."""
    change = evaluated.flow.change
    if change is not None:
        evaluated.query = Shape.of(evaluated.query, change).output(evaluated.query)
    return evaluated


def run_changes(
    spark: SparkSession,
    planned: Planned,
    evaluated: Evaluated,
    checkpoints: Checkpoints,
    *,
    update_id: str,
    on_query: Callable[[Any], None],
) -> Waiting[FlowOutcome]:
    """Apply all that the feed has. The target's rules are judged on the feed's rows before that."""
    dataset, flow, source = planned.dataset, evaluated.flow, evaluated.query
    assert flow.change is not None
    checkpoint = checkpoints.current(dataset.key, flow.name)
    judge = Judge(dataset, flow.name, update_id)
    feed = feed_into(spark, dataset, flow, Shape.of(source, flow.change), planned.schema, checkpoints)
    if dataset.rules or any(each.rules for each in evaluated.observed):
        feed.judged = judge
    progress: dict[int, Any] | None = None
    with settings(spark, flow.spark_conf):
        if flow.once:
            taken = apply_changes_once(source, feed, checkpoint)
            progress = None if taken else {}
        else:
            name = f"{'.'.join(dataset.key)}/{flow.name}"
            progress = yield from apply_changes_stream(source, feed, checkpoint, name=name, on_query=on_query)
    outcome = FlowOutcome(flow.name, feed.written.upserted, deleted=feed.written.deleted)
    outcome.unchanged = feed.batches == 0
    return judge.account(outcome, evaluated.observed, progress)


def feed_into(
    spark: SparkSession,
    dataset: Dataset,
    flow: Flow,
    shape: Shape,
    schema: StructType,
    checkpoints: Checkpoints,
) -> Feed:
    """The way of a flow's events into its target, which gets the columns of `schema` that it lacks."""
    widen(spark, dataset.key, schema)
    properties = {key.lower(): value for key, value in dataset.options.properties.items()}
    generation = checkpoints.current(dataset.key, flow.name).name
    return Feed(
        shape,
        Target(dataset.key, shape),
        State(checkpoints.side_table(dataset.key)),
        f"lakeward/cdc/{'.'.join(dataset.key)}/{flow.name}/{generation}",
        schema,
        tombstones_kept=float(properties.get(_TOMBSTONES, TOMBSTONES_KEPT)),
    )
