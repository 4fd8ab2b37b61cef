"""Refreshes one materialized view: one commit, or none when nothing changed."""

from __future__ import annotations

import hashlib
import json
import logging
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lakeward.errors import PipelineError
from lakeward.pipelines.analysis.flow_evaluation import EvaluatedFlow
from lakeward.pipelines.analysis.schema_enforcement import nullable_schema
from lakeward.pipelines.graph.elements import Dataset
from lakeward.pipelines.graph.error_location import error_message
from lakeward.pipelines.graph.expectations import (
    CountedExpectations,
    ExpectationCounts,
    ObservedExpectations,
    apply_expectations,
    count_expectations,
    find_violation,
    kept_rows,
)
from lakeward.pipelines.graph.query_plans import class_name, plan_text, source_nodes
from lakeward.pipelines.graph.results import FlowResult
from lakeward.pipelines.incremental.cost import add_start
from lakeward.pipelines.incremental.issues import Issue
from lakeward.pipelines.incremental.refresh_plan import RefreshPlan, Technique, recompute
from lakeward.pipelines.incremental.refresh_policy import require_incremental
from lakeward.pipelines.incremental.seen_versions import RESULT_SETTINGS, add_seen_versions, view_declaration
from lakeward.pipelines.incremental.view_refresh import ViewRefresh, plan_refresh
from lakeward.pipelines.incremental.view_writes import InconsistentViewError, append_rows
from lakeward.pipelines.storage.dataset_manager import (
    apply_policies,
    cluster_rows,
    create_empty_table,
    replace_table,
    table_policies,
)
from lakeward.pipelines.storage.delta_tables import StoredTable, WriteMetrics, load_table
from lakeward.session import is_disk_full, keep_interrupts, temporary_conf
from lakeward.spark_internals import analyzed_plan

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


log = logging.getLogger("lakeward.pipelines")
_GLOBAL_SORT = re.compile(r"Sort \[.*\], true|RepartitionByExpression \[.*(ASC|DESC)")


@dataclass(frozen=True)
class ViewUpdate:
    """What the refresh of a view needs to know of its update.

    Attributes:
        owner: Name of the pipeline.
        update_id: Identifier of the update.
        code: Hash of the user's code.
        conf: Settings of the pipeline and the flow.
        full_refresh: Whether the view is written even if nothing changed.
        on_plan: Called once, with the technique that refreshes the view.
        now: Returns the time in seconds since 1970.
        storage: Folder of the pipeline.
    """

    owner: str
    update_id: str
    code: str
    conf: Mapping[str, str]
    full_refresh: bool
    on_plan: Callable[[RefreshPlan], None] = lambda _: None
    now: Callable[[], float] = time.time
    storage: Path | None = None


def refresh_materialized_view(
    spark: SparkSession, dataset: Dataset, evaluated: EvaluatedFlow, metrics: WriteMetrics, update: ViewUpdate
) -> FlowResult:
    """Refresh the view with the cheapest technique that gives exactly the rows of its query."""
    flow = evaluated.flow
    hashed = query_fingerprint(evaluated.query, dataset, code=update.code, conf=update.conf)
    before = load_table(spark, dataset.key)
    known = fingerprint_in(before.last_write().user_metadata) if before is not None else None
    always = update.full_refresh or dataset.options.refresh_policy == "full"
    if not always and hashed is not None and known == hashed:
        return _unchanged_result(dataset, evaluated, update)
    with temporary_conf(spark, flow.spark_conf):
        refresh = plan_refresh(
            evaluated.query,
            dataset,
            before,
            code=update.code,
            conf=update.conf,
            full_refresh=update.full_refresh,
            has_observed_views=bool(evaluated.observed),
            now=update.now,
        )
        if refresh.plan.chosen == "NO_OP":
            return _unchanged_result(dataset, evaluated, update, refresh.plan)
        seen = add_seen_versions(commit_metadata(hashed, update.update_id), refresh.seen)
        started = time.time()
        if before is not None and refresh.plan.is_incremental:
            done = _refresh_incrementally(
                spark,
                dataset,
                evaluated,
                metrics,
                update,
                refresh,
                before,
                lambda plan: add_start(seen, plan, started),
            )
            if done is not None:
                update.on_plan(refresh.plan)
                return done
            text = "The changes could not be applied; see the log of the update."
            refresh.plan = recompute(Issue("DATA_HAS_CHANGED", text))
            require_incremental(dataset, refresh.plan.issues, is_eligible=True)
        metadata = add_start(seen, refresh.plan, time.time())
    update.on_plan(refresh.plan)
    evaluated.query = refresh.query
    flow_result = _recompute(spark, dataset, evaluated, metrics, update, before, metadata)
    flow_result.note = refresh.plan.chosen
    return flow_result


