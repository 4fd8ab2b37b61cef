"""DEEP CLONE, and SHALLOW CLONE over an existing table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lakeward.errors import SqlError
from lakeward.quoting import quote_name, quote_string
from lakeward.spark_internals import java_session, jvm_view
from lakeward.sql.construct import BEGINNING, Command, Construct, Rows, supported
from lakeward.sql.token_cursor import TokenCursor

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_AREA = "Tables"
# Properties that Delta computes for the new table.
_COMPUTED = (
    "delta.minReaderVersion",
    "delta.minWriterVersion",
    "delta.feature.",
    "delta.columnMapping.maxColumnId",
)
_METRICS = (
    "source_table_size",
    "source_num_of_files",
    "num_removed_files",
    "num_copied_files",
    "removed_files_size",
    "copied_files_size",
)


@dataclass(frozen=True)
class CloneSource:
    """A table, as of a version or a time."""

    table: list[str]
    version: int | None = None
    timestamp: str | None = None

    def __str__(self) -> str:
        name = quote_name(self.table)
        if self.timestamp is not None:
            return f"{name} TIMESTAMP AS OF {quote_string(self.timestamp)}"
        return name if self.version is None else f"{name} VERSION AS OF {self.version}"


@dataclass(frozen=True)
class CopyLoadHistory(Command):
    """Copies the load history of COPY INTO with a clone; a context manager that gives the writer's options.

    Registered by the package that implements COPY INTO.
    """

    source: CloneSource
    target: list[str]


@dataclass(frozen=True)
class DeepClone(Command):
    """Copies a version of a table with its columns, comments, layout and properties, in one commit."""

    target: list[str]
    source: CloneSource
    replace: bool
    if_not_exists: bool

    def run(self, spark: SparkSession) -> Rows | None:
        name, source = quote_name(self.target), quote_name(self.source.table)
        if self.if_not_exists and spark.catalog.tableExists(name):
            return None
        _require_no_policies(spark, self.source)
        rows = spark.sql(f"SELECT * FROM {self.source}")  # noqa: S608  # names are quoted
        before = spark.sql(f"DESCRIBE DETAIL {source}").first()
        assert before is not None
        writer = rows.writeTo(name).using("delta")
        for key, value in (before["properties"] or {}).items():
            if not key.startswith(_COMPUTED):
                writer = writer.tableProperty(key, value)
        if before["partitionColumns"]:
            writer = writer.partitionedBy(*before["partitionColumns"])
        if before["clusteringColumns"]:
            writer = writer.clusterBy(*before["clusteringColumns"])
        with CopyLoadHistory(self.source, self.target).run(spark) as options:
            writer = writer.options(**options)
            (writer.createOrReplace if self.replace else writer.create)()
        if before["description"]:
            spark.sql(f"COMMENT ON TABLE {name} IS {quote_string(before['description'])}")
        after = spark.sql(f"DESCRIBE DETAIL {name}").first()
        assert after is not None
        metrics = [before["sizeInBytes"], before["numFiles"], 0, after["numFiles"], 0, after["sizeInBytes"]]
        return Rows(", ".join(f"{name} BIGINT" for name in _METRICS), [metrics])


@dataclass(frozen=True)
class ReplaceByShallowClone(Command):
    """Creates a shallow clone, or a deep one if the target exists."""

    target: list[str]
    source: CloneSource

    def run(self, spark: SparkSession) -> Rows | DataFrame | None:
        name = quote_name(self.target)
        if spark.catalog.tableExists(name):
            return DeepClone(self.target, self.source, replace=True, if_not_exists=False).run(spark)
        return spark.sql(f"CREATE TABLE {name} SHALLOW CLONE {self.source}")


def _require_no_policies(spark: SparkSession, source: CloneSource) -> None:
    """Raise SqlError for a table with a row filter or masks: the clone would contain only what is visible."""
    jvm = jvm_view(spark)
    assert jvm is not None
    if jvm.lakeward.PolicyRules.has(java_session(spark), quote_name(source.table)):
        raise SqlError(
            "ROW_LEVEL_SECURITY_TABLE_CLONE_SOURCE_NOT_SUPPORTED",
            f"{'.'.join(source.table)} has a row filter or column masks and cannot be cloned.",
            sql_state="0A000",
            next_step="Drop them first, or use CREATE TABLE … AS SELECT, which copies the visible rows.",
        )


def _deep_clone(cursor: TokenCursor) -> DeepClone:
    replace = cursor.words("CREATE", "OR", "REPLACE", "TABLE")
    if not replace:
        cursor.need("CREATE", "TABLE")
    if_not_exists = not replace and cursor.words("IF", "NOT", "EXISTS")
    target = cursor.name()
    cursor.words("DEEP")
    return DeepClone(target, _source(cursor), replace, if_not_exists)


def _replace_by_shallow_clone(cursor: TokenCursor) -> ReplaceByShallowClone:
    cursor.need("CREATE", "OR", "REPLACE", "TABLE")
    target = cursor.name()
    cursor.need("SHALLOW")
    return ReplaceByShallowClone(target, _source(cursor))


def _source(cursor: TokenCursor) -> CloneSource:
    """Read `CLONE source [VERSION | TIMESTAMP AS OF …]`."""
    cursor.need("CLONE")
    table = cursor.name()
    version = timestamp = None
    if cursor.words("VERSION", "AS", "OF"):
        version = cursor.integer()
    elif cursor.words("TIMESTAMP", "AS", "OF"):
        timestamp = cursor.string()
    cursor.end()
    return CloneSource(table, version, timestamp)


CONSTRUCTS = (
    supported("SHALLOW CLONE", _AREA, "CREATE TABLE u SHALLOW CLONE t"),
    Construct(
        name="DEEP CLONE",
        area=_AREA,
        verdict="emulated",
        example="CREATE OR REPLACE TABLE u DEEP CLONE t",
        note="a full copy in one commit: columns, comments, layout and properties; not the history",
        starts=("CREATE",),
        statement=_deep_clone,
    ),
    Construct(
        name="CREATE OR REPLACE … SHALLOW CLONE",
        area=_AREA,
        verdict="emulated",
        example="CREATE OR REPLACE TABLE u SHALLOW CLONE t",
        note="a full copy if the target exists: Delta cannot replace an existing table with a shallow clone",
        starts=("CREATE",),
        statement=_replace_by_shallow_clone,
        trigger=BEGINNING + r"create\s+or\s+replace\s+table\s.*\bshallow\s+clone\b",
    ),
)
