"""Delta tables: read through the catalog without a Spark job, appends, exact row counts of writes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lakeward.pipelines.graph.expectations import ExpectationCounts
from lakeward.pipelines.graph.query_plans import class_name
from lakeward.pipelines.storage.computed_rows import hint_small
from lakeward.quoting import quote_name
from lakeward.session import in_catalog
from lakeward.spark_internals import (
    JavaObject,
    delta_log,
    frame_from_java,
    java_gateway,
    java_session,
    jvm_view,
    scala_context,
    scala_list,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.readwriter import DataFrameWriter
    from pyspark.sql.types import StructType

_MAX_BROADCAST_TARGET = 1 << 20
_MAINTENANCE = ("OPTIMIZE", "REORG", "VACUUM START", "VACUUM END")


@dataclass(frozen=True)
class DeltaCommit:
    """The `commitInfo` of a Delta commit."""

    version: int
    info: dict[str, Any]

    @property
    def user_metadata(self) -> str | None:
        return self.info.get("userMetadata")

    @property
    def rows_written(self) -> int | None:
        """Number of rows that the commit added, None if it is not recorded."""
        value = self.info.get("operationMetrics", {}).get("numOutputRows")
        return None if value is None else int(value)


class StoredTable:
    """A Delta table; `version` is the version at the time of construction."""

    def __init__(self, spark: SparkSession, java_log: JavaObject) -> None:
        jvm: Any = jvm_view(spark)
        self._packages = jvm
        self._log = java_log
        none = getattr(getattr(self._packages.scala, "None$"), "MODULE$")
        self._snapshot = self._log.update(False, none, none)
        self.version: int = self._snapshot.version()

    @property
    def schema(self) -> StructType:
        from pyspark.sql.types import StructType

        return StructType.fromJson(json.loads(self._snapshot.metadata().schemaString()))

    @property
    def properties(self) -> dict[str, str]:
        # One call, where each entry of a Scala map takes several.
        return dict(json.loads(self._snapshot.metadata().json())["metaData"]["configuration"])

    @property
    def size(self) -> int:
        """Bytes of the table's files."""
        return snapshot_bytes(self._snapshot)

    @property
    def file_count(self) -> int:
        """Number of the table's files."""
        checksum = self._snapshot.checksumOpt()
        return int(checksum.get().numFiles() if checksum.isDefined() else self._snapshot.numOfFiles())

    @property
    def comment(self) -> str | None:
        return self._snapshot.metadata().description()  # type: ignore[no-any-return]

    @property
    def partition_cols(self) -> tuple[str, ...]:
        return tuple(scala_list(self._snapshot.metadata().partitionColumns()))

    @property
    def skipping_columns(self) -> frozenset[str]:
        """Names, in lower case, of the top-level columns by whose values Delta can skip files."""
        with_statistics = self._snapshot.statCollectionLogicalSchema().fieldNames()
        return frozenset(name.lower() for name in (*with_statistics, *self.partition_cols))

    def commit(self, version: int | None = None) -> DeltaCommit:
        """Return the commit of `version` (default: the current one)."""
        number = self.version if version is None else version
        return DeltaCommit(number, read_commit_info(self._packages, self._log, number))

    def commits(self) -> Iterator[DeltaCommit]:
        """Yield the commits from the newest one to the oldest one that is in the log."""
        from py4j.protocol import Py4JJavaError
        from pyspark.errors import PySparkException

        try:
            for version in range(self.version, -1, -1):
                yield self.commit(version)
        except (Py4JJavaError, PySparkException):
            return

    def last_write(self) -> DeltaCommit:
        """Return the newest commit that may have changed rows: maintenance keeps them as they are."""
        writes = (each for each in self.commits() if each.info.get("operation") not in _MAINTENANCE)
        return next(writes, DeltaCommit(self.version, {}))


def snapshot_bytes(snapshot: JavaObject) -> int:
    """Return the size of a snapshot's files; the checksum of its version spares a job over the whole log."""
    checksum = snapshot.checksumOpt()
    return int(checksum.get().tableSizeBytes() if checksum.isDefined() else snapshot.sizeInBytes())


def read_commit_info(packages: JavaObject, log: JavaObject, version: int) -> dict[str, Any]:
    """Return what a commit records of itself, {} for one without; Java's errors if it is not in the log.

    `packages` is the root of the JVM's packages.
    """
    path = packages.org.apache.hadoop.fs.Path(log.logPath(), f"{version:020d}.json")
    lines = log.store().read(path, log.newDeltaHadoopConf())
    # It is the first line as a rule; the others, one a file, stay in the JVM.
    for index in range(lines.length()):
        line = lines.apply(index)
        info = json.loads(line).get("commitInfo") if '"commitInfo"' in line else None
        if info is not None:
            return dict(info)
    return {}


def load_table(spark: SparkSession, name: tuple[str, ...]) -> StoredTable | None:
    """Return the Delta table `catalog.schema.table`, None if it does not exist."""
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    found = in_catalog(spark, name)
    if found is None:
        return None
    catalog, identifier = found
    try:
        table = catalog.loadTable(identifier)
    except (Py4JJavaError, PySparkException) as error:
        if "NoSuch" in type(error).__name__ or "NOT_FOUND" in str(error) or "NoSuch" in str(error):
            return None
        raise
    return StoredTable(spark, table.deltaLog()) if class_name(table) == "DeltaTableV2" else None


