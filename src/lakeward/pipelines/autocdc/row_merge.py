"""Merges changes into a target, in one pass over its files where deletion vectors can mark rows.

A MERGE reads the target twice: it finds the files with matching rows, and then reads all columns of these.
The new values of a row are in its change. So one pass suffices, which reads the columns that are compared.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lakeward.pipelines.autocdc.cdc_schema import column
from lakeward.pipelines.storage.computed_rows import aggregate_rows, computed_rows, count_rows, hint_small
from lakeward.pipelines.storage.delta_tables import prepare_merge
from lakeward.pipelines.storage.file_replacement import PLACE, FileReplacement
from lakeward.quoting import quote_name
from lakeward.session import temporary_conf

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
_CHANGES_VIEW = "lakeward_changes"
_ACTION = "lakeward_action"
# Columns that tell a change from the others.
_IDENTITY = ("__key", "__start", "__sys_start")
_NOWHERE = [f"CAST(NULL AS STRING) AS {name}" for name in (*PLACE, _ACTION)]


@dataclass(frozen=True)
class MergeCounts:
    """Rows of the target that a merge changed."""

    inserted: int = 0
    updated: int = 0
    deleted: int = 0


@dataclass(frozen=True)
class RowMerge:
    """A merge of changes `s` into a target `t`.

    Attributes:
        changes: The changes, computed; at most one matches a row of the target.
        on: The condition on which a row matches a change.
        delete: Condition for deleting a matched row.
        update: Condition for updating a matched row that is not deleted.
        insert: Condition for inserting an unmatched change.
        tie: Condition for updating a matched row for which `update` is NULL; it may read every column.
        values: Expressions on changes by the target's columns.
    """

    changes: DataFrame
    on: str
    delete: str
    update: str
    insert: str
    tie: str | None
    values: Mapping[str, str]

    @property
    def _exact_update(self) -> str:
        return self.update if self.tie is None else f"coalesce({self.update}, {self.tie})"

    def run_statement(self, key: tuple[str, ...]) -> MergeCounts:
        """Run a MERGE statement."""
        spark = self.changes.sparkSession
        values = {quote_name([name]): f"s.{value}" for name, value in self.values.items()}
        assignments = ", ".join(f"t.{name} = {value}" for name, value in values.items())
        merge = (
            f"MERGE INTO {quote_name(key)} t USING {_CHANGES_VIEW} s ON {self.on} "  # noqa: S608  # quoted
            f"WHEN MATCHED AND {self.delete} THEN DELETE "
            f"WHEN MATCHED AND {self._exact_update} THEN UPDATE SET {assignments} "
            f"WHEN NOT MATCHED AND {self.insert} THEN "
            f"INSERT ({', '.join(values)}) VALUES ({', '.join(values.values())})"
        )
        source, conf = prepare_merge(self.changes)
        source.createOrReplaceTempView(_CHANGES_VIEW)
        try:
            with temporary_conf(spark, conf):
                done = spark.sql(merge).first()
        finally:
            spark.catalog.dropTempView(_CHANGES_VIEW)
        assert done is not None
        return MergeCounts(done["num_inserted_rows"], done["num_updated_rows"], done["num_deleted_rows"])

    def replace_rows(self, key: tuple[str, ...], key_range: str) -> MergeCounts | None:
        """Mark the rows that change and write the new ones; None where a MERGE has to do it.

        Args:
            key: Name of the target.
            key_range: A condition on `t` that all matching rows meet, by which files are found.
        """
        changes = hint_small(self.changes)
        if changes is self.changes:
            return None
        files = FileReplacement(changes.sparkSession, key, key_range, rewrites_small=False)
        if not files.marks_rows or files.records_rows or files.columns != {*map(str.lower, self.values)}:
            return None
        with ExitStack() as kept:
            return self._replace(files, changes, kept)

    def _replace(self, files: FileReplacement, changes: DataFrame, kept: ExitStack) -> MergeCounts:
        matched = kept.enter_context(computed_rows(self._matched(files, changes, self.update)))
        updated, deleted, ties = _count_actions(matched)
        if ties:
            # The columns that no other condition compares are read where there is a tie alone.
            matched = kept.enter_context(computed_rows(self._matched(files, changes, self._exact_update)))
            updated, deleted, _ = _count_actions(matched)
        added = kept.enter_context(computed_rows(self._added_rows(files, changes, matched)))
        counts = MergeCounts(count_rows(added) - updated, updated, deleted)
        if counts == MergeCounts():
            return counts
        if updated or deleted:
            files.mark(matched.where(f"{_ACTION} IN ('delete', 'update')"))
        files.write(added, counts.inserted + counts.updated)
        files.commit("MERGE", inserted=counts.inserted, updated=counts.updated, deleted=counts.deleted)
        return counts

    def _matched(self, files: FileReplacement, changes: DataFrame, update: str) -> DataFrame:
        """Return the changes that match a row, with its place and what becomes of it; NULL is a tie."""
        action = f"CASE WHEN {self.delete} THEN 'delete' WHEN {update} THEN 'update' "
        action += f"WHEN ({update}) IS NOT NULL THEN 'none' END AS {_ACTION}"
        if files.markable is None:
            return changes.limit(0).select("*", *map(_sql, _NOWHERE))
        joined = files.markable.alias("t").join(changes.alias("s"), _sql(self.on), "inner")
        return joined.select("s.*", *PLACE, _sql(action))

    def _added_rows(self, files: FileReplacement, changes: DataFrame, matched: DataFrame) -> DataFrame:
        """Return the new rows, with the columns of the target: those of updated rows and inserted ones."""
        same = " AND ".join(f"s.{name} <=> m.{name}" for name in _IDENTITY if name in changes.columns)
        new = changes.alias("s").join(matched.alias("m"), _sql(same), "left_anti").where(self.insert)
        changed = new.unionAll(matched.where(f"{_ACTION} = 'update'").select(*map(column, changes.columns)))
        values = {name.lower(): value for name, value in self.values.items()}
        return changed.select(
            *[
                _sql(values[field.name.lower()]).cast(field.dataType).alias(field.name)
                for field in files.rows.schema.fields
            ]
        )


def _count_actions(matched: DataFrame) -> tuple[int, int, int]:
    """Return the numbers of updated and deleted rows, and of ties."""
    conditions = (f"{_ACTION} = 'update'", f"{_ACTION} = 'delete'", f"{_ACTION} IS NULL")
    updated, deleted, ties = aggregate_rows(matched, *[_sql(f"count_if({each})") for each in conditions])
    return updated, deleted, ties


def _sql(text: str) -> Column:
    from pyspark.sql import functions as F

    return F.expr(text)
