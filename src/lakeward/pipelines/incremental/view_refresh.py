"""The refresh of one view in an update: settles its technique, and applies it in one commit."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from lakeward.pipelines.graph.elements import Dataset
from lakeward.pipelines.graph.expectations import split_dropped_keys
from lakeward.pipelines.incremental.aggregate_merge import (
    KEPT,
    SETTLED,
    apply_changed_aggregates,
    changed_aggregates,
    merge_expressions,
)
from lakeward.pipelines.incremental.change_set import ChangeSet
from lakeward.pipelines.incremental.day_files import DayIndex
from lakeward.pipelines.incremental.delta_rules import DeltaRules
from lakeward.pipelines.incremental.eligibility import Eligibility
from lakeward.pipelines.incremental.refresh_plan import MaintenanceType, RefreshPlan, Technique
from lakeward.pipelines.incremental.row_groups import RowGroups, is_distinct
from lakeward.pipelines.incremental.seen_versions import SeenVersions
from lakeward.pipelines.incremental.technique_choice import estimate, merges_added_rows
from lakeward.pipelines.incremental.view_plan import PlanNode, ViewPlan, frame_of
from lakeward.pipelines.incremental.view_writes import (
    append_rows,
    apply_row_changes,
    merge_groups,
    replace_groups,
    replace_partitions,
    require_own_partitions,
)
from lakeward.pipelines.storage.computed_rows import computed_rows
from lakeward.pipelines.storage.delta_tables import read_stored_rows
from lakeward.pipelines.storage.key_ranges import target_condition
from lakeward.spark_internals import JavaObject

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Enforce = Callable[["DataFrame", bool], "DataFrame"]
"""Applies expectations to rows; with True to rows that leave the view, which are filtered and not counted."""


@dataclass
class ViewRefresh:
    """The refresh of one view in one update.

    Attributes:
        plan: The chosen technique, and why.
        seen: What the view will have seen; None if that is not recorded.
        query: The query on the source versions of `seen`.
        times: Time of the update and of the last one, in microseconds since 1970.
        size: Bytes of the view's table.
        added: After `apply`, the rows that were added before expectations; None if they were merged.
    """

    plan: RefreshPlan
    seen: SeenVersions | None
    query: DataFrame
    view: ViewPlan | None = None
    eligibility: Eligibility = field(default_factory=lambda: Eligibility(()))
    changes: list[ChangeSet] = field(default_factory=list)
    times: tuple[int, int] = (0, 0)
    size: int = 0
    added: DataFrame | None = None

    def apply(
        self,
        dataset: Dataset,
        describe: Callable[[RefreshPlan], str],
        enforce: Enforce,
        *,
        storage: Path | None = None,
    ) -> str:
        """Change the view's table in one commit. Errors of Spark, and InconsistentViewError, propagate.

        Args:
            dataset: The view.
            describe: Returns the user metadata of the commit for the technique, which is known only when the
                changed rows are: rows that were removed and added again are no change.
            enforce: Applies the view's expectations.
            storage: Folder in which the index of days is kept.

        Returns:
            The user metadata of the commit.
        """
        assert self.view is not None, "a view without a plan is recomputed"
        assert self.seen is not None, "what is planned is recorded"
        hashes, name = (self.seen.query, self.seen.settings), quote(".".join(dataset.key), safe="")

        def index(details: list[Any]) -> DayIndex:
            assert storage is not None
            return DayIndex(storage / "day_index" / f"{name}.json", json.dumps([*hashes, *details]))

        rules = DeltaRules(
            self.query.sparkSession, self.view.root, self.changes, self.times, index if storage else None
        )
        self._settle_technique(rules, self.view.root, dataset)
        metadata = describe(self.plan)
        self._apply(rules, self.view.root, dataset, metadata, enforce)
        return metadata

    def _settle_technique(self, rules: DeltaRules, root: PlanNode, dataset: Dataset) -> None:
        """Choose the technique for added rows if no row of the view's inputs was removed.

        One that was considered before is not cheaper.
        """
        chosen, groups = self.plan.chosen, self.eligibility.groups
        better: MaintenanceType
        if self._replaces_row(dataset):
            return
        if chosen == "ROW_BASED":
            better, changed = "APPEND_ONLY", root
        elif chosen == "GENERIC_AGGREGATE" and groups is not None:
            keeps_rows = all(is_distinct(each) for each in groups.operators[1:])
            if dataset.expectations or not keeps_rows or not merges_added_rows(root, self.eligibility):
                return
            if rules.group_hashes.can_compare(groups.base):
                # Rows were removed: that none of them reaches the groups is not worth a look.
                return
            better, changed = "GROUP_AGGREGATE", groups.top.children[0]
        else:
            return
        if any(each.type == better for each in self.plan.techniques):
            return
        delta = rules.delta(changed)
        if delta.plus is not None and delta.minus is None:
            self.plan.choose(Technique(better, estimate(better, self.changes, self.size)))

    def _apply(
        self, rules: DeltaRules, root: PlanNode, dataset: Dataset, metadata: str, enforce: Enforce
    ) -> None:
        chosen, top = self.plan.chosen, self.eligibility.top
        groups = self.eligibility.partitions if chosen == "PARTITION_OVERWRITE" else self.eligibility.groups
        if chosen == "GROUP_AGGREGATE" and top is not None:
            self._merge(rules, root, top, dataset, metadata)
        elif groups is not None:
            self._replace(rules, root, groups, dataset, metadata, enforce)
        elif self._replaces_row(dataset):
            stored = read_stored_rows(self.query.sparkSession, dataset.key)
            self.added = self.query
            apply_row_changes(dataset.key, stored, self.query, stored, metadata)
        else:
            self._change_rows(rules, root, dataset, metadata, enforce)

    def _replace(
        self,
        rules: DeltaRules,
        root: PlanNode,
        groups: RowGroups,
        dataset: Dataset,
        metadata: str,
        enforce: Enforce,
    ) -> None:
        """Compute the changed groups or partitions again, and replace those of the view."""
        spark, key = self.query.sparkSession, dataset.key
        key_names = [self.query.columns[index] for index in groups.columns]
        keys = rules.affected_groups(groups)
        count, ranges = (0, []) if keys is None else rules.keys.ranges(keys)
        if keys is None or not count:
            self.added = self.query.limit(0)
            append_rows(key, self.added, metadata)
            return
        require_own_partitions(keys.toDF(*key_names), dataset.options.partition_cols)
        read, left_out = keys, None
        if rules.chooses_files(groups, keys):
            read, left_out = split_dropped_keys(keys, key_names, dataset.expectations)
        rows = _replaced(rules, root, groups.base, rules.restricted(groups, read, left_out))
        self.added = frame_of(spark, rows)
        added = enforce(self.added, False)
        if self.plan.chosen == "PARTITION_OVERWRITE":
            replace_partitions(key, keys, key_names, added, metadata)
        else:
            condition = target_condition(spark, key, ranges, key_names)
            replace_groups(key, keys, key_names, added, condition, metadata)

    def _change_rows(
        self, rules: DeltaRules, root: PlanNode, dataset: Dataset, metadata: str, enforce: Enforce
    ) -> None:
        """Add the rows that the changes add, and remove those that they remove."""
        spark, key = self.query.sparkSession, dataset.key
        delta = rules.delta(root)
        empty = self.query.limit(0)
        self.added = empty if delta.plus is None else frame_of(spark, delta.plus)
        if delta.minus is None:
            append_rows(key, enforce(self.added, False), metadata)
            return
        gone = frame_of(spark, delta.minus)
        stored = read_stored_rows(spark, key)
        apply_row_changes(key, stored, enforce(self.added, False), enforce(gone, True), metadata)

    def _replaces_row(self, dataset: Dataset) -> bool:
        """Return whether the one row of an aggregate without GROUP BY replaces that of the view."""
        top = self.eligibility.top
        is_single = top is not None and top.name == "Aggregate" and not top.keys
        return self.plan.chosen == "ROW_BASED" and is_single and not dataset.expectations

    def _merge(
        self, rules: DeltaRules, root: PlanNode, top: PlanNode, dataset: Dataset, metadata: str
    ) -> None:
        """Merge the aggregates of the changed rows into the view's groups."""
        key, groups, empty = dataset.key, self.eligibility.groups, self.query.limit(0)
        columns = groups.columns if groups is not None else ()
        names = [self.query.columns[index] for index in columns]
        merged = merge_expressions(root, top, columns)
        assert merged is not None

        def aggregates(rows: JavaObject) -> DataFrame:
            return frame_of(self.query.sparkSession, _replaced(rules, root, top, rules.above(top, rows)))

        delta = rules.changed_input(top)
        if delta.plus is None and delta.minus is None:
            append_rows(key, empty, metadata)
            return
        if delta.minus is None:
            with computed_rows(aggregates(delta.plus)) as rows:
                require_own_partitions(rows, dataset.options.partition_cols)
                added = {name: each.added for name, each in merged.items()}
                merge_groups(key, names, rows, added, metadata)
            return
        plus = empty if delta.plus is None else aggregates(delta.plus)
        changed = changed_aggregates(plus, aggregates(delta.minus), columns)
        with computed_rows(changed) as changed:
            keys = changed.select(*[f"k{at}" for at in range(len(columns))])
            count, ranges = rules.keys.ranges(keys)
            if not count:
                append_rows(key, empty, metadata)
                return
            require_own_partitions(keys.toDF(*names), dataset.options.partition_cols)
            condition = target_condition(self.query.sparkSession, key, ranges, names)
            stored = read_stored_rows(self.query.sparkSession, key).alias("t").where(condition or "true")
            with computed_rows(apply_changed_aggregates(stored, changed, columns, merged)) as found:
                rows = found.where(f"{SETTLED} AND {KEPT}").select(*self.query.columns)
                again = found.where(f"NOT {SETTLED}").select(*names)
                if not again.isEmpty():
                    rows = rows.unionAll(self._computed_groups(rules, root, again))
                replace_groups(key, keys, names, rows, condition, metadata)

    def _computed_groups(self, rules: DeltaRules, root: PlanNode, keys: DataFrame) -> DataFrame:
        groups = self.eligibility.groups
        if groups is None:
            return self.query
        plan = _replaced(rules, root, groups.base, rules.restricted(groups, keys))
        return frame_of(self.query.sparkSession, plan)


def _replaced(rules: DeltaRules, root: PlanNode, top: PlanNode, plan: JavaObject) -> JavaObject:
    """Return the operators above `top`, on the rows of `plan`."""
    if root is top:
        return plan
    return rules.above(root, _replaced(rules, root.children[0], top, plan))
