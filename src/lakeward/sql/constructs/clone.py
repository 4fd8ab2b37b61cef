"""DEEP CLONE, and SHALLOW CLONE over an existing table."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lakeward.errors import SqlError
from lakeward.quoting import names_path, quote_name, quote_properties, quote_string
from lakeward.session import temporary_conf
from lakeward.spark_internals import analyzed_plan, java_session, jvm_view, scala_list
from lakeward.sql.construct import BEGINNING, Command, Construct, Rows, in_area
from lakeward.sql.constructs.property_list import read_properties
from lakeward.sql.constructs.time_travel import TableVersion, read_table_version
from lakeward.sql.dataset_kinds import require_no_dataset
from lakeward.sql.schema_changes import commit_schema, find_delta_log, start_transaction
from lakeward.sql.session_context import current_context, run_with_delta
from lakeward.sql.token_cursor import TokenCursor, Unmatched

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# Properties that Delta computes for the new table.
_COMPUTED = (
    "delta.minReaderVersion",
    "delta.minWriterVersion",
    "delta.feature.",
    "delta.columnMapping.maxColumnId",
)
# Without these table features Delta refuses default values, and ignores identity and generation expressions.
_FEATURES = ("allowColumnDefaults", "generatedColumns", "identityColumns")
# Their tables have other folders, or schemas.
_OTHER_CATALOGS = ("hive_metastore", "spark_catalog")
# Read by LakehouseCatalog.java.
_CLONING = "spark.lakeward.shallowClone"
_DEFAULTS = "spark.databricks.delta.properties.defaults."
_CREATE, _IF_NOT_EXISTS, _REPLACE, _CREATE_OR_REPLACE = (
    "create",
    "if not exists",
    "replace",
    "create or replace",
)
# Metadata of columns that Delta's queries do not show.
_RULES = ("delta.identity.", "delta.generationExpression")
_DEEP_CLONE = ("DELTA_DEEP_CLONE_MV_ST_ERROR.REQUIRES_WITH_HISTORY", "0A000")
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
    """The clauses after the source: properties that replace those of the source, and the table's folder."""

    properties: dict[str, str] = field(default_factory=dict)
    location: str | None = None

    def __str__(self) -> str:
        clauses = [f"TBLPROPERTIES ({quote_properties(self.properties)})"] if self.properties else []
        return " ".join([*clauses, f"LOCATION {quote_string(self.location)}"] if self.location else clauses)


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
    mode: str
    options: CloneOptions = field(default_factory=CloneOptions)

    def run(self, spark: SparkSession) -> Rows | None:
        _require_tables(spark, self.source, self.target, deep=True)
        name, source = quote_name(self.target), self.source.resolve(spark)
        if self.mode == _IF_NOT_EXISTS and _exists(spark, self.target):
            return None
        rows = spark.sql(f"SELECT * FROM {source}")  # noqa: S608  # names are quoted
        layout = _layout(spark, source, rows)
        # Delta refuses the values of an identity column in a table that it replaces.
        is_new = layout.is_delta and not _exists(spark, self.target)
        writer = (_with_rules(rows) if is_new else rows).writeTo(name).using("delta")
        for key, value in {**layout.properties, **self.options.properties}.items():
            writer = writer.tableProperty(key, value)
        if self.options.location is not None:
            writer = writer.tableProperty("location", self.options.location)
        if layout.partitions:
            writer = writer.partitionedBy(*layout.partitions)
        if layout.clustering:
            writer = writer.clusterBy(*layout.clustering)
        # Only Delta tables are targets of COPY INTO.
        history = CopyLoadHistory(source, self.target).run(spark) if layout.is_delta else nullcontext({})
        with history as options:
            writer = writer.options(**options)
            modes = {_REPLACE: writer.replace, _CREATE_OR_REPLACE: writer.createOrReplace}
            modes.get(self.mode, writer.create)()
        if layout.is_delta:
            _keep_column_rules(spark, self.target, rows)
        if layout.description:
            spark.sql(f"COMMENT ON TABLE {name} IS {quote_string(layout.description)}")
        after = spark.sql(f"DESCRIBE DETAIL {name}").first()
        assert after is not None
        metrics = [layout.size, layout.files, 0, after["numFiles"], 0, after["sizeInBytes"]]
        return Rows(", ".join(f"{name} BIGINT" for name in _METRICS), [metrics])


def _exists(spark: SparkSession, target: list[str]) -> bool:
    # For a path without a table, Spark's catalog has an error.
    if names_path(target):
        return find_delta_log(spark, target) is not None
    return spark.catalog.tableExists(quote_name(target))


def _declared_columns(rows: DataFrame) -> dict[str, dict[str, Any]]:
    """Return the columns of the Delta table that `rows` reads, by name, as its log declares them."""
    relation: Any = analyzed_plan(rows).collectLeaves().head().relation()
    schema = json.loads(relation.location().getSnapshot().metadata().schemaString())
    return {column["name"]: column for column in schema["fields"]}


