"""Chooses the files of a source with rows of the affected days, by the view's index of days."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lakeward.pipelines.incremental import day_index
from lakeward.pipelines.incremental.change_set import ChangeSet
from lakeward.pipelines.incremental.day_index import DayIndex, affected_days, days_by_file, time_key
from lakeward.pipelines.incremental.view_plan import PlanNode, frame_of
from lakeward.pipelines.storage.key_ranges import DAY_NUMBERS
from lakeward.spark_internals import jvm_view

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class DayFiles:
    """The files of the sources, by the days of the keys of their rows.

    Args:
        spark: The session.
        index: Opens the view's index of days for what the days depend on, besides the query.
        changes: The change set of each source, by the identity of its node.
        above: Returns an operator's plan on that of its input.
    """

    def __init__(
        self,
        spark: SparkSession,
        index: Callable[[list[Any]], DayIndex],
        changes: Mapping[int, ChangeSet],
        above: Callable[[PlanNode, Any], Any],
    ) -> None:
        self._spark, self._index, self._changes, self._above = spark, index, changes, above
        self._plans = jvm_view(spark).lakeward.ViewPlan

    def path(self, node: PlanNode, affected: DataFrame) -> list[PlanNode] | None:
        """Return the operators from `node` down to the source, None if its files are not indexed by day."""
        path = _path_to_source(node)
        change = self._changes.get(id(path[-1])) if path else None
        if change is None or change.source is None or time_key(affected) is None:
            return None
        return path if change.source.size >= day_index.MIN_BYTES else None

    def rows(self, node: PlanNode, keys: Any, affected: DataFrame, place: tuple[int, tuple[int, ...]]) -> Any:
        """Return the operator's plan on the files with rows of the affected days, None for all files.

        Args:
            node: The input of an operator that is computed by group.
            keys: Expressions of the keys on its rows.
            affected: The affected keys.
            place: Number of the operator in the view's plan, and of the keys among the operator's.
        """
        path, position = self.path(node, affected), time_key(affected)
        if path is None or position is None:
            return None
        source = self._changes[id(path[-1])].source
        assert source is not None
        wanted = affected_days(affected, position)
        names, file_names = source.files.names, source.files.file_names
        if wanted is None or len(set(file_names)) < len(file_names):
            return None

        def rows_at(positions: Sequence[int]) -> Any:
            plan = source.rows_at(positions)
            for each in reversed(path[:-1]):
                plan = self._above(each, plan)
            return plan

        day = DAY_NUMBERS[affected.dtypes[position][1]]
        index = self._index([*place, position, day, str(source.snapshot.metadata().schemaString())])
        positions = {name: number for number, name in enumerate(names)}
        unknown = [positions[name] for name in index.unknown(names)]
        if unknown:
            columns = frame_of(self._spark, self._plans.columnsByFile(rows_at(unknown), keys))
            found = days_by_file(columns, position, [file_names[each] for each in unknown])
            if found is None:
                return None
            index.add({names[each]: found[file_names[each]] for each in unknown})
            index.save(names)
        chosen = [positions[name] for name in index.with_days(names, wanted)]
        return rows_at(chosen) if len(chosen) < len(names) else None


def _path_to_source(node: PlanNode) -> list[PlanNode]:
    """Return the operators from `node` down to its only source if each row depends on one row of the source.

    The name of a row's file is lost in operators that buffer rows, as user code in Python does.
    """
    path = [node]
    while path[-1].children:
        last = path[-1]
        has_code = any(each.kind in ("python", "udf", "subquery") for each in last.notable)
        if last.name not in ("Project", "Filter", "Generate") or last.is_temporal or has_code:
            return []
        path.append(last.children[0])
    return path
