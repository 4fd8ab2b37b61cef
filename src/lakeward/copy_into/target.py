"""The Delta table that is loaded."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lakeward.errors import SqlError
from lakeward.session import in_catalog

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructType

__all__ = ["LogFolder", "Target", "schema_of", "target_of"]


@dataclass(frozen=True)
class Target:
    """A table: its name as the user wrote it, Delta's log of it, its entry in the catalog if it has one."""

    shown: str
    log: Any
    entry: Any

    def begin(self, spark: SparkSession) -> Any:
        """A transaction on the newest version."""
        jvm: Any = spark._jvm
        return self.log.startTransaction(self.entry, jvm.scala.Option.empty())


def target_of(spark: SparkSession, name: Sequence[str]) -> Target:
    """The table of a name or of delta.`/path`.

    Raises SqlError: DELTA_MISSING_DELTA_TABLE_COPY_INTO, DELTA_COPY_INTO_TARGET_FORMAT.
    """
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import AnalysisException

    shown = ".".join(f"`{part}`" for part in name)
    jvm: Any = spark._jvm
    if len(name) == 2 and name[0].lower() == "delta" and "/" in name[1]:
        log = jvm.org.apache.spark.sql.delta.DeltaLog.forTable(spark._jsparkSession, name[1])
        if not log.tableExists():
            raise _missing(shown)
        return Target(shown, log, jvm.scala.Option.empty())
    found = in_catalog(spark, name) if len(name) <= 3 else None  # catalog, schema, table
    if found is None:
        raise _missing(shown)
    catalog, identifier = found
    try:
        table = catalog.loadTable(identifier)
    except (Py4JJavaError, AnalysisException) as error:
        raise _missing(shown) from error
    if not table.getClass().getName().endswith("DeltaTableV2"):
        raise SqlError(
            "DELTA_COPY_INTO_TARGET_FORMAT",
            f"COPY INTO target must be a Delta table; {shown} is none.",
            sql_state="0AKDD",
            next_step="Create a Delta table and load into that.",
        )
    return Target(shown, table.deltaLog(), table.catalogTable())


def _missing(shown: str) -> SqlError:
    return SqlError(
        "DELTA_MISSING_DELTA_TABLE_COPY_INTO",
        f"Table {shown} doesn't exist.",
        sql_state="42P01",
        next_step="Create it first: CREATE TABLE … without columns will do, with 'mergeSchema' = 'true'.",
    )


def schema_of(metadata: Any) -> StructType:
    """The columns in a table's metadata."""
    from pyspark.sql.types import StructType

    return StructType.fromJson(json.loads(metadata.schema().json()))


@dataclass(frozen=True)
class LogFolder:
    """The load history's place in the table's log folder, reached as Delta reaches the log itself."""

    spark: SparkSession
    log: Any

    def _path(self, number: int) -> Any:
        jvm: Any = self.spark._jvm
        return jvm.org.apache.hadoop.fs.Path(self._folder(), f"{number}.json")

    def _folder(self) -> Any:
        jvm: Any = self.spark._jvm
        return jvm.org.apache.hadoop.fs.Path(self.log.logPath(), "_copy_into_log")

    def written(self) -> dict[int, float]:
        """When each segment was written, in seconds, by its number; files that are none are left out."""
        folder = self._folder()
        files = folder.getFileSystem(self.log.newDeltaHadoopConf())
        if not files.exists(folder):
            return {}
        found = (
            (str(f.getPath().getName()), f.getModificationTime() / 1000) for f in files.listStatus(folder)
        )
        parts = ((name.partition(".json"), time) for name, time in found)
        return {int(number): time for (number, _, rest), time in parts if number.isdigit() and not rest}

    def remove(self, number: int) -> None:
        """Forget a segment."""
        path = self._path(number)
        path.getFileSystem(self.log.newDeltaHadoopConf()).delete(path, False)

    def read(self, number: int) -> str | None:
        """See Store."""
        jvm: Any = self.spark._jvm
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
        """See Store; on disk before this returns."""
        path = self._path(number)
        stream = path.getFileSystem(self.log.newDeltaHadoopConf()).create(path, False)
        try:
            stream.write(bytearray(text.encode()))
            stream.hsync()
        finally:
            stream.close()
