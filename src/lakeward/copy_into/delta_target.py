"""The Delta table that COPY INTO loads."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lakeward.errors import SqlError
from lakeward.quoting import names_path, quote_name
from lakeward.session import in_catalog
from lakeward.spark_internals import delta_log, jvm_view

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructType


@dataclass(frozen=True)
class DeltaTarget:
    """A target table: display name, Delta log, and catalog entry (a Scala Option)."""

    display_name: str
    log: Any
    entry: Any

    def begin(self, spark: SparkSession) -> Any:
        """Start a transaction on the latest version."""
        jvm: Any = jvm_view(spark)
        return self.log.startTransaction(self.entry, jvm.scala.Option.empty())


def find_target(spark: SparkSession, name: Sequence[str]) -> DeltaTarget:
    """Return the table of a name or of delta.`/path`.

    Raises SqlError: DELTA_MISSING_DELTA_TABLE_COPY_INTO, DELTA_COPY_INTO_TARGET_FORMAT.
    """
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import AnalysisException

    shown = quote_name(name)
    jvm: Any = jvm_view(spark)
    if names_path(name) and name[0].lower() == "delta":
        log = delta_log(spark, name[1])
        if not log.tableExists():
            raise _missing_table(shown)
        return DeltaTarget(shown, log, jvm.scala.Option.empty())
    entry = in_catalog(spark, name) if len(name) <= 3 else None  # catalog, schema, table
    if entry is None:
        raise _missing_table(shown)
    catalog, identifier = entry
    try:
        table = catalog.loadTable(identifier)
    except (Py4JJavaError, AnalysisException) as error:
        if catalog.tableExists(identifier):  # a view
            raise _other_target(shown) from error
        raise _missing_table(shown) from error
    if not table.getClass().getName().endswith("DeltaTableV2"):
        raise _other_target(shown)
    return DeltaTarget(shown, table.deltaLog(), table.catalogTable())


def _other_target(shown: str) -> SqlError:
    return SqlError(
        "DELTA_COPY_INTO_TARGET_FORMAT",
        f"COPY INTO target must be a Delta table; {shown} is not.",
        sql_state="0AKDD",
        next_step="Create a Delta table and load into it.",
    )


def _missing_table(shown: str) -> SqlError:
    return SqlError(
        "DELTA_MISSING_DELTA_TABLE_COPY_INTO",
        f"Table {shown} doesn't exist.",
        sql_state="42P01",
        next_step="Create it first; with 'mergeSchema' = 'true' CREATE TABLE needs no columns.",
    )


def table_schema(metadata: Any) -> StructType:
    """Return the columns of a table's metadata action."""
    from pyspark.sql.types import StructType

    return StructType.fromJson(json.loads(metadata.schema().json()))


@dataclass(frozen=True)
class HistoryStore:
    """The load history's directory in the table's log, accessed through Delta's file system."""

    spark: SparkSession
    log: Any

    def _path(self, number: int) -> Any:
        jvm: Any = jvm_view(self.spark)
        return jvm.org.apache.hadoop.fs.Path(self._folder(), f"{number}.json")

    def _folder(self) -> Any:
        jvm: Any = jvm_view(self.spark)
        return jvm.org.apache.hadoop.fs.Path(self.log.logPath(), "_copy_into_log")

    def written(self) -> dict[int, float]:
        """Return the write time of each segment in seconds, by number; other files are ignored."""
        folder = self._folder()
        files = folder.getFileSystem(self.log.newDeltaHadoopConf())
        if not files.exists(folder):
            return {}
        files_and_times = (
            (str(f.getPath().getName()), f.getModificationTime() / 1000) for f in files.listStatus(folder)
        )
        parts = ((name.partition(".json"), time) for name, time in files_and_times)
        return {int(number): time for (number, _, rest), time in parts if number.isdigit() and not rest}

    def remove(self, number: int) -> None:
        """Delete a segment."""
        path = self._path(number)
        path.getFileSystem(self.log.newDeltaHadoopConf()).delete(path, False)

    def read(self, number: int) -> str | None:
        """See SegmentStore."""
        jvm: Any = jvm_view(self.spark)
        path = self._path(number)
        files = path.getFileSystem(self.log.newDeltaHadoopConf())
        if not files.exists(path):
            return None
        stream = files.open(path)
        try:
            return str(jvm.org.apache.commons.io.IOUtils.toString(stream, "UTF-8"))
        finally:
            stream.close()

    def write(self, number: int, text: str) -> None:
        """See SegmentStore. The segment is durable on return."""
        path = self._path(number)
        stream = path.getFileSystem(self.log.newDeltaHadoopConf()).create(path, False)
        try:
            stream.write(bytearray(text.encode()))
            stream.hsync()
        finally:
            stream.close()
