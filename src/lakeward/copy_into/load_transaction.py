"""One Delta transaction per load: the rows and the number of the new load history segment."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lakeward.copy_into.delta_target import DeltaTarget, HistoryStore
from lakeward.copy_into.load_history import (
    APP_ID,
    LoadHistory,
    append_segment,
    new_segment_number,
    read_history,
)
from lakeward.session import condition_of
from lakeward.spark_internals import java_array, java_frame, java_session, jvm_view

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_METRICS = ("numFiles", "numOutputRows", "numOutputBytes")
# Error conditions of commit conflicts; Delta's Python exceptions expose nothing else.
_CONFLICT_PREFIXES = ("DELTA_CONCURRENT_", "DELTA_METADATA_CHANGED", "DELTA_PROTOCOL_CHANGED")


class CommitConflict(Exception):
    """A concurrent transaction committed first and conflicts with this one."""


@dataclass
class WrittenFiles:
    """Data files that no table version references yet, and the table metadata they were written for."""

    actions: Any
    metadata: Any
    transaction: Any


@dataclass
class LoadTransaction:
    """The transaction of one attempt. `history` is the load history of its read version."""

    spark: SparkSession
    target: DeltaTarget

    def __post_init__(self) -> None:
        self.transaction = self.target.begin(self.spark)
        self.metadata = self.transaction.metadata()
        # Reading the transaction version makes a concurrent COPY INTO a conflict.
        self._store = HistoryStore(self.spark, self.target.log)
        self.history: LoadHistory = read_history(self._store, self.transaction.txnVersion(APP_ID))

    def write(self, rows: DataFrame, *, merge_schema: bool) -> WrittenFiles:
        """Write data files. Delta enforces constraints, generated columns and schema merging."""
        jvm: Any = jvm_view(self.spark)
        session: Any = java_session(self.spark)
        merge_options = jvm.PythonUtils.toScalaMap({"mergeSchema": str(merge_schema).lower()})
        empty = jvm.PythonUtils.toScalaMap({})
        nothing = jvm.scala.Option.empty()
        delta = jvm.org.apache.spark.sql.delta
        options = delta.DeltaOptions(merge_options, session.sessionState().conf())
        command = delta.commands.WriteIntoDelta(
            self.target.log,
            jvm.org.apache.spark.sql.SaveMode.Append,
            options,
            # Those of the table: given ones must be in the rows, which lack generated columns.
            jvm.PythonUtils.toSeq(jvm.java.util.ArrayList()),
            empty,
            java_frame(rows),
            self.target.entry,
            nothing,
            False,  # positional: py4j has no keyword arguments
        )
        actions = command.writeAndReturnCommitData(self.transaction, session, nothing, False).actions()
        return WrittenFiles(actions, self.metadata, self.transaction)

    def can_reuse(self, written: WrittenFiles) -> bool:
        """Return whether files of an earlier attempt can be committed here: the table is unchanged.

        Identity values depend on the version the attempt started from, so such rows are always written again.
        """
        return "delta.identity." not in self.metadata.schemaString() and bool(
            written.metadata.equals(self.metadata)
            and written.transaction.metadata().equals(self.metadata)
            and written.transaction.protocol().equals(self.transaction.protocol())
        )

    def commit(self, written: WrittenFiles, loaded: Iterable[str], operation: Any) -> None:
        """Commit a version of the table; raise CommitConflict on a conflict, else Delta's error."""
        from py4j.protocol import Py4JJavaError
        from pyspark.errors import PySparkException

        number = new_segment_number()
        append_segment(self._store, self.history, number, loaded)
        jvm: Any = jvm_view(self.spark)
        mark = jvm.org.apache.spark.sql.delta.actions.SetTransaction(APP_ID, number, jvm.scala.Option.empty())
        if written.transaction is not self.transaction:
            self._count_as_own(written)
        try:
            self.transaction.commit(written.actions.appended(mark), operation)
        except (Py4JJavaError, PySparkException) as error:
            if _is_conflict(error):
                raise CommitConflict from error
            raise

    def _count_as_own(self, written: WrittenFiles) -> None:
        """Copy metrics from the failed transaction, which wrote the files."""
        jvm: Any = jvm_view(self.spark)
        metrics = {name: written.transaction.getMetric(name) for name in _METRICS}
        counts = {name: metric.get() for name, metric in metrics.items() if metric.isDefined()}
        self.transaction.registerSQLMetrics(java_session(self.spark), jvm.PythonUtils.toScalaMap(counts))

    def operation(self, parameters: dict[str, str], skipped: Sequence[str]) -> Any:
        """Return the operation for DESCRIBE HISTORY; its `metrics()` are set by the commit."""
        jvm: Any = jvm_view(self.spark)
        measured = java_array(self.spark, *_METRICS)
        counted = {"numSkippedCorruptFiles": str(len(skipped))}
        return jvm.lakeward.DeltaOperation("COPY INTO", parameters, measured, counted)


def _is_conflict(error: BaseException) -> bool:
    return (condition_of(error) or "").startswith(_CONFLICT_PREFIXES)
