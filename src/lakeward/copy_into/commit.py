"""One Delta transaction: the rows, and the load history's new segment by its number."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lakeward.copy_into import points
from lakeward.copy_into.history import APP, History, append, new_number, read
from lakeward.copy_into.target import LogFolder, Target
from lakeward.session import condition_of, java_array

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["Load", "Lost", "Written"]

_MEASURED = ("numFiles", "numOutputRows", "numOutputBytes")
# Delta's conditions of another transaction that was faster; its Python exceptions keep nothing else of them.
_CONFLICTS = ("DELTA_CONCURRENT_", "DELTA_METADATA_CHANGED", "DELTA_PROTOCOL_CHANGED")


class Lost(Exception):
    """Another transaction was faster and stands against this one."""


@dataclass
class Written:
    """Rows in files that no version of the table names yet; `metadata` is that of the table they are for."""

    actions: Any
    metadata: Any
    transaction: Any


@dataclass
class Load:
    """The transaction of one attempt; `history` is that of the version it began on."""

    spark: SparkSession
    target: Target

    def __post_init__(self) -> None:
        self.transaction = self.target.begin(self.spark)
        self.metadata = self.transaction.metadata()
        # Asking is what makes a commit by another COPY INTO a conflict.
        self._store = LogFolder(self.spark, self.target.log)
        self.history: History = read(self._store, self.transaction.txnVersion(APP))

    def write(self, rows: DataFrame, *, merge_schema: bool) -> Written:
        """Write the rows' files; constraints, generated columns and the merging of schemas are Delta's."""
        jvm: Any = self.spark._jvm
        session: Any = self.spark._jsparkSession
        given = jvm.PythonUtils.toScalaMap({"mergeSchema": str(merge_schema).lower()})
        empty = jvm.PythonUtils.toScalaMap({})
        nothing = jvm.scala.Option.empty()
        delta = jvm.org.apache.spark.sql.delta
        options = delta.DeltaOptions(given, session.sessionState().conf())
        command = delta.commands.WriteIntoDelta(
            self.target.log,
            jvm.org.apache.spark.sql.SaveMode.Append,
            options,
            self.metadata.partitionColumns(),
            empty,
            rows._jdf,
            self.target.entry,
            nothing,
            False,  # Scala has no names for it here
        )
        actions = command.writeAndReturnCommitData(self.transaction, session, nothing, False).actions()
        points.reached("rows written")
        return Written(actions, self.metadata, self.transaction)

    def take_over(self, written: Written) -> bool:
        """Whether files that an earlier attempt wrote can be committed here: the table is still the same.

        Identity columns are numbered from where the attempt began: their rows are written anew.
        """
        return "delta.identity." not in self.metadata.schemaString() and bool(
            written.metadata.equals(self.metadata)
            and written.transaction.metadata().equals(self.metadata)
            and written.transaction.protocol().equals(self.transaction.protocol())
        )

    def commit(self, written: Written, loaded: Iterable[str], operation: Any) -> None:
        """Make it a version of the table. Raises Lost on a conflict, else what Delta raises."""
        from py4j.protocol import Py4JJavaError
        from pyspark.errors import PySparkException

        number = new_number()
        append(self._store, self.history, number, loaded)
        points.reached("history written")
        jvm: Any = self.spark._jvm
        mark = jvm.org.apache.spark.sql.delta.actions.SetTransaction(APP, number, jvm.scala.Option.empty())
        if written.transaction is not self.transaction:
            self._count_as_own(written)
        try:
            self.transaction.commit(written.actions.appended(mark), operation)
        except (Py4JJavaError, PySparkException) as error:
            if _is_conflict(error):
                raise Lost from error
            raise
        points.reached("committed")

    def _count_as_own(self, written: Written) -> None:
        """Delta counts rows and files where they were written: in the transaction that lost."""
        jvm: Any = self.spark._jvm
        found = {name: written.transaction.getMetric(name) for name in _MEASURED}
        counts = {name: metric.get() for name, metric in found.items() if metric.isDefined()}
        self.transaction.registerSQLMetrics(self.spark._jsparkSession, jvm.PythonUtils.toScalaMap(counts))

    def operation(self, parameters: dict[str, str], skipped: Sequence[str]) -> Any:
        """What DESCRIBE HISTORY shows; `metrics()` of it says afterwards what was written."""
        jvm: Any = self.spark._jvm
        measured = java_array(self.spark, *_MEASURED)
        counted = {"numSkippedCorruptFiles": str(len(skipped))}
        return jvm.lakeward.DeltaOperation("COPY INTO", parameters, measured, counted)


def _is_conflict(error: BaseException) -> bool:
    return (condition_of(error) or "").startswith(_CONFLICTS)