def load_table_at(spark: SparkSession, path: str) -> StoredTable | None:
    """Return the Delta table in a folder, None if it contains none."""
    log = delta_log(spark, path)
    return StoredTable(spark, log) if log.tableExists() else None


def read_stored_rows(spark: SparkSession, name: tuple[str, ...]) -> DataFrame:
    """Read all rows of the table for writers, without read interception and row filters."""

    jvm: Any = jvm_view(spark)
    return frame_from_java(jvm.lakeward.PolicyRules.rows(java_session(spark), quote_name(name)), spark)


def prepare_merge(source: DataFrame) -> tuple[DataFrame, dict[str, str]]:
    """Return the source of a MERGE, and the settings to run it with.

    The source gives the same rows each time that it is read: it is not copied first. If its rows are computed
    and few, they are broadcast. The target is not: by the columns that a MERGE compares a large one seems
    small. Tables from which the source is still to be computed are joined by Spark's own rules.
    """
    conf = {"spark.databricks.delta.merge.materializeSource": "none"}
    hinted = hint_small(source)
    if hinted is not source:
        conf["spark.sql.autoBroadcastJoinThreshold"] = str(_MAX_BROADCAST_TARGET)
    return hinted, conf


def idempotent_append(rows: DataFrame, *, app: str, number: int) -> DataFrameWriter:
    """Return a writer that appends to a Delta table and adds new columns.

    The commit records `app` and `number` as its transaction; Delta skips a write whose `app` has already
    reached `number`.
    """
    return (
        rows.write.format("delta")
        .mode("append")
        .option("mergeSchema", "true")
        .option("txnAppId", app)
        .option("txnVersion", str(number))
    )


def add_missing_columns(spark: SparkSession, key: tuple[str, ...], schema: StructType) -> None:
    """Add the columns and nested fields of `schema` that the table lacks, in a commit without rows."""
    from lakeward.autoloader import merge_new_fields

    stored = read_stored_rows(spark, key).schema
    if merge_new_fields(stored, schema) != stored:
        empty = spark.createDataFrame([], schema)
        empty.write.format("delta").mode("append").option("mergeSchema", "true").saveAsTable(quote_name(key))


# Where Delta writes files, and where `compute_rows` computes rows that are written later.
_COMPUTING = ("deltaTransactionalWrite", "localCheckpoint")
_TIMEOUT_MS = 30_000


class WriteMetrics:
    """Metrics of computed and written rows by name. Methods in camel case implement Spark's interface.

    Spark's `Observation` never reports for Delta's CREATE OR REPLACE, and a stream's progress loses the
    metrics when Delta casts a column. The execution in which Delta writes the files always carries them: it
    is named `deltaTransactionalWrite`, and a listener sees it, for empty results and for streams (whose
    sessions are clones) as well. A metric can still be wrong: a global sort above `observe` runs its input
    twice. A count is therefore trusted only when it agrees with `numOutputRows` of the commits; otherwise a
    batch query is counted by a separate query.
    """

    class Java:
        implements = ["org.apache.spark.sql.util.QueryExecutionListener"]  # noqa: RUF012  # read by py4j

    def __init__(self, spark: SparkSession) -> None:
        self._bus = scala_context(spark.sparkContext).listenerBus()
        self._watched: set[str] = set()
        self._found: dict[str, list[ExpectationCounts]] = {}

    def watch(self, names: set[str]) -> None:
        """Start collecting the metrics `names`."""
        self._watched |= names
        for name in names:
            self._found.pop(name, None)

    def take(self, names: set[str]) -> dict[str, list[ExpectationCounts]]:
        """Return the reports of each metric since `watch`, after all events have been delivered."""
        if not names:
            return {}
        self._bus.waitUntilEmpty(_TIMEOUT_MS)
        self._watched -= names
        return {name: self._found.pop(name) for name in names if name in self._found}

    def onSuccess(self, name: str, execution: JavaObject, _duration: int) -> None:  # noqa: N802
        if name not in _COMPUTING or not self._watched:
            return
        metrics = execution.observedMetrics()
        for metric in list(self._watched):
            row = metrics.get(metric)
            if row.isDefined():
                values = row.get()
                counts = ExpectationCounts.of([values.getLong(i) for i in range(values.length())])
                self._found.setdefault(metric, []).append(counts)

    def onFailure(self, name: str, execution: JavaObject, error: object) -> None:  # noqa: N802
        """Ignore failed writes."""


@contextmanager
def listen_to_writes(spark: SparkSession) -> Iterator[WriteMetrics]:
    """Collect metrics of Delta writes until the block ends."""
    from pyspark.java_gateway import ensure_callback_server_started

    start: Any = ensure_callback_server_started
    start(java_gateway(spark))
    metrics = WriteMetrics(spark)
    manager = java_session(spark).listenerManager()
    manager.register(metrics)
    try:
        yield metrics
    finally:
        manager.unregister(metrics)
