"""Replaces some files of a Delta table by other rows, in one job and one commit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lakeward.quoting import quote_name
from lakeward.spark_internals import frame_from_java, java_frame, java_session, jvm_view

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
MAX_REPLACED_BYTES = 64 << 20
"""Above this size a MERGE is faster: of files that may have changed rows it writes those that have some."""
# Below this size one task is as fast as several, and writes one file.
_BYTES_OF_ONE_TASK = 16 << 20
# These record what happened to each row.
_ROW_HISTORIES = ("delta.enableChangeDataFeed", "delta.enableRowTracking")


class FileReplacement:
    """The files of a table that may have rows which meet a condition, by their statistics.

    The files are read and replaced in one transaction. A concurrent write to the same rows is a conflict.

    Attributes:
        rows: The rows of the files.
    """

    def __init__(self, spark: SparkSession, key: tuple[str, ...], condition: str) -> None:
        """Find the files; the table is `t` in the condition, and an empty one is met by all rows."""
        jvm: Any = jvm_view(spark)
        self._java = jvm.lakeward.FileReplacement(java_session(spark), quote_name(key), condition or "true")
        self.rows = frame_from_java(self._java.rows(), spark)

    @property
    def is_empty(self) -> bool:
        """Return whether no file can have such rows."""
        return not self._java.count()

    @property
    def is_cheaper_than_merge(self) -> bool:
        """Return whether replacing the files is cheaper than a MERGE; False where rows have a history."""
        return self._java.bytes() <= MAX_REPLACED_BYTES and not any(map(self._java.has, _ROW_HISTORIES))

    def count(self) -> int:
        """Return the number of rows of the files."""
        recorded = int(self._java.records())
        return self.rows.count() if recorded < 0 else recorded

    def write(self, rows: DataFrame) -> int:
        """Write rows into new files, which are in no version before `commit`; return their number."""
        if self._java.bytes() <= _BYTES_OF_ONE_TASK:
            rows = rows.coalesce(1)
        return int(self._java.write(java_frame(rows)))

    def commit(self, *, inserted: int = 0, updated: int = 0, deleted: int = 0) -> None:
        """Commit the new files in place of the others; the commit records these numbers of rows."""
        counts = {"Inserted": inserted, "Updated": updated, "Deleted": deleted}
        metrics = {f"numTargetRows{name}": str(count) for name, count in counts.items()}
        self._java.commit("REFRESH", metrics)