def _refresh_incrementally(
    spark: SparkSession,
    dataset: Dataset,
    evaluated: EvaluatedFlow,
    metrics: WriteMetrics,
    update: ViewUpdate,
    refresh: ViewRefresh,
    before: StoredTable,
    describe: Callable[[RefreshPlan], str],
) -> FlowResult | None:
    """Apply the changes of the sources. Returns None if the view has to be recomputed.

    A failure leaves the view as it was: nothing is committed before everything is computed. Violated
    expectations propagate.
    """
    expectations = dataset.expectations
    metric = f"lakeward_added_{update.update_id}_{evaluated.flow.name}"

    def enforce(rows: DataFrame, leaving: bool) -> DataFrame:
        if leaving:
            return kept_rows(rows, expectations)
        return apply_expectations(rows, expectations, metric=metric, flow=evaluated.flow.name)

    metrics.watch({metric} if expectations else set())

    try:
        with keep_interrupts():
            metadata = refresh.apply(dataset, describe, enforce, storage=update.storage)
    except InconsistentViewError:
        log.warning("`%s` does not have the rows that its sources had: it is recomputed.", dataset.name)
        return None
    except Exception as error:
        if find_violation(error) or is_disk_full(error):
            raise
        log.warning("`%s` is recomputed: %s", dataset.name, error_message(error))
        return None
    after = load_table(spark, dataset.key)
    if after is not None and after.commit().user_metadata != metadata:
        # A MERGE that changes nothing commits nothing.
        append_rows(dataset.key, refresh.query.limit(0), metadata)
        after = load_table(spark, dataset.key)
        changed = False
    else:
        changed = True
    if after is None or after.version != before.version + 1:
        # Another writer committed in between: what was applied may not fit to its rows.
        return None
    info = after.commit().info.get("operationMetrics", {}) if changed else {}
    result = FlowResult(evaluated.flow.name, _count(info, "Inserted", "Updated"), note=refresh.plan.chosen)
    if "numTargetRowsInserted" not in info:
        result.rows_written = int(info.get("numOutputRows", 0))
    else:
        result.deleted = _count(info, "Deleted")
    if expectations:
        counts = ExpectationCounts.none(expectations)
        if refresh.added is not None:
            reported = metrics.take({metric}).get(metric, [])
            # Rows that are added and removed cancel out: those that are written are fewer.
            nets_out = refresh.plan.chosen == "ROW_BASED"
            trusted = len(reported) == 1 and (nets_out or reported[0].kept == result.rows_written)
            counts = reported[0] if trusted else count_expectations(refresh.added, expectations)
        result.counted.append(CountedExpectations(dataset.name, expectations, counts))
    return result


def _count(metrics: Mapping[str, str], *kinds: str) -> int:
    return sum(int(metrics.get(f"numTargetRows{kind}", 0)) for kind in kinds)


def _recompute(
    spark: SparkSession,
    dataset: Dataset,
    evaluated: EvaluatedFlow,
    metrics: WriteMetrics,
    update: ViewUpdate,
    before: StoredTable | None,
    metadata: str,
) -> FlowResult:
    """Replace all rows of the view."""
    flow = evaluated.flow
    own = ObservedExpectations(
        f"lakeward_own_{update.update_id}_{flow.name}", dataset.name, dataset.expectations, evaluated.query
    )
    # Below the expectations: Spark reads the rows a second time to find ranges. Counts of both times are not
    # trusted, so that a query of its own would count them.
    clustered = cluster_rows(evaluated.query, dataset.options.cluster_by)
    df = apply_expectations(clustered, dataset.expectations, metric=own.metric, flow=flow.name)
    counted = [each for each in (own, *evaluated.observed) if each.expectations]
    names = {each.metric for each in counted}
    metrics.watch(names)
    schema = nullable_schema(df.schema)
    # Set before rows are written: readers never see filtered rows, even if a filter cannot be set.
    if before is None and table_policies(dataset):
        create_empty_table(spark, dataset, schema, update.owner, kind="materialized_view")
    apply_policies(spark, dataset, before, schema)
    with temporary_conf(spark, flow.spark_conf):
        replace_table(df, dataset, update.owner, metadata, None if update.full_refresh else before)
    after = load_table(spark, dataset.key)
    if after is None:
        raise PipelineError("TABLE_VANISHED", f"`{dataset.name}` was dropped while it was being written.")
    commit = after.commit()
    rows = commit.rows_written if update.update_id in (commit.user_metadata or "") else None
    found = metrics.take(names)
    sorted_above = bool(evaluated.observed) and bool(_GLOBAL_SORT.search(plan_text(df)))
    flow_result = FlowResult(flow.name, rows)
    for each in counted:
        reported = found[each.metric][0] if len(found.get(each.metric, ())) == 1 else None
        trusted = reported is not None and (reported.kept == rows if each is own else not sorted_above)
        counts = reported if trusted else count_expectations(each.before, each.expectations)
        flow_result.counted.append(CountedExpectations(each.dataset, each.expectations, counts))
    return flow_result


