"""Tables as the catalog has them, asked without starting a Spark job."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lakeward.pipelines.names import quoted
from lakeward.pipelines.plans import class_name

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

__all__ = ["Commit", "StoredTable", "look_at", "look_up", "stored_rows"]


@dataclass(frozen=True)
class Commit:
    """What a Delta commit says about itself."""

    version: int
    info: dict[str, Any]

    @property
    def user_metadata(self) -> str | None:
        return self.info.get("userMetadata")

    @property
    def rows_written(self) -> int | None:
        """Rows that the commit added, None when it does not say."""
        value = self.info.get("operationMetrics", {}).get("numOutputRows")
        return None if value is None else int(value)


class StoredTable:
    """A Delta table as it is now; `version` was read once, when the table was looked up."""

    def __init__(self, spark: SparkSession, java_log: Any) -> None:
        jvm: Any = spark._jvm
        self._jvm = jvm
        self._log = java_log
        none = getattr(getattr(self._jvm.scala, "None$"), "MODULE$")
        self._snapshot = self._log.update(False, none, none)
        self.version: int = self._snapshot.version()

    @property
    def schema(self) -> StructType:
        from pyspark.sql.types import StructType

        return StructType.fromJson(json.loads(self._snapshot.metadata().schemaString()))

    @property
    def properties(self) -> dict[str, str]:
        java = self._jvm.scala.jdk.javaapi.CollectionConverters.asJava(
            self._snapshot.metadata().configuration()
        )
        return dict(java)

    @property
    def comment(self) -> str | None:
        return self._snapshot.metadata().description()  # type: ignore[no-any-return]

    @property
    def partition_cols(self) -> tuple[str, ...]:
        columns = self._snapshot.metadata().partitionColumns()
        return tuple(columns.apply(i) for i in range(columns.length()))

    def commit(self, version: int | None = None) -> Commit:
        """The commit that made `version` (default: the current one)."""
        number = self.version if version is None else version
        path = self._jvm.org.apache.hadoop.fs.Path(self._log.logPath(), f"{number:020d}.json")
        lines = self._log.store().read(path, self._log.newDeltaHadoopConf())
        for i in range(lines.length()):
            action = json.loads(lines.apply(i))
            if "commitInfo" in action:
                return Commit(number, action["commitInfo"])
        return Commit(number, {})


def look_up(spark: SparkSession, name: tuple[str, ...]) -> StoredTable | None:
    """The Delta table `catalog.schema.table`, None when there is no table of that name."""
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    catalog = spark._jsparkSession.sessionState().catalogManager().catalog(name[0])
    jvm: Any = spark._jvm
    gateway: Any = spark.sparkContext._gateway
    namespace = gateway.new_array(jvm.java.lang.String, 1)
    namespace[0] = name[1]
    try:
        table = catalog.loadTable(
            jvm.org.apache.spark.sql.connector.catalog.Identifier.of(namespace, name[2])
        )
    except (Py4JJavaError, PySparkException) as error:
        if "NoSuch" in type(error).__name__ or "NOT_FOUND" in str(error) or "NoSuch" in str(error):
            return None
        raise
    return StoredTable(spark, table.deltaLog()) if class_name(table) == "DeltaTableV2" else None


def look_at(spark: SparkSession, path: str) -> StoredTable | None:
    """The Delta table in a folder, None when there is none."""
    jvm: Any = spark._jvm
    log = jvm.org.apache.spark.sql.delta.DeltaLog.forTable(spark._jsparkSession, path)
    return StoredTable(spark, log) if log.tableExists() else None


def stored_rows(spark: SparkSession, name: tuple[str, ...]) -> DataFrame:
    """All rows of the table itself, past the pipeline's reading by name and past row filters: for writers."""
    from pyspark.sql import DataFrame

    jvm: Any = spark._jvm
    return DataFrame(jvm.lakeward.PolicyRules.rows(spark._jsparkSession, quoted(name)), spark)