def _with_rules(rows: DataFrame) -> DataFrame:
    """Return the rows in columns with their identity and generation expressions.

    The first version of a clone has them so: RESTORE to it would lose those of the next commit.
    """
    from pyspark.sql import functions as F

    declared = _declared_columns(rows)
    columns = []
    for column in rows.schema.fields:
        rules = {
            key: value for key, value in declared[column.name]["metadata"].items() if key.startswith(_RULES)
        }
        value = F.col(quote_name([column.name]))
        columns.append(value.alias(column.name, metadata={**column.metadata, **rules}) if rules else value)
    return rows.select(*columns)


def _keep_column_rules(spark: SparkSession, target: list[str], rows: DataFrame) -> None:
    """Add the column rules that a query over the source lacks: NOT NULL, identity, generation expressions.

    The clone's identity columns continue after the highest value of the source.
    """
    log = find_delta_log(spark, target)
    assert log is not None
    transaction = start_transaction(spark, log)
    schema = json.loads(transaction.metadata().schemaString())
    rules = _declared_columns(rows)
    changes = []
    for column in schema["fields"]:
        rule = rules[column["name"]]
        kept = {key: value for key, value in rule["metadata"].items() if key.startswith(_RULES)}
        if column["nullable"] == rule["nullable"] and kept.items() <= column["metadata"].items():
            continue
        column["nullable"] = rule["nullable"]
        column["metadata"].update(kept)
        changes.append({"column": quote_name([column["name"]])})
    if changes:
        commit_schema(spark, transaction, json.dumps(schema), changes)


@dataclass(frozen=True)
class _Layout:
    """What a deep clone takes from its source in addition to the rows; `size` is in bytes."""

    is_delta: bool
    size: int
    files: int
    partitions: Sequence[str] = ()
    clustering: Sequence[str] = ()
    properties: Mapping[str, str] = field(default_factory=dict)
    description: str | None = None


def _layout(spark: SparkSession, source: CloneSource, rows: DataFrame) -> _Layout:
    """Return the layout of a Delta or Parquet table, or of a folder of Parquet files, which has `rows`.

    Raises SqlError for other formats, and for tables with policies.
    """
    if names_path(source.table) and source.table[0].lower() != "delta":
        kind, partitions = source.table[0].lower(), _partitions(rows)
    else:
        _require_no_policies(spark, source)
        detail = spark.sql(f"DESCRIBE DETAIL {quote_name(source.table)}").first()
        assert detail is not None
        if detail["format"] == "delta":
            own = (detail["properties"] or {}).items()
            features = {f"delta.{name}": "supported" for name in _needed(detail["tableFeatures"] or ())}
            return _Layout(
                True,
                detail["sizeInBytes"],
                detail["numFiles"],
                detail["partitionColumns"],
                detail["clusteringColumns"],
                {key: value for key, value in own if not key.startswith(_COMPUTED)} | features,
                detail["description"],
            )
        kind, partitions = detail["format"], detail["partitionColumns"]
    if kind != "parquet":
        raise SqlError(
            "DELTA_CLONE_UNSUPPORTED_SOURCE",
            f"Unsupported clone source '{'.'.join(source.table)}', whose format is '{kind}'. The supported "
            "formats are 'delta' and 'parquet'.",
            sql_state="0AKDC",
        )
    listed = rows.select("_metadata.file_path", "_metadata.file_size").distinct()
    row = listed.selectExpr("coalesce(sum(file_size), 0)", "count(*)").collect()[0]
    return _Layout(False, row[0], row[1], partitions or ())


def _partitions(rows: DataFrame) -> list[str]:
    """Return the partition columns that the paths of a folder have."""
    relation = analyzed_plan(rows).collectLeaves().head().relation()
    return list(relation.partitionSchema().fieldNames())