def _unchanged_result(
    dataset: Dataset, evaluated: EvaluatedFlow, update: ViewUpdate, plan: RefreshPlan | None = None
) -> FlowResult:
    update.on_plan(plan or RefreshPlan("NO_OP", [Technique("NO_OP", True, 0.0)]))
    flow_result = FlowResult(evaluated.flow.name, 0, unchanged=True, note="NO_OP")
    for name, expectations in [
        (dataset.name, dataset.expectations),
        *((each.dataset, each.expectations) for each in evaluated.observed),
    ]:
        if expectations:
            flow_result.counted.append(
                CountedExpectations(name, expectations, ExpectationCounts.none(expectations))
            )
    return flow_result


# The fingerprint is stored in the metadata of the commit that wrote the view and is valid only while that
# commit is the table's latest. It can therefore be neither newer nor older than the data, even after a kill.
_KEY = "lakeward.fingerprint"
# Analyzed expressions whose value changes from run to run although Spark calls them deterministic.
_PER_RUN = re.compile(
    r"\b(now|current_timestamp|current_date|curdate|current_time|localtimestamp|unix_timestamp\(current_timestamp|"
    r"current_user|session_user|input_file_name|version)\(|current_timestamp|current_date|localtimestamp",
    re.IGNORECASE,
)
_NO_DATA = ("OneRowRelation", "Range", "CTERelationRef")


def query_fingerprint(df: DataFrame, dataset: Dataset, *, code: str, conf: Mapping[str, str]) -> str | None:
    """Return the fingerprint of a view's query, None if its result may change without a changed input.

    It is None for sources that are not Delta tables (files, Python data): such a view is always rewritten.
    """
    analyzed: Any = analyzed_plan(df)
    text = plan_text(df)
    if not analyzed.deterministic() or _PER_RUN.search(text):
        return None
    versions = []
    for leaf in source_nodes(df):
        version = _source_version(leaf)
        if version is None:
            return None
        versions.append(version)
    parts = [
        text,
        versions,
        view_declaration(dataset),
        df.schema.json(),
        code,
        dict(conf),
        {key: df.sparkSession.conf.get(key, None) for key in RESULT_SETTINGS},
        df.sparkSession.version,
    ]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _source_version(leaf: Any) -> str | None:
    name = class_name(leaf)
    if name in _NO_DATA:
        return name
    if name == "LocalRelation":
        return str(leaf.data().mkString("\n"))
    if name == "LogicalRelation":
        index = _file_index(leaf.relation())
        if index is not None and class_name(index) == "TahoeLogFileIndex":
            # The write may see a later version than this one: then the next update rewrites unnecessarily.
            snapshot = index.getSnapshot()
            return f"{snapshot.metadata().id()}@{snapshot.version()}"
    return None


def _file_index(relation: Any) -> Any:
    """Return the file index of a relation, None for relations that do not read files."""
    from py4j.protocol import Py4JError

    try:
        return relation.location()
    except Py4JError:
        return None


def commit_metadata(hashed: str | None, update_id: str) -> str:
    """Return the user metadata of the commit."""
    return json.dumps({_KEY: hashed, "lakeward.update": update_id})


def fingerprint_in(text: str | None) -> str | None:
    """Return the fingerprint in a commit's user metadata, None if it has none."""
    try:
        found = json.loads(text or "{}").get(_KEY)
    except (ValueError, AttributeError):
        return None
    return found if isinstance(found, str) else None
