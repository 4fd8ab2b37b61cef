"""Flows that run once: a batch query whose rows are appended in a single commit that marks it as done."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lakeward.pipelines import expectations
from lakeward.pipelines.appending import append_once
from lakeward.pipelines.checkpoints import Checkpoints
from lakeward.pipelines.counts import Metrics
from lakeward.pipelines.elements import Dataset
from lakeward.pipelines.evaluate import Evaluated
from lakeward.pipelines.expectations import Counts, Observed
from lakeward.pipelines.names import quoted
from lakeward.pipelines.outcome import FlowOutcome, RuleCounts
from lakeward.pipelines.spark_settings import settings
from lakeward.pipelines.tables import look_up

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["run_once"]


def run_once(
    spark: SparkSession,
    dataset: Dataset,
    evaluated: Evaluated,
    checkpoints: Checkpoints,
    metrics: Metrics,
    *,
    update_id: str,
) -> FlowOutcome:
    """Append the flow's rows unless that was done since the last full refresh (spec §4).

    The mark is the commit's own transaction id.
    """
    flow = evaluated.flow
    own = Observed(f"lakeward_own_{update_id}_{flow.name}", dataset.name, dataset.rules, evaluated.query)
    df = expectations.apply(evaluated.query, dataset.rules, metric=own.metric, flow=flow.name)
    counted = [each for each in (own, *evaluated.observed) if each.rules]
    stored = look_up(spark, dataset.key)
    before = stored.version if stored else -1
    generation = checkpoints.current(dataset.key, flow.name).name
    names = {each.metric for each in counted}
    metrics.want(names)
    with settings(spark, flow.spark_conf):
        app = f"lakeward/once/{'.'.join(dataset.key)}/{flow.name}/{generation}"
        writer = append_once(df, app=app, number=1).option("userMetadata", update_id)
        writer.saveAsTable(quoted(dataset.key))
    after = look_up(spark, dataset.key)
    if after is None or after.version == before:
        outcome = FlowOutcome(flow.name, 0, unchanged=True)
        outcome.counted = [RuleCounts(each.dataset, each.rules, Counts.none(each.rules)) for each in counted]
        return outcome
    outcome = FlowOutcome(flow.name, after.commit().rows_written)
    found = metrics.take(names) if names else {}
    for each in counted:
        reported = found[each.metric][0] if len(found.get(each.metric, ())) == 1 else None
        if each is own and reported is not None and reported.kept != outcome.rows_written:
            reported = None
        counts = reported if reported is not None else expectations.count_now(each.before, each.rules)
        outcome.counted.append(RuleCounts(each.dataset, each.rules, counts))
    return outcome
