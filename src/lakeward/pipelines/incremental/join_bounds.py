"""Which rows of one side of a join can match changed rows of the other side, by ranges of the keys.

A join of a few changed rows reads all of the other side, though the keys of rows that arrive together are
often near each other: numbers that grow, times. With the ranges of the changed keys, Delta skips files, and
Parquet skips parts of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from lakeward.pipelines.incremental.change_set import ChangeSet
from lakeward.pipelines.incremental.row_groups import LINEAR, only_changed_side
from lakeward.pipelines.incremental.view_plan import PlanNode, frame_of
from lakeward.pipelines.storage.computed_rows import compute_rows
from lakeward.pipelines.storage.key_ranges import MAX_BROADCAST_KEYS, KeyRange, KeyRanges
from lakeward.spark_internals import JavaObject, analyzed_plan, jvm_view

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

MIN_BYTES = 16 << 20
"""Of smaller sources, all rows are read: finding the ranges takes a Spark job."""


class JoinBounds:
    """The ranges of the keys of changed rows.

    Args:
        spark: The session.
        changes: The change set of each source, by the identity of its node.
        is_changed: Returns whether a source below an operator changed, or a filter moved.
        changed_rows: Returns the plans of the changed rows of an operator.
    """

    def __init__(
        self,
        spark: SparkSession,
        changes: Mapping[int, ChangeSet],
        is_changed: Callable[[PlanNode], bool],
        changed_rows: Callable[[PlanNode], Sequence[JavaObject]],
    ) -> None:
        self._spark, self._changes = spark, changes
        self._is_changed, self._changed_rows = is_changed, changed_rows
        self._plans = jvm_view(spark).lakeward.ViewPlan
        self._found: dict[tuple[int, str], list[KeyRange]] = {}

    def matching(self, join: PlanNode, changed: PlanNode, rows: JavaObject) -> JavaObject:
        """Return a plan without some of `rows` that match no changed row.

        Args:
            join: A join, of which rows of the other side that match no row of `changed` are of no use.
            changed: The input of the join with changed rows.
            rows: The plan of its other input.
        """
        left, right = join.children
        if not self.is_large(right if changed is left else left):
            return rows
        keys, others = (self._plans.pairs(join.java, each) for each in (changed is left, changed is right))
        for node in self._origins(changed):
            output = node.java.outputSet()
            known = [at for at in range(len(keys)) if keys[at].references().subsetOf(output)]
            if known:
                for each in self._ranges(node, [keys[at] for at in known]):
                    rows = bound_rows(self._plans, rows, others[known[each.position]], each)
                break
        return rows

    def is_large(self, node: PlanNode) -> bool:
        """Return whether `matching` looks at the changed rows to read less of this input."""
        sources = (self._changes.get(id(leaf)) for leaf in node.leaves)
        return any(each is not None and each.total >= MIN_BYTES for each in sources)

    def _origins(self, node: PlanNode) -> list[PlanNode]:
        """Return operators of whose changed rows each changed row of `node` contains one.

        The first is a source, the last the uppermost operator below all joins. There are none if several
        sources may have changed.
        """
        top = node
        while node.children:
            if node.is_temporal:
                return []
            if node.name in LINEAR:
                node = node.children[0]
                continue
            if node.name != "Join":
                return []
            side = only_changed_side(node, self._is_changed)
            if side is None:
                return []
            top = node = node.children[side]
        change = self._changes.get(id(node))
        return [node, top] if change is not None and change.kind in ("APPENDED", "CHANGED") else []

    def _ranges(self, node: PlanNode, keys: list[JavaObject]) -> list[KeyRange]:
        place = id(node), str([str(key) for key in keys])
        if place not in self._found:
            expressions = self._plans.seq(keys)
            plans = [self._plans.columns(rows, expressions) for rows in self._changed_rows(node)]
            self._found[place] = []
            if plans:
                rows = frame_of(self._spark, self._plans.union(plans, plans[0].output()))
                _, self._found[place] = KeyRanges(rows.dtypes).of(rows)
        return self._found[place]


def bound_rows(plans: JavaObject, rows: JavaObject, key: JavaObject, key_range: KeyRange) -> JavaObject:
    """Return the plan `rows` with a filter that `key`, an expression on them, lies in the range."""
    lows, highs = (list(ends) for ends in zip(*key_range.intervals, strict=True))
    return plans.bounded(rows, key, lows, highs, key_range.has_null)


class AffectedKeys:
    """Operations on DataFrames of keys; `columns` are the expressions of the keys in a plan."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark, self._plans = spark, jvm_view(spark).lakeward.ViewPlan
        # With the frame itself: the identity of one that is gone may be that of another.
        self._ranges: dict[int, tuple[DataFrame, int, list[KeyRange]]] = {}

    def collect(self, changed: list[tuple[JavaObject, JavaObject]]) -> DataFrame | None:
        """Compute the keys of all plans, each once; `changed` are plans with their `columns`."""
        if not changed:
            return None
        plans = [self._plans.columns(plan, columns) for plan, columns in changed]
        keys = frame_of(self._spark, self._plans.union(plans, plans[0].output())).distinct()
        return compute_rows(keys)

    def ranges(self, keys: DataFrame) -> tuple[int, list[KeyRange]]:
        """Return the number of keys, and the ranges of their columns."""
        found = self._ranges.get(id(keys))
        if found is None:
            found = self._ranges[id(keys)] = keys, *KeyRanges(keys.dtypes).of(keys)
        return found[1:]

    def rows_with(self, plan: JavaObject, columns: JavaObject, keys: DataFrame) -> JavaObject:
        """Return the rows of a plan with one of the keys; the range of the keys lets Delta skip files."""
        number, ranges = self.ranges(keys)
        for each in ranges:
            plan = bound_rows(self._plans, plan, columns.apply(each.position), each)
        return self.join(plan, columns, keys, number=number)

    def join(self, plan: JavaObject, columns: JavaObject, keys: DataFrame, *, number: int) -> JavaObject:
        """Return the rows of a plan with one of the keys, of which there are at most `number`."""
        return self._plans.restricted(plan, columns, analyzed_plan(keys), number <= MAX_BROADCAST_KEYS)
