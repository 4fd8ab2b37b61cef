"""Finds changed groups by hashes of their rows, where deletion vectors mark the rows that are gone.

Of a rewritten file most rows are as before, and are compared one by one. Marked rows are those of the change:
the hashes of a group's rows say whether it changed, without a shuffle of the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from lakeward.pipelines.incremental.change_set import ChangeSet
from lakeward.pipelines.incremental.row_bags import (
    COUNT,
    hash_halves,
    identity_columns,
    is_hashable,
    signed_rows,
)
from lakeward.pipelines.incremental.row_groups import LINEAR, only_changed_side
from lakeward.pipelines.incremental.view_plan import PlanNode, frame_of
from lakeward.pipelines.storage.computed_rows import compute_rows
from lakeward.spark_internals import JavaObject, jvm_view, scala_list

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class GroupHashes:
    """Compares the groups of operators by hashes.

    Args:
        spark: The session.
        changes: The change set of each source, by the identity of its node.
        is_changed: Returns whether a source below an operator changed, or a filter moved.
        is_large: Returns whether a join reads less of its other input by looking at the changed rows.
        gross_rows: Returns the plans of the inserted and of the deleted rows of an operator, if it has them;
            equal rows may be in both.
    """

    def __init__(
        self,
        spark: SparkSession,
        changes: Mapping[int, ChangeSet],
        is_changed: Callable[[PlanNode], bool],
        is_large: Callable[[PlanNode], bool],
        gross_rows: Callable[[PlanNode], Sequence[JavaObject]],
    ) -> None:
        self._spark, self._changes = spark, changes
        self._is_changed, self._is_large, self._gross_rows = is_changed, is_large, gross_rows
        self._plans = jvm_view(spark).lakeward.ViewPlan

    def can_compare(self, node: PlanNode) -> bool:
        """Return whether hashes tell which groups of an operator changed.

        That is so if deletion vectors mark the deleted rows of a source, and no operator below needs the
        changed rows for another purpose.
        """
        below = node.children[0]
        sources = [change for leaf in below.leaves if (change := self._changes.get(id(leaf))) is not None]
        return any(change.find_gross_rows is not None for change in sources) and all(
            self._passes_rows(each) for each in below.walk()
        )

    def _passes_rows(self, node: PlanNode) -> bool:
        """Return whether the changed rows of an operator are those of its inputs, each used once."""
        if node.name != "Join":
            return not node.children or node.name == "Union" or (node.name in LINEAR and not node.is_temporal)
        left, right = node.children
        if self._is_large(left) and self._is_large(right):
            return False
        return only_changed_side(node, self._is_changed) is not None

    def changed_keys(self, node: PlanNode, keys: JavaObject) -> DataFrame | None:
        """Return the keys of the changed groups of an operator, each once; None where hashes cannot tell.

        `keys` are expressions on the rows of its input.
        """
        sides = self._gross_rows(node.children[0]) if self.can_compare(node) else ()
        if len(sides) < 2:
            return None
        below = node.children[0]
        attributes = zip(scala_list(below.java.output()), below.output, strict=True)
        used = [attribute for attribute, column in attributes if column.id in below.required]
        columns = self._plans.seq([*scala_list(keys), *used])
        plus, minus = (frame_of(self._spark, self._plans.columns(rows, columns)) for rows in sides)
        count = keys.length()
        if not is_hashable(plus.drop(*plus.columns[:count])):
            return None
        return compute_rows(changed_groups(plus, minus, count))


def changed_groups(plus: DataFrame, minus: DataFrame, keys: int) -> DataFrame:
    """Return the keys of the groups of which the frames have different rows, each once.

    The sums of hashes of a group's rows are compared, so the rows themselves are neither shuffled nor kept.

    Args:
        plus: The rows of one side.
        minus: The rows of the other side, with the same columns.
        keys: How many of the first columns are keys; `is_hashable` holds for the others.
    """
    from pyspark.sql import functions as F

    names = plus.columns[:keys]
    values = identity_columns(plus.drop(*names))
    halves = [F.sum(half * F.col(COUNT)) for half in hash_halves(values)]
    sums = [f"lakeward_sum{number}" for number in range(1 + len(halves))]
    totals = [total.alias(name) for total, name in zip([F.sum(COUNT), *halves], sums, strict=True)]
    differ = " OR ".join(f"{name} <> 0" for name in sums)
    return signed_rows(plus, minus).groupBy(*names).agg(*totals).where(differ).select(*names)
