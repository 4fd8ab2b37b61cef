"""Refreshes one materialized view: one commit, or none when nothing changed."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

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
from lakeward.pipelines.graph.query_plans import plan_text
from lakeward.pipelines.graph.results import FlowResult
from lakeward.pipelines.incremental.refresh_plan import (
    Issue,
    RefreshPlan,
    Technique,
    ViewUpdate,
    recompute,
    require_incremental,
)
from lakeward.pipelines.incremental.refresh_planning import plan_refresh
from lakeward.pipelines.incremental.seen_versions import add_seen_versions
from lakeward.pipelines.incremental.technique_choice import add_start
from lakeward.pipelines.incremental.view_refresh import ViewRefresh
from lakeward.pipelines.incremental.view_writes import InconsistentViewError, append_rows
from lakeward.pipelines.storage.dataset_manager import (
    apply_policies,
    cluster_rows,
    create_empty_table,
    replace_table,
    table_policies,
)
from lakeward.pipelines.storage.delta_tables import StoredTable, WriteMetrics, load_table
from lakeward.pipelines.writers.query_fingerprint import commit_metadata, fingerprint_in, query_fingerprint
from lakeward.session import is_disk_full, keep_interrupts, temporary_conf

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


log = logging.getLogger("lakeward.pipelines")
_GLOBAL_SORT = re.compile(r"Sort \[.*\], true|RepartitionByExpression \[.*(ASC|DESC)")


def refresh_materialized_view(
    spark: SparkSession, dataset: Dataset, evaluated: EvaluatedFlow, metrics: WriteMetrics, update: ViewUpdate
) -> FlowResult:
    """Refresh the view with the cheapest technique that gives exactly the rows of its query."""
    before = load_table(spark, dataset.key)
    return _ViewWriter(spark, dataset, evaluated, metrics, update, before).refresh()


@dataclass(frozen=True)
class _ViewWriter:
    """Writes one view in one update; `before` is its table at the beginning."""

    spark: SparkSession
    dataset: Dataset
    evaluated: EvaluatedFlow
    metrics: WriteMetrics
    update: ViewUpdate
    before: StoredTable | None

    def refresh(self) -> FlowResult:
        """Write what has changed, if anything has."""
        update, before = self.update, self.before
        fingerprint = query_fingerprint(
            self.evaluated.query, self.dataset, code=update.code, conf=update.conf
        )
        known = fingerprint_in(before.last_write().user_metadata) if before is not None else None
        always = update.full_refresh or self.dataset.options.refresh_policy == "full"
        if not always and fingerprint is not None and known == fingerprint:
            return self._unchanged_result(RefreshPlan("NO_OP", [Technique("NO_OP", 0.0)]))
        with temporary_conf(self.spark, self.evaluated.flow.spark_conf):
            has_observed_views = bool(self.evaluated.observed)
            refresh = plan_refresh(
                self.evaluated.query, self.dataset, before, update, has_observed_views=has_observed_views
            )
            if refresh.plan.chosen == "NO_OP":
                return self._unchanged_result(refresh.plan)
            seen = add_seen_versions(commit_metadata(fingerprint, update.update_id), refresh.seen)
            started = time.time()
            if before is not None and refresh.plan.is_incremental:
                done = self._apply_changes(refresh, before, lambda plan: add_start(seen, plan, started))
                if done is not None:
                    update.on_plan(refresh.plan)
                    return done
                text = "The changes could not be applied; see the log of the update."
                refresh.plan = recompute(Issue("DATA_HAS_CHANGED", text))
                require_incremental(self.dataset, refresh.plan.issues, is_eligible=True)
            metadata = add_start(seen, refresh.plan, time.time())
        update.on_plan(refresh.plan)
        self.evaluated.query = refresh.query
        return self._recompute(metadata, note=refresh.plan.chosen)

    def _apply_changes(
        self, refresh: ViewRefresh, before: StoredTable, describe: Callable[[RefreshPlan], str]
    ) -> FlowResult | None:
        """Apply the changes of the sources. Returns None if the view has to be recomputed.

        A failure leaves the view as it was: nothing is committed before everything is computed. Violated
        expectations propagate. `describe` returns the user metadata of the commit.
        """
        dataset, flow, expectations = self.dataset, self.evaluated.flow, self.dataset.expectations
        metric = f"lakeward_added_{self.update.update_id}_{flow.name}"

        def enforce(rows: DataFrame, leaving: bool) -> DataFrame:
            if leaving:
                return kept_rows(rows, expectations)
            return apply_expectations(rows, expectations, metric=metric, flow=flow.name)

        self.metrics.watch({metric} if expectations else set())
        try:
            with keep_interrupts():
                metadata = refresh.apply(dataset, describe, enforce, storage=self.update.storage)
        except InconsistentViewError:
            log.warning("`%s` does not have the rows that its sources had: it is recomputed.", dataset.name)
            return None
        except Exception as error:
            if find_violation(error) or is_disk_full(error):
                raise
            log.warning("`%s` is recomputed: %s", dataset.name, error_message(error))
            return None
        after = load_table(self.spark, dataset.key)
        changed = after is None or after.commit().user_metadata == metadata
        if not changed:
            # A MERGE that changes nothing commits nothing.
            append_rows(dataset.key, refresh.query.limit(0), metadata)
            after = load_table(self.spark, dataset.key)
        if after is None or after.version != before.version + 1:
            # Another writer committed in between: what was applied may not fit to its rows.
            return None
        info = after.commit().info.get("operationMetrics", {}) if changed else {}
        if "numTargetRowsInserted" in info:
            written, deleted = _count(info, "Inserted", "Updated"), _count(info, "Deleted")
        else:
            written, deleted = int(info.get("numOutputRows", 0)), None
        result = FlowResult(flow.name, written, deleted=deleted, note=refresh.plan.chosen)
        if expectations:
            counts = self._counts_of_added(refresh, metric, result.rows_written)
            result.counted.append(CountedExpectations(dataset.name, expectations, counts))
        return result

    def _counts_of_added(
        self, refresh: ViewRefresh, metric: str, rows_written: int | None
    ) -> ExpectationCounts:
        """Return the counts of the rows that were added before expectations."""
        if refresh.added is None:
            return ExpectationCounts.none(self.dataset.expectations)
        reported = self.metrics.take({metric}).get(metric, [])
        # Rows that are added and removed cancel out: those that are written are fewer.
        nets_out = refresh.plan.chosen == "ROW_BASED"
        if len(reported) == 1 and (nets_out or reported[0].kept == rows_written):
            return reported[0]
        return count_expectations(refresh.added, self.dataset.expectations)

    def _recompute(self, metadata: str, *, note: str) -> FlowResult:
        """Replace all rows of the view."""
        spark, dataset, evaluated, update = self.spark, self.dataset, self.evaluated, self.update
        flow = evaluated.flow
        own = ObservedExpectations(
            f"lakeward_own_{update.update_id}_{flow.name}",
            dataset.name,
            dataset.expectations,
            evaluated.query,
        )
        # Below the expectations: Spark reads the rows a second time to find ranges. Counts of both times are
        # not trusted, so that a query of its own would count them.
        clustered = cluster_rows(evaluated.query, dataset.options.cluster_by)
        df = apply_expectations(clustered, dataset.expectations, metric=own.metric, flow=flow.name)
        counted = [each for each in (own, *evaluated.observed) if each.expectations]
        names = {each.metric for each in counted}
        self.metrics.watch(names)
        schema = nullable_schema(df.schema)
        # Set before rows are written: readers never see filtered rows, even if a filter cannot be set.
        if self.before is None and table_policies(dataset):
            create_empty_table(spark, dataset, schema, update.owner, kind="materialized_view")
        apply_policies(spark, dataset, self.before, schema)
        with temporary_conf(spark, flow.spark_conf):
            replace_table(df, dataset, update.owner, metadata, None if update.full_refresh else self.before)
        after = load_table(spark, dataset.key)
        if after is None:
            raise PipelineError(
                "TABLE_VANISHED",
                f"`{dataset.name}` was dropped while it was being written.",
                next_step="Run the update again.",
            )
        commit = after.commit()
        rows = commit.rows_written if update.update_id in (commit.user_metadata or "") else None
        found = self.metrics.take(names)
        sorted_above = bool(evaluated.observed) and bool(_GLOBAL_SORT.search(plan_text(df)))
        flow_result = FlowResult(flow.name, rows, note=note)
        for each in counted:
            reported = found[each.metric][0] if len(found.get(each.metric, ())) == 1 else None
            trusted = reported is not None and (reported.kept == rows if each is own else not sorted_above)
            counts = reported if trusted else count_expectations(each.before, each.expectations)
            flow_result.counted.append(CountedExpectations(each.dataset, each.expectations, counts))
        return flow_result

    def _unchanged_result(self, plan: RefreshPlan) -> FlowResult:
        self.update.on_plan(plan)
        flow_result = FlowResult(self.evaluated.flow.name, 0, unchanged=True, note="NO_OP")
        for name, expectations in [
            (self.dataset.name, self.dataset.expectations),
            *((each.dataset, each.expectations) for each in self.evaluated.observed),
        ]:
            if expectations:
                flow_result.counted.append(
                    CountedExpectations(name, expectations, ExpectationCounts.none(expectations))
                )
        return flow_result


def _count(metrics: Mapping[str, str], *kinds: str) -> int:
    return sum(int(metrics.get(f"numTargetRows{kind}", 0)) for kind in kinds)
