"""Keys of groups with changed rows: computed once, and joined with what has rows of these groups."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lakeward.pipelines.incremental.join_bounds import bound_rows
from lakeward.pipelines.incremental.view_plan import frame_of
from lakeward.pipelines.storage.computed_rows import compute_rows
from lakeward.pipelines.storage.key_ranges import MAX_BROADCAST_KEYS, KeyRange, KeyRanges
from lakeward.spark_internals import analyzed_plan, jvm_view

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class AffectedKeys:
    """Operations on DataFrames of keys; `columns` are the expressions of the keys in a plan."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark, self._plans = spark, jvm_view(spark).lakeward.ViewPlan
        # With the frame itself: the identity of one that is gone may be that of another.
        self._ranges: dict[int, tuple[DataFrame, int, list[KeyRange]]] = {}

    def collect(self, changed: list[tuple[Any, Any]]) -> DataFrame | None:
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

    def rows_with(self, plan: Any, columns: Any, keys: DataFrame) -> Any:
        """Return the rows of a plan with one of the keys; the range of the keys lets Delta skip files."""
        number, ranges = self.ranges(keys)
        for each in ranges:
            plan = bound_rows(self._plans, plan, columns.apply(each.position), each)
        return self.join(plan, columns, keys, number=number)

    def join(self, plan: Any, columns: Any, keys: DataFrame, *, number: int) -> Any:
        """Return the rows of a plan with one of the keys, of which there are at most `number`."""
        return self._plans.restricted(plan, columns, analyzed_plan(keys), number <= MAX_BROADCAST_KEYS)
