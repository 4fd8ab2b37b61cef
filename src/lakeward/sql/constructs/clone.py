"""DEEP CLONE, and SHALLOW CLONE over an existing table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lakeward.errors import SqlError
from lakeward.quoting import quote_name, quote_string
from lakeward.spark_internals import java_session, jvm_view
from lakeward.sql.construct import BEGINNING, Command, Construct, Rows
from lakeward.sql.constructs.time_travel import TableVersion, read_table_version
from lakeward.sql.session_context import run_with_delta
from lakeward.sql.token_cursor import TokenCursor, Unmatched, unquoted

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
# Spark's property of a table's folder.
_LOCATION = "location"
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
    version: TableVersion

    def resolve(self, spark: SparkSession) -> CloneSource:
        """Return the source with the value of its timestamp."""
        return CloneSource(self.table, self.version.resolve(spark))

    def __str__(self) -> str:
        return f"{quote_name(self.table)}{self.version.clause()}"


@dataclass(frozen=True)
class CloneOptions:
    """What the clone has instead of the source's: properties and a location."""

    properties: dict[str, str]
    location: str | None

    def clauses(self) -> str:
        """Return the clauses of the statement."""
        listed = ", ".join(
            f"{quote_string(key)} = {quote_string(value)}" for key, value in self.properties.items()
        )
        location = f" LOCATION {quote_string(self.location)}" if self.location is not None else ""
        return (f" TBLPROPERTIES ({listed})" if listed else "") + location


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
    options: CloneOptions
    replace: bool
    if_not_exists: bool

    def run(self, spark: SparkSession) -> Rows | None:
        name, source = quote_name(self.target), self.source.resolve(spark)
        if self.if_not_exists and spark.catalog.tableExists(name):
            return None
        _require_no_policies(spark, source)
        rows = spark.sql(f"SELECT * FROM {source}")  # noqa: S608  # names are quoted
        before = spark.sql(f"DESCRIBE DETAIL {quote_name(source.table)}").first()
        assert before is not None
        writer = rows.writeTo(name).using("delta")
        kept = {k: v for k, v in (before["properties"] or {}).items() if not k.startswith(_COMPUTED)}
        location = {} if self.options.location is None else {_LOCATION: self.options.location}
        for key, value in {**kept, **self.options.properties, **location}.items():
            writer = writer.tableProperty(key, value)
        if before["partitionColumns"]:
            writer = writer.partitionedBy(*before["partitionColumns"])
        if before["clusteringColumns"]:
            writer = writer.clusterBy(*before["clusteringColumns"])
        with CopyLoadHistory(source, self.target).run(spark) as options:
            writer = writer.options(**options)
            (writer.createOrReplace if self.replace else writer.create)()
        if before["description"]:
            spark.sql(f"COMMENT ON TABLE {name} IS {quote_string(before['description'])}")
        after = spark.sql(f"DESCRIBE DETAIL {name}").first()
        assert after is not None
        metrics = [before["sizeInBytes"], before["numFiles"], 0, after["numFiles"], 0, after["sizeInBytes"]]
        return Rows(", ".join(f"{name} BIGINT" for name in _METRICS), [metrics])


@dataclass(frozen=True)
class ShallowClone(Command):
    """Creates a shallow clone, or a deep one if the target exists."""

    target: list[str]
    source: CloneSource
    options: CloneOptions
    replace: bool
    if_not_exists: bool

    def run(self, spark: SparkSession) -> Rows | DataFrame | None:
        name = quote_name(self.target)
        if self.replace and spark.catalog.tableExists(name):
            deep = DeepClone(self.target, self.source, self.options, replace=True, if_not_exists=False)
            return deep.run(spark)
        create = f"CREATE TABLE {'IF NOT EXISTS ' if self.if_not_exists else ''}{name}"
        source = self.source.resolve(spark)
        return run_with_delta(spark, f"{create} SHALLOW CLONE {source}{self.options.clauses()}")


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
    target, replace, if_not_exists = _target(cursor)
    cursor.words("DEEP")
    return DeepClone(target, _source(cursor), _options(cursor), replace, if_not_exists)


def _shallow_clone(cursor: TokenCursor) -> ShallowClone:
    target, replace, if_not_exists = _target(cursor)
    cursor.need("SHALLOW")
    return ShallowClone(target, _source(cursor), _options(cursor), replace, if_not_exists)


def _target(cursor: TokenCursor) -> tuple[list[str], bool, bool]:
    """Read CREATE … TABLE; return the table, whether it is replaced, and whether an existing one stays."""
    replace = cursor.words("CREATE", "OR", "REPLACE", "TABLE")
    if not replace:
        cursor.need("CREATE", "TABLE")
    if_not_exists = not replace and cursor.words("IF", "NOT", "EXISTS")
    return cursor.name(), replace, if_not_exists


def _source(cursor: TokenCursor) -> CloneSource:
    cursor.need("CLONE")
    return CloneSource(cursor.name(), read_table_version(cursor, "TBLPROPERTIES", "LOCATION"))


def _options(cursor: TokenCursor) -> CloneOptions:
    properties: dict[str, str] = {}
    location = None
    while cursor.next is not None:
        if cursor.words("TBLPROPERTIES", "("):
            properties = _properties(cursor)
        else:
            cursor.need("LOCATION")
            location = cursor.string()
    return CloneOptions(properties, location)


def _properties(cursor: TokenCursor) -> dict[str, str]:
    """Read the properties behind the parenthesis, which closes them, too."""
    found: dict[str, str] = {}
    while not found or cursor.words(","):
        key = (
            cursor.string() if cursor.next is not None and cursor.next.is_string else ".".join(cursor.name())
        )
        cursor.words("=")
        value = cursor.next
        if value is None or value.text in (",", ")"):
            raise Unmatched
        found[key] = unquoted(value.text)
        cursor.at += 1
    cursor.need(")")
    return found


CONSTRUCTS = (
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
        name="SHALLOW CLONE",
        area=_AREA,
        verdict="emulated",
        example="CREATE OR REPLACE TABLE u SHALLOW CLONE t",
        note="Delta's; a full copy if the target exists, which Delta cannot replace with a shallow clone",
        starts=("CREATE",),
        statement=_shallow_clone,
        trigger=BEGINNING + r"create\s+or\s+replace\s+table\s.*\bshallow\s+clone\b",
    ),
)
