"""Chooses the files of a source with rows of the affected days, by the view's index of days.

A view such as "each event once, by device and time" reads its keys from payloads: Delta has no statistics of
them, and a refresh would read all files of the source to find the rows of a few keys. The index is computed
file by file, from the operators below the view's groups; afterwards a refresh reads the files with rows of
the affected days. It contains names of files and numbers of days, no values of keys.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lakeward.atomic_files import atomic_write
from lakeward.pipelines.incremental.change_set import ChangeSet
from lakeward.pipelines.incremental.view_plan import PlanNode, frame_of
from lakeward.pipelines.storage.key_ranges import DAY_NUMBERS
from lakeward.spark_internals import JavaObject, jvm_view

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

MAX_DAYS = 64
"""Files with more days, and refreshes with more affected days, are not selected by them."""
MIN_BYTES = 8 << 20
"""Smaller sources are read as a whole."""
Days = frozenset[int | None]


class DayIndex:
    """The days by file, stored in a file of JSON that can be lost: unknown files are examined again.

    `identity` identifies the operators, settings and schema by which the days were computed. A file's name
    is followed by `|` and its deletion vector; the days of a file without a vector are those with any, too.
    """

    def __init__(self, path: Path, identity: str) -> None:
        self._path, self._identity = path, identity
        self._days: dict[str, Days | None] = {}
        try:
            stored = json.loads(path.read_text(encoding="utf-8"))
            if stored["identity"] == identity:
                self._days = {
                    name: None if days is None else frozenset(days) for name, days in stored["days"].items()
                }
        except (OSError, ValueError, TypeError, KeyError, AttributeError):
            return

    def unknown(self, files: Iterable[str]) -> list[str]:
        """Return the files that have to be examined."""
        return [file for file in files if self._entry(file) not in self._days]

    def add(self, found: dict[str, Days | None]) -> None:
        """Record the days of files; None for files with many of them."""
        self._days |= found

    def with_days(self, files: Iterable[str], wanted: Days) -> list[str]:
        """Return the files that may have rows of these days."""
        found = ((file, self._days[self._entry(file)]) for file in files)
        return [file for file, days in found if days is None or not days.isdisjoint(wanted)]

    def save(self, files: Iterable[str]) -> None:
        """Store the days of the files that the source still has."""
        entries = map(self._entry, files)
        days = {entry: self._days[entry] for entry in entries}
        listed = {
            name: None if each is None else sorted(each, key=lambda day: (day is None, day or 0))
            for name, each in days.items()
        }
        self._path.parent.mkdir(parents=True, exist_ok=True)
        atomic_write(self._path, json.dumps({"identity": self._identity, "days": listed}))

    def _entry(self, file: str) -> str:
        whole = file.partition("|")[0]
        return file if file in self._days or whole not in self._days else whole


def time_key(keys: DataFrame) -> int | None:
    """Return the position of the first key that is a time or a date, None without any."""
    return next((index for index, (_, kind) in enumerate(keys.dtypes) if kind in DAY_NUMBERS), None)


def day_of(keys: DataFrame, position: int) -> Column:
    """Return the number of the day of a key; days of one time are equal, whatever the session's time zone."""
    from pyspark.sql import functions as F

    name, kind = keys.dtypes[position]
    return F.expr(DAY_NUMBERS[kind].format(key=f"`{name}`"))


def affected_days(keys: DataFrame, position: int) -> Days | None:
    """Return the days of the keys, None if they are many."""
    rows = keys.select(day_of(keys, position).alias("day")).distinct().limit(MAX_DAYS + 1).collect()
    return None if len(rows) > MAX_DAYS else frozenset(row["day"] for row in rows)


def days_by_file(keys: DataFrame, position: int, files: Sequence[str]) -> dict[str, Days | None] | None:
    """Return the days of each of the files that `keys` are read from; None if rows are of other files.

    Args:
        keys: The keys of all rows of the files, and the path of each row's file as the column `file`.
        position: That of the time among the keys.
        files: The last parts of the files' paths.
    """
    from pyspark.sql import functions as F

    rows = keys.select(
        F.element_at(F.split("file", "/"), -1).alias("file"),
        day_of(keys, position).alias("day"),
    )
    found: dict[str, Days | None] = dict.fromkeys(files, frozenset())
    days = F.slice(F.collect_set("day"), 1, MAX_DAYS + 1).alias("days")
    for row in rows.groupBy("file").agg(days, F.count_if(F.col("day").isNull()).alias("nulls")).collect():
        if row["file"] not in found:
            return None
        none = {None} if row["nulls"] else set()
        found[row["file"]] = None if len(row["days"]) > MAX_DAYS else frozenset({*row["days"], *none})
    return found


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
        above: Callable[[PlanNode, JavaObject], JavaObject],
    ) -> None:
        self._spark, self._index, self._changes, self._above = spark, index, changes, above
        self._plans = jvm_view(spark).lakeward.ViewPlan

    def path(self, node: PlanNode, affected: DataFrame) -> list[PlanNode] | None:
        """Return the operators from `node` down to the source, None if its files are not indexed by day."""
        path = _path_to_source(node)
        change = self._changes.get(id(path[-1])) if path else None
        if change is None or change.source is None or time_key(affected) is None:
            return None
        return path if change.source.size >= MIN_BYTES else None

    def rows(
        self, node: PlanNode, keys: JavaObject, affected: DataFrame, place: tuple[int, tuple[int, ...]]
    ) -> JavaObject:
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

        def rows_at(positions: Sequence[int]) -> JavaObject:
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
