"""What the changes of the sources change in the result of every operator.

A delta is two bags of rows: those that an operator gives now and did not give before, and the reverse. The
rules are exact for bags:

- projections, filters, UNION ALL: the operator applied to both bags;
- inner joins: `ΔL ⋈ R_old + L_new ⋈ ΔR`;
- left joins, semi and anti joins with an unchanged right side: the operator applied to the left delta;
- everything that computes groups of keys by themselves (GROUP BY, DISTINCT, dropDuplicates, windows, the
  other joins): the operator on the new rows of the affected keys, and on the old rows of them;
- DISTINCT of rows to which some were only added: the keys that no old row has;
- a filter with `current_date()`: the filter at the current time on both bags, and of the old rows those that
  pass at one of the two times only;
- an aggregate without GROUP BY: its one row now, and the one before, unless they are equal.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lakeward.pipelines.incremental.change_set import ChangeSet
from lakeward.pipelines.incremental.day_files import DayFiles, DayIndex
from lakeward.pipelines.incremental.group_hashes import GroupHashes
from lakeward.pipelines.incremental.join_bounds import AffectedKeys, JoinBounds
from lakeward.pipelines.incremental.reproducibility import least_row_columns
from lakeward.pipelines.incremental.row_bags import COUNT, net_rows
from lakeward.pipelines.incremental.row_groups import KEYED, LINEAR, RowGroups, is_distinct, only_changed_side
from lakeward.pipelines.incremental.view_plan import PlanNode, frame_of
from lakeward.pipelines.storage.computed_rows import compute_rows, repeat_rows
from lakeward.spark_internals import JavaObject, analyzed_plan, jvm_view

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True)
class Delta:
    """Plans of the rows that are new and of those that are gone; None where there are none."""

    plus: JavaObject = None
    minus: JavaObject = None


class DeltaRules:
    """Derives deltas and states of operators from the change sets of the sources.

    `changes` has one change set per source of the plan, in their order; `times` are those of the update and
    of the last one, in microseconds since 1970. Affected keys are computed once. `index` opens the view's
    index of days for what the days depend on, besides the query.
    """

    def __init__(
        self,
        spark: SparkSession,
        root: PlanNode,
        changes: list[ChangeSet],
        times: tuple[int, int],
        index: Callable[[list[Any]], DayIndex] | None = None,
    ) -> None:
        self.spark, self._times, self._now, self._before = spark, times, *times
        self._root = root
        self._plans, self._rewrites = jvm_view(spark).lakeward.ViewPlan, jvm_view(spark).lakeward.PlanRewrites
        sources = [leaf for leaf in root.leaves if leaf.is_delta]
        self._changes = {id(leaf): change for leaf, change in zip(sources, changes, strict=True)}
        self._bounds = JoinBounds(
            spark, self._changes, self.is_changed, lambda node: self._both(self._possible_delta(node))
        )
        self.group_hashes = GroupHashes(
            spark, self._changes, self.is_changed, self._bounds.is_large, self._gross_rows
        )
        self._files = DayFiles(spark, index, self._changes, self.above) if index else None
        self._deltas: dict[int, Delta] = {}
        self._settled: dict[int, Delta] = {}
        self.keys = AffectedKeys(spark)

    def is_changed(self, node: PlanNode) -> bool:
        """Return whether a source below the operator changed, or a filter moved."""
        changes = [self._changes.get(id(leaf)) for leaf in node.leaves]
        if any(change is not None and change.kind != "NO_CHANGE" for change in changes):
            return True
        return self.has_moved_filter(node)

    def has_moved_filter(self, node: PlanNode) -> bool:
        """Return whether a filter in the plan has another condition than at the last update."""
        return any(each.is_temporal and self._is_moved(each) for each in node.walk())

    def state(self, node: PlanNode, *, old: bool = False) -> JavaObject:
        """Return the operator's plan on the current, or on the old versions of the sources."""
        change = self._changes.get(id(node))
        if change is not None:
            return change.old if old and change.kind != "NO_CHANGE" else change.new
        if not node.children:
            return node.java
        return self.above(node, *[self.state(child, old=old) for child in node.children], old=old)

    def delta(self, node: PlanNode) -> Delta:
        """Return what changed in the operator's result.

        Changes of a source that are computed once are looked at: without deleted rows they are an append.
        """
        found = self._settled.get(id(node))
        if found is None:
            found = self._possible_delta(node)
            if found.plus is not None and found.minus is not None and self._is_computed(node):
                found = self._without_empty_sides(found)
            self._settled[id(node)] = found
        return found

    def _is_computed(self, node: PlanNode) -> bool:
        """Return whether the delta consists of rows of a source that are computed once."""
        while node.name in LINEAR and not node.is_temporal:
            node = node.children[0]
        change = self._changes.get(id(node))
        return change is not None and change.kind == "CHANGED" and not change.is_gross

    def _without_empty_sides(self, delta: Delta) -> Delta:
        sides = [
            plan if plan is not None and not frame_of(self.spark, plan).isEmpty() else None
            for plan in (delta.plus, delta.minus)
        ]
        return Delta(*sides)

    def _possible_delta(self, node: PlanNode) -> Delta:
        if not self.is_changed(node):
            return Delta()
        found = self._deltas.get(id(node))
        if found is None:
            found = self._deltas[id(node)] = self._delta(node)
        return found

    def _delta(self, node: PlanNode) -> Delta:
        change = self._changes.get(id(node))
        if change is not None:
            return Delta(*change.rows)
        if node.name in LINEAR:
            below = self._possible_delta(node.children[0])
            sides = [rows and self.above(node, rows) for rows in (below.plus, below.minus)]
            return self._with_moved_rows(node, sides) if node.is_temporal else Delta(*sides)
        if node.name == "Union":
            return self._union_delta(node)
        if node.name in KEYED:
            if not node.keys:
                return self._single_row_delta(node)
            keys = _java_keys(node)
            affected = self._keys_with_changes(node, keys)
            if affected is not None and is_distinct(node) and not self.group_hashes.can_compare(node):
                below = self.delta(node.children[0])
                if below.minus is None:
                    return Delta(self._new_keys(node, keys, affected, below.plus))
            return self._recomputed(node, affected, [(node.children[0], keys)])
        return self._join_delta(node)

    def affected_groups(self, groups: RowGroups) -> DataFrame | None:
        """Return the keys of the groups that have changed rows, each once; None without any."""
        return self._keys_with_changes(groups.base, self._keys_of(groups))

    def changed_input(self, aggregate: PlanNode) -> Delta:
        """Return what changed in the input of an aggregate, for functions to which equal rows on both sides
        make no difference.
        """
        below = aggregate.children[0]
        return self._gross_delta(below) if self.group_hashes.can_compare(aggregate) else self.delta(below)

    def _gross_rows(self, node: PlanNode) -> list[JavaObject]:
        return self._both(self._gross_delta(node))

    def _gross_delta(self, node: PlanNode) -> Delta:
        """Return the inserted and the deleted rows of an operator; equal ones may be in both."""
        sources = [self._changes[id(leaf)].gross for leaf in self._root.leaves if leaf.is_delta]
        return DeltaRules(self.spark, self._root, sources, self._times)._possible_delta(node)

    def restricted(self, groups: RowGroups, keys: DataFrame, left_out: DataFrame | None = None) -> JavaObject:
        """Return the current rows of these groups as the lowest operator of `groups` computes them.

        Of the groups `left_out`, which the view does not contain whatever their rows are, the operator is
        applied to the added rows alone: expectations count them.
        """
        base, java_keys = groups.base, self._keys_of(groups)
        below = base.children[0]
        number = next(i for i, each in enumerate(self._root.walk()) if each is base)
        rows = self._files and self._files.rows(below, java_keys, keys, (number, groups.keys))
        rows = rows or self.state(below)
        found = [self.above(base, self.keys.rows_with(rows, java_keys, keys))]
        added = None if left_out is None else self.delta(below).plus
        if left_out is not None and added is not None:
            found.append(self.above(base, self.keys.rows_with(added, java_keys, left_out)))
        return self.union(found, base) if len(found) > 1 else found[0]

    def chooses_files(self, groups: RowGroups, keys: DataFrame) -> bool:
        """Return whether `restricted` reads the files with rows of the affected days alone."""
        return self._files is not None and self._files.path(groups.base.children[0], keys) is not None

    def _keys_of(self, groups: RowGroups) -> JavaObject:
        keys = _java_keys(groups.base)
        return self._plans.seq([keys.apply(number) for number in groups.keys])

    def _keys_with_changes(self, node: PlanNode, keys: JavaObject) -> DataFrame | None:
        changed = self.group_hashes.changed_keys(node, keys)
        if changed is not None:
            return changed
        return self.keys.collect([(plan, keys) for plan in self._both(self.delta(node.children[0]))])

    def _single_row_delta(self, node: PlanNode) -> Delta:
        now, before = (self.state(node, old=old) for old in (False, True))
        if not all(column.is_float or column.is_exact_key for column in node.output):
            return Delta(now, before)
        names = [f"c{i}" for i in range(len(node.output))]
        rows = [frame_of(self.spark, plan).toDF(*names) for plan in (now, before)]
        net = compute_rows(net_rows(*rows))
        if net.isEmpty():
            return Delta()
        sides = [net, net.withColumn(COUNT, -net[COUNT])]
        plans = [analyzed_plan(repeat_rows(side, names, COUNT)) for side in sides]
        return Delta(*[self._plans.under(plan, node.java.output()) for plan in plans])

    def union(self, plans: list[JavaObject], node: PlanNode) -> JavaObject:
        """Return the rows of all plans with the columns of the operator."""
        return self._plans.union(plans, node.java.output())

    def _is_moved(self, node: PlanNode) -> bool:
        return not self._rewrites.isSame(node.java, self._now, self._before)

    def _with_moved_rows(self, node: PlanNode, sides: list[JavaObject]) -> Delta:
        """Return the rows of both sides, and those of the old rows that time alone moves."""
        if not self._is_moved(node):
            return Delta(*sides)
        old = self.state(node.children[0], old=True)
        times = (self._now, self._before), (self._before, self._now)
        moved = [self._rewrites.passingOnly(node.java, old, *pair) for pair in times]
        return Delta(
            *[
                self.union([rows, more] if rows is not None else [more], node)
                for rows, more in zip(sides, moved, strict=True)
            ]
        )

    def _union_delta(self, node: PlanNode) -> Delta:
        below = [self.delta(child) for child in node.children]
        sides = []
        for rows in ([each.plus for each in below], [each.minus for each in below]):
            present = [plan for plan in rows if plan is not None]
            sides.append(self.union(present, node) if present else None)
        return Delta(*sides)

    def _join_delta(self, node: PlanNode) -> Delta:
        left, right = node.children
        side = only_changed_side(node, self.is_changed)
        if side is not None:
            moving, fixed = node.children[side], node.children[1 - side]
            rows, other = self.delta(moving), self._bounds.matching(node, moving, self.state(fixed))

            def joined(plan: JavaObject) -> JavaObject:
                inputs = (plan, other) if side == 0 else (other, plan)
                return None if plan is None else self.above(node, *inputs)

            return Delta(joined(rows.plus), joined(rows.minus))
        if node.join in ("INNER", "CROSS"):
            return self._inner_join_delta(node)
        lefts, rights = self._join_keys(node, left=True), self._join_keys(node, left=False)
        changed = [
            (plan, keys)
            for child, keys in ((left, lefts), (right, rights))
            for plan in self._both(self.delta(child))
        ]
        return self._recomputed(node, self.keys.collect(changed), [(left, lefts), (right, rights)])

    def _inner_join_delta(self, node: PlanNode) -> Delta:
        left, right = node.children
        lefts, rights = self.delta(left), self.delta(right)
        right_before = self._bounds.matching(node, left, self.state(right, old=True))
        left_now = self._bounds.matching(node, right, self.state(left))
        sides = []
        for changed_left, changed_right in ((lefts.plus, rights.plus), (lefts.minus, rights.minus)):
            plans = []
            if changed_left is not None:
                plans.append(self.above(node, changed_left, right_before))
            if changed_right is not None:
                plans.append(self.above(node, left_now, changed_right))
            sides.append(self.union(plans, node) if plans else None)
        return Delta(*sides)

    def _recomputed(
        self, node: PlanNode, affected: DataFrame | None, inputs: list[tuple[PlanNode, JavaObject]]
    ) -> Delta:
        """Return the operator on the affected keys of its inputs, now and before."""
        if affected is None:
            return Delta()
        sides = []
        for old in (False, True):
            states = [
                self.keys.rows_with(self.state(child, old=old), keys, affected) for child, keys in inputs
            ]
            sides.append(self.above(node, *states))
        return Delta(*sides)

    def _new_keys(
        self, node: PlanNode, keys: JavaObject, affected: DataFrame, added: JavaObject
    ) -> JavaObject:
        """Return the rows of `SELECT DISTINCT` that only the added rows give."""
        from pyspark.sql import functions as F

        old = self.keys.rows_with(self.state(node.children[0], old=True), keys, affected)
        known = frame_of(self.spark, self._plans.columns(old, keys))
        same = " AND ".join(f"a.{name} <=> b.{name}" for name in known.columns)
        new = affected.alias("a").join(known.alias("b"), F.expr(same), "left_anti")
        return self.above(node, self.keys.join(added, keys, new, number=self.keys.ranges(affected)[0]))

    def _join_keys(self, node: PlanNode, *, left: bool) -> JavaObject:
        return self._plans.seq(self._plans.pairs(node.java, left))

    def above(self, node: PlanNode, *children: JavaObject, old: bool = False) -> JavaObject:
        """Return the operator on other children with the same columns, at the time of the update."""
        if node.is_temporal:
            return self._rewrites.passing(node.java, children[0], self._before if old else self._now)
        if node.name == "Deduplicate":
            compared = least_row_columns(node)
            if compared is not None:
                return self._rewrites.leastRows(node.java, children[0], compared)
        return self._plans.above(node.java, list(children))

    @staticmethod
    def _both(delta: Delta) -> list[JavaObject]:
        return [rows for rows in (delta.plus, delta.minus) if rows is not None]


def _java_keys(node: PlanNode) -> JavaObject:
    if node.name == "Deduplicate":
        return node.java.keys()
    return node.java.groupingExpressions() if node.name == "Aggregate" else node.java.partitionSpec()
