"""Brings one streaming table up to date: every flow takes what is new, exactly once."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from lakeward.errors import PipelineError
from lakeward.pipelines import expectations, storing
from lakeward.pipelines.checkpoints import Checkpoints
from lakeward.pipelines.counts import Metrics
from lakeward.pipelines.elements import Dataset
from lakeward.pipelines.evaluate import Evaluated
from lakeward.pipelines.expectations import Counts, Observed
from lakeward.pipelines.names import quoted
from lakeward.pipelines.outcome import FlowOutcome, RuleCounts
from lakeward.pipelines.policies import govern
from lakeward.pipelines.spark_settings import settings
from lakeward.pipelines.tables import StoredTable, look_up
from lakeward.pipelines.waiting import Waiting, waited

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructType

__all__ = ["prepare", "run_flow"]


def prepare(
    spark: SparkSession,
    dataset: Dataset,
    schema: StructType,
    checkpoints: Checkpoints,
    *,
    owner: str,
) -> None:
    """Make the table ready for its flows: created, emptied by a full refresh, or kept up with the files.

    A table that vanished, or that was another kind of dataset, starts anew as after a full refresh: its
    checkpoints tell of rows that are not in it.
    """
    stored = look_up(spark, dataset.key)
    was_other = stored is not None and stored.properties.get(storing.KIND) != "streaming_table"
    vanished = stored is None and checkpoints.begun(dataset.key)
    if was_other or vanished or checkpoints.interrupted(dataset.key):
        checkpoints.begin_reset(dataset.key, [flow.name for flow in dataset.flows])
        storing.create_empty(spark, dataset, schema, owner)
        checkpoints.finish_reset(dataset.key)
    elif stored is None:
        storing.create_empty(spark, dataset, schema, owner)
    else:
        storing.keep_up(spark, dataset, stored, owner)
    govern(spark, dataset, stored, schema)


def run_flow(
    spark: SparkSession,
    dataset: Dataset,
    evaluated: Evaluated,
    checkpoints: Checkpoints,
    metrics: Metrics,
    *,
    whole: bool,
    update_id: str,
    on_query: Callable[[Any], None],
) -> Waiting[FlowOutcome]:
    """Run one flow until it has taken all that was there at its start. What the query raises goes through."""
    flow = evaluated.flow
    own = Observed(f"lakeward_own_{update_id}_{flow.name}", dataset.name, dataset.rules, evaluated.query)
    df = expectations.apply(evaluated.query, dataset.rules, metric=own.metric, flow=flow.name)
    counted = [each for each in (own, *evaluated.observed) if each.rules]
    before = _stored(spark, dataset).version
    names = {each.metric for each in counted}
    metrics.want(names)
    with settings(spark, flow.spark_conf):
        query = (
            df.writeStream.format("delta")
            .queryName(f"{'.'.join(dataset.key)}/{flow.name}")
            .option("checkpointLocation", str(checkpoints.current(dataset.key, flow.name)))
            .option("mergeSchema", "true")
            .outputMode("complete" if whole else "append")
            .trigger(availableNow=True)
            .toTable(quoted(dataset.key))
        )
        on_query(query)
        yield from waited(query)
    commits = _commits(_stored(spark, dataset), before, str(query.id))
    rows = [commit.rows_written for commit in commits]
    outcome = FlowOutcome(flow.name, None if None in rows else sum(row for row in rows if row is not None))
    outcome.progress = [batch.json for batch in query.recentProgress]
    found = metrics.take(names) if names else {}
    for each in counted:
        counts = _summed(each, found.get(each.metric, []), len(commits))
        if each is own and counts is not None and counts.kept != outcome.rows_written:
            counts = None
        outcome.counted.append(RuleCounts(each.dataset, each.rules, counts))
    return outcome


def _summed(each: Observed, writes: list[Counts], commits: int) -> Counts | None:
    """One report a commit, or nothing is known: a stream cannot be counted a second time."""
    if len(writes) != commits:
        return None
    return sum(writes, Counts.none(each.rules))


def _commits(stored: StoredTable, before: int, query_id: str) -> list[Any]:
    commits = [stored.commit(version) for version in range(before + 1, stored.version + 1)]
    return [
        commit for commit in commits if commit.info.get("operationParameters", {}).get("queryId") == query_id
    ]


def _stored(spark: SparkSession, dataset: Dataset) -> StoredTable:
    stored = look_up(spark, dataset.key)
    if stored is None:
        raise PipelineError("TABLE_VANISHED", f"`{dataset.name}` was dropped while it was being written.")
    return stored
