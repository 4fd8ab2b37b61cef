"""Brings one materialized view up to date: one commit, or none when nothing changed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from lakeward.errors import PipelineError
from lakeward.pipelines import expectations, storing
from lakeward.pipelines.counts import Metrics
from lakeward.pipelines.declared import nullable
from lakeward.pipelines.elements import Dataset
from lakeward.pipelines.evaluate import Evaluated
from lakeward.pipelines.expectations import Counts, Observed
from lakeward.pipelines.fingerprint import fingerprint, metadata, read_back
from lakeward.pipelines.outcome import FlowOutcome, RuleCounts
from lakeward.pipelines.plans import text_of
from lakeward.pipelines.policies import govern, policies
from lakeward.pipelines.spark_settings import settings
from lakeward.pipelines.tables import look_up

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["materialize"]

_GLOBAL_SORT = re.compile(r"Sort \[.*\], true|RepartitionByExpression \[.*(ASC|DESC)")


def materialize(
    spark: SparkSession,
    dataset: Dataset,
    evaluated: Evaluated,
    metrics: Metrics,
    *,
    owner: str,
    update_id: str,
    code: str,
    conf: Mapping[str, str],
    anew: bool,
) -> FlowOutcome:
    """Write the view unless its fingerprint says that it already holds the result; `anew` writes always."""
    flow = evaluated.flow
    hashed = fingerprint(evaluated.query, dataset, code=code, conf={**conf, **flow.spark_conf})
    before = look_up(spark, dataset.key)
    known = read_back(before.commit().user_metadata) if before is not None else None
    if not anew and hashed is not None and known == hashed:
        return _unchanged(dataset, evaluated)
    own = Observed(f"lakeward_own_{update_id}_{flow.name}", dataset.name, dataset.rules, evaluated.query)
    df = expectations.apply(evaluated.query, dataset.rules, metric=own.metric, flow=flow.name)
    counted = [each for each in (own, *evaluated.observed) if each.rules]
    names = {each.metric for each in counted}
    metrics.want(names)
    schema = nullable(df.schema)
    # Before there are rows: no reader ever sees more than a filter shows, also when it cannot be set.
    if before is None and policies(dataset):
        storing.create_empty(spark, dataset, schema, owner, kind="materialized_view")
    govern(spark, dataset, before, schema)
    with settings(spark, flow.spark_conf):
        storing.replace_contents(df, dataset, owner, metadata(hashed, update_id))
    after = look_up(spark, dataset.key)
    if after is None:
        raise PipelineError("TABLE_VANISHED", f"`{dataset.name}` was dropped while it was being written.")
    commit = after.commit()
    rows = commit.rows_written if update_id in (commit.user_metadata or "") else None
    found = metrics.take(names) if names else {}
    sorted_above = bool(evaluated.observed) and bool(_GLOBAL_SORT.search(text_of(df)))
    outcome = FlowOutcome(flow.name, rows)
    for each in counted:
        reported = found[each.metric][0] if len(found.get(each.metric, ())) == 1 else None
        trusted = reported is not None and (reported.kept == rows if each is own else not sorted_above)
        counts = reported if trusted else expectations.count_now(each.before, each.rules)
        outcome.counted.append(RuleCounts(each.dataset, each.rules, counts))
    return outcome


def _unchanged(dataset: Dataset, evaluated: Evaluated) -> FlowOutcome:
    outcome = FlowOutcome(evaluated.flow.name, 0, unchanged=True)
    for name, rules in [
        (dataset.name, dataset.rules),
        *((each.dataset, each.rules) for each in evaluated.observed),
    ]:
        if rules:
            outcome.counted.append(RuleCounts(name, rules, Counts.none(rules)))
    return outcome
