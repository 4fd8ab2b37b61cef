"""Replaces rows of a Delta table by other rows, in one commit and about one Spark job.

A file is rewritten without the replaced rows, or its deletion vector marks them. Marking reads only the
columns that are compared, and writes no other rows; but the new rows are in one file more. So small files are
rewritten as long as they are few, and files of whose rows half are marked.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from lakeward.quoting import quote_name
from lakeward.spark_internals import frame_from_java, java_frame, java_session, jvm_view

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
MAX_REPLACED_BYTES = 64 << 20
"""Of more, without deletion vectors, a MERGE is faster: it writes those alone that have replaced rows."""
MAX_REWRITTEN_BYTES = 2 << 20
"""Size of a file from which on its replaced rows are marked."""
# The same for all files together. Below this size one task is as fast as several, and writes one file.
_BYTES_OF_ONE_TASK = 16 << 20
_ROWS_OF_ONE_TASK = 500_000
# These record what happened to each row.
_ROW_HISTORIES = ("delta.enableChangeDataFeed", "delta.enableRowTracking")
_VECTORS = "delta.enableDeletionVectors"
PLACE = ("lakeward_file", "lakeward_row")
"""Columns with the place of a row whose deletion vector may mark it."""


class FileReplacement:
    """The files of a table that may have rows which meet a condition, by their statistics.

    The files are read and replaced in one transaction. A concurrent write to the same rows is a conflict.
    """

    def __init__(
        self, spark: SparkSession, key: tuple[str, ...], condition: str, *, rewrites_small: bool = True
    ) -> None:
        """Start the transaction. The files are found when they are first needed.

        Args:
            spark: The session.
            key: Name of the table.
            condition: The condition, in which the table is `t`; an empty one is met by all rows.
            rewrites_small: Whether small files are rewritten; else rows are marked in all files.
        """
        jvm: Any = jvm_view(spark)
        total = _BYTES_OF_ONE_TASK if rewrites_small else 0
        self._java = jvm.lakeward.FileReplacement(
            java_session(spark), quote_name(key), condition or "true", MAX_REWRITTEN_BYTES, total
        )
        self._spark = spark

    @property
    def columns(self) -> set[str]:
        """Return the names of the table's columns in lower case."""
        return {str(name).lower() for name in self._java.columns()}

    @cached_property
    def rows(self) -> DataFrame:
        """The rows of all files."""
        return frame_from_java(self._java.rows(), self._spark)

    @cached_property
    def rewritten(self) -> DataFrame:
        """The rows of the files that are rewritten."""
        return frame_from_java(self._java.rewritten(), self._spark)

    @cached_property
    def markable(self) -> DataFrame | None:
        """The rows of the other files with their `PLACE`, None if there are no others."""
        markable = self._java.markable()
        return None if markable is None else frame_from_java(markable, self._spark)

    @property
    def is_empty(self) -> bool:
        """Return whether no file can have such rows."""
        return not self._java.count()

    @property
    def marks_rows(self) -> bool:
        """Return whether the table has deletion vectors."""
        return bool(self._java.has(_VECTORS))

    @property
    def records_rows(self) -> bool:
        """Return whether the table records what happened to each row: only Delta's own statements do so."""
        return any(map(self._java.has, _ROW_HISTORIES))

    @property
    def is_cheaper_than_merge(self) -> bool:
        """Return whether replacing rows is cheaper than a MERGE; False where rows have a history."""
        return self._java.bytes() <= MAX_REPLACED_BYTES and not self.records_rows

    def count(self) -> int:
        """Return the number of rows of the files that are rewritten."""
        recorded = int(self._java.records())
        return self.rewritten.count() if recorded < 0 else recorded

    def mark(self, rows: DataFrame) -> int:
        """Mark rows of `markable`, which are in every version before `commit`; return their number."""
        return int(self._java.mark(java_frame(rows.select(*PLACE))))

    def write(self, rows: DataFrame, added: int) -> int:
        """Write rows into new files, which are in no version before `commit`; return their number.

        `added` is how many of them are not from the files.
        """
        if self._java.bytes() <= _BYTES_OF_ONE_TASK and added <= _ROWS_OF_ONE_TASK:
            rows = rows.coalesce(1)
        return int(self._java.write(java_frame(rows)))

    def commit(self, operation: str, *, inserted: int = 0, updated: int = 0, deleted: int = 0) -> None:
        """Commit new files and marks in place of the other rows.

        Args:
            operation: Name of the operation in the table's history, which has these numbers of rows.
            inserted: Number of new rows.
            updated: Number of rows with new values.
            deleted: Number of rows that are gone.
        """
        counts = {"Inserted": inserted, "Updated": updated, "Deleted": deleted}
        metrics = {f"numTargetRows{name}": str(count) for name, count in counts.items()}
        self._java.commit(operation, metrics)
