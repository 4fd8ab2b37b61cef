"""Refreshes one materialized view: one commit, or none when nothing changed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from lakeward.errors import PipelineError
from lakeward.pipelines.analysis.flow_evaluation import EvaluatedFlow
from lakeward.pipelines.analysis.schema_enforcement import nullable_schema
from lakeward.pipelines.graph.elements import Dataset
from lakeward.pipelines.graph.expectations import (
    CountedExpectations,
    ExpectationCounts,
    ObservedExpectations,
    apply_expectations,
    count_expectations,
)
from lakeward.pipelines.graph.query_plans import plan_text
from lakeward.pipelines.graph.results import FlowResult
from lakeward.pipelines.graph.session_scope import temporary_conf
from lakeward.pipelines.storage.dataset_manager import (
    apply_policies,
    create_empty_table,
    replace_table,
    table_policies,
)
from lakeward.pipelines.storage.delta_tables import load_table
from lakeward.pipelines.storage.fingerprint import commit_metadata, fingerprint_in, query_fingerprint
from lakeward.pipelines.storage.write_metrics import WriteMetrics

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
_GLOBAL_SORT = re.compile(r"Sort \[.*\], true|RepartitionByExpression \[.*(ASC|DESC)")


def refresh_materialized_view(
    spark: SparkSession,
    dataset: Dataset,
    evaluated: EvaluatedFlow,
    metrics: WriteMetrics,
    *,
    owner: str,
    update_id: str,
    code: str,
    conf: Mapping[str, str],
    full_refresh: bool,
) -> FlowResult:
    """Write the view unless its fingerprint is current; a `full_refresh` always writes."""
    flow = evaluated.flow
    hashed = query_fingerprint(evaluated.query, dataset, code=code, conf={**conf, **flow.spark_conf})
    before = load_table(spark, dataset.key)
    known = fingerprint_in(before.commit().user_metadata) if before is not None else None
    if not full_refresh and hashed is not None and known == hashed:
        return _unchanged_result(dataset, evaluated)
    own = ObservedExpectations(
        f"lakeward_own_{update_id}_{flow.name}", dataset.name, dataset.expectations, evaluated.query
    )
    df = apply_expectations(evaluated.query, dataset.expectations, metric=own.metric, flow=flow.name)
    counted = [each for each in (own, *evaluated.observed) if each.expectations]
    names = {each.metric for each in counted}
    metrics.watch(names)
    schema = nullable_schema(df.schema)
    # Set before rows are written: readers never see filtered rows, even if a filter cannot be set.
    if before is None and table_policies(dataset):
        create_empty_table(spark, dataset, schema, owner, kind="materialized_view")
    apply_policies(spark, dataset, before, schema)
    with temporary_conf(spark, flow.spark_conf):
        replace_table(df, dataset, owner, commit_metadata(hashed, update_id))
    after = load_table(spark, dataset.key)
    if after is None:
        raise PipelineError("TABLE_VANISHED", f"`{dataset.name}` was dropped while it was being written.")
    commit = after.commit()
    rows = commit.rows_written if update_id in (commit.user_metadata or "") else None
    found = metrics.take(names) if names else {}
    sorted_above = bool(evaluated.observed) and bool(_GLOBAL_SORT.search(plan_text(df)))
    flow_result = FlowResult(flow.name, rows)
    for each in counted:
        reported = found[each.metric][0] if len(found.get(each.metric, ())) == 1 else None
        trusted = reported is not None and (reported.kept == rows if each is own else not sorted_above)
        counts = reported if trusted else count_expectations(each.before, each.expectations)
        flow_result.counted.append(CountedExpectations(each.dataset, each.expectations, counts))
    return flow_result


def _unchanged_result(dataset: Dataset, evaluated: EvaluatedFlow) -> FlowResult:
    flow_result = FlowResult(evaluated.flow.name, 0, unchanged=True)
    for name, expectations in [
        (dataset.name, dataset.expectations),
        *((each.dataset, each.expectations) for each in evaluated.observed),
    ]:
        if expectations:
            flow_result.counted.append(
                CountedExpectations(name, expectations, ExpectationCounts.none(expectations))
            )
    return flow_result