@dataclass(frozen=True)
class ShallowClone(Command):
    """Creates a shallow clone, or a deep one if the target exists and is to be replaced."""

    target: list[str]
    source: CloneSource
    mode: str
    options: CloneOptions = field(default_factory=CloneOptions)

    def run(self, spark: SparkSession) -> Rows | DataFrame | None:
        _require_tables(spark, self.source, self.target, deep=False)
        name = quote_name(self.target)
        exists = _exists(spark, self.target)
        if self.mode == _REPLACE or (self.mode == _CREATE_OR_REPLACE and exists):
            return DeepClone(self.target, self.source, self.mode, self.options).run(spark)
        if self.mode == _IF_NOT_EXISTS and exists:
            return None
        folder, source = self.options.location, self.source.resolve(spark)
        managed = None if folder or exists else self._folder(spark)
        # Delta reads the features of a clone from the session alone.
        features = {f"{_DEFAULTS}{name}": "supported" for name in _needed(self._features(spark))}
        with temporary_conf(spark, {**features, _CLONING: "true"}):
            target = managed or folder
            if target is None or exists:
                return run_with_delta(spark, f"CREATE TABLE {name} SHALLOW CLONE {source} {self.options}")
            # Delta creates a clone with a LOCATION in the warehouse all the same.
            properties = CloneOptions(self.options.properties)
            path = quote_name(["delta", target])
            cloned = run_with_delta(spark, f"CREATE TABLE {path} SHALLOW CLONE {source} {properties}")
        if folder is not None:
            spark.sql(f"CREATE TABLE {name} USING DELTA LOCATION {quote_string(folder)}")
        return cloned

    def _folder(self, spark: SparkSession) -> str | None:
        """Return the folder of a managed table of this name; None if that is not known.

        A clone of this folder is the table's first version. By the table's name Delta makes a table without
        rows first, to which RESTORE would return.
        """
        if names_path(self.target):
            return None
        context = current_context(spark)
        catalog, schema, table = context.qualify(self.target)
        if catalog in _OTHER_CATALOGS:
            return None
        context.require_schema(catalog, schema)
        return str(context.settings.warehouse / catalog / schema / table)

    def _features(self, spark: SparkSession) -> list[str]:
        log = find_delta_log(spark, self.source.table)
        if log is None:
            return []  # Delta's own error has the condition of a clone
        names = start_transaction(spark, log).protocol().readerAndWriterFeatureNames()
        return [str(name) for name in scala_list(names.toSeq())]


def _needed(features: Collection[str]) -> list[str]:
    """Return the properties, without their prefix, of those features that columns of a clone need."""
    return [f"feature.{name}" for name in _FEATURES if name in features]


def _require_tables(spark: SparkSession, source: CloneSource, target: Sequence[str], *, deep: bool) -> None:
    """Raise SqlError for a materialized view or a streaming table, as the source or the target.

    Source: https://docs.databricks.com/aws/en/sql/language-manual/delta-clone, with the condition of
    https://docs.databricks.com/aws/en/error-messages/delta-deep-clone-mv-st-error-error-class
    """
    for table in (source.table, target):
        if deep:
            require_no_dataset(spark, table, "DEEP CLONE", _DEEP_CLONE)
        else:
            require_no_dataset(spark, table, "SHALLOW CLONE")


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
    mode = _mode(cursor)
    target = cursor.name()
    cursor.words("DEEP")
    return DeepClone(target, _source(cursor), mode, _options(cursor))


def _shallow_clone(cursor: TokenCursor) -> ShallowClone:
    """Parse shallow clones, of which Delta lacks those over a table, with LOCATION or as of an expression."""
    mode = _mode(cursor)
    target = cursor.name()
    cursor.need("SHALLOW")
    return ShallowClone(target, _source(cursor), mode, _options(cursor))


def _mode(cursor: TokenCursor) -> str:
    """Read `CREATE TABLE`, `CREATE TABLE IF NOT EXISTS`, `CREATE OR REPLACE TABLE` or `REPLACE TABLE`."""
    if cursor.words("REPLACE", "TABLE"):
        return _REPLACE
    if cursor.words("CREATE", "OR", "REPLACE", "TABLE"):
        return _CREATE_OR_REPLACE
    cursor.need("CREATE", "TABLE")
    return _IF_NOT_EXISTS if cursor.words("IF", "NOT", "EXISTS") else _CREATE


def _source(cursor: TokenCursor) -> CloneSource:
    cursor.need("CLONE")
    return CloneSource(cursor.name(), read_table_version(cursor, "TBLPROPERTIES", "LOCATION"))


def _options(cursor: TokenCursor) -> CloneOptions:
    """Read `[TBLPROPERTIES (…)] [LOCATION '…']` in any order, and the end of the statement."""
    properties: dict[str, str] = {}
    location = None
    while cursor.next is not None:
        if location is None and cursor.words("LOCATION"):
            location = cursor.string()
        elif not properties and cursor.words("TBLPROPERTIES"):
            properties = read_properties(cursor, equals_is_optional=True)
            if not properties:
                raise Unmatched
        else:
            raise Unmatched
    return CloneOptions(properties, location)


CONSTRUCTS = in_area(
    "Tables",
    Construct(
        name="DEEP CLONE",
        example="CREATE OR REPLACE TABLE u DEEP CLONE t",
        note="a full copy in one commit: columns, comments, layout and properties; not the history; also of "
        "Parquet tables and folders",
        starts=("CREATE", "REPLACE"),
        statement=_deep_clone,
    ),
    Construct(
        name="SHALLOW CLONE",
        example="CREATE OR REPLACE TABLE u SHALLOW CLONE t",
        note="with LOCATION, as of an expression, column defaults; a full copy if the target exists, which "
        "Delta cannot replace with a shallow clone",
        starts=("CREATE", "REPLACE"),
        statement=_shallow_clone,
        trigger=BEGINNING + r"(?:create|replace)\s.*\bshallow\s+clone\b",
    ),
)
