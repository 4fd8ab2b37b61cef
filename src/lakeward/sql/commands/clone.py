"""DEEP CLONE: a full copy of a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lakeward.errors import SqlError
from lakeward.sql.commands.place import result
from lakeward.sql.commands.tables import quoted

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["deep", "replace_by_shallow"]

# Written by Delta itself; a new table gets its own.
_OWN = (
    "delta.minReaderVersion",
    "delta.minWriterVersion",
    "delta.feature.",
    "delta.columnMapping.maxColumnId",
)
_COUNTS = (
    "source_table_size",
    "source_num_of_files",
    "num_removed_files",
    "num_copied_files",
    "removed_files_size",
    "copied_files_size",
)


def deep(
    spark: SparkSession,
    *,
    target: list[str],
    source: list[str],
    replace: bool,
    if_not_exists: bool,
    version: int | None,
    timestamp: str | None,
) -> dict[str, Any]:
    """Copy a version of `source` with its columns, comments, layout and properties, in one commit."""
    name = quoted(target)
    if if_not_exists and spark.catalog.tableExists(name):
        return {}
    _require_ungoverned(spark, source)
    of = _as_of(version, timestamp)
    rows = spark.sql(f"SELECT * FROM {quoted(source)}{of}")  # noqa: S608  # names are quoted
    before = spark.sql(f"DESCRIBE DETAIL {quoted(source)}").first()
    assert before is not None
    writer = rows.writeTo(name).using("delta")
    for key, value in (before["properties"] or {}).items():
        if not key.startswith(_OWN):
            writer = writer.tableProperty(key, value)
    if before["partitionColumns"]:
        writer = writer.partitionedBy(*before["partitionColumns"])
    if before["clusteringColumns"]:
        writer = writer.clusterBy(*before["clusteringColumns"])
    from lakeward.sql.commands import carry_out

    load_history = {"source": source, "target": target, "version": version, "timestamp": timestamp}
    with carry_out(spark, "copy_into.cloned", load_history) as options:
        (writer.options(**options).createOrReplace if replace else writer.options(**options).create)()
    if before["description"]:
        text = before["description"].replace("\\", "\\\\").replace("'", "\\'")
        spark.sql(f"COMMENT ON TABLE {name} IS '{text}'")
    after = spark.sql(f"DESCRIBE DETAIL {name}").first()
    assert after is not None
    counts = [before["sizeInBytes"], before["numFiles"], 0, after["numFiles"], 0, after["sizeInBytes"]]
    return result(", ".join(f"{c} BIGINT" for c in _COUNTS), [counts])


def replace_by_shallow(
    spark: SparkSession, *, target: list[str], source: list[str], version: int | None, timestamp: str | None
) -> Any:
    """A shallow clone for a new table, a deep one for a table that is there."""
    if spark.catalog.tableExists(quoted(target)):
        given: dict[str, Any] = {"version": version, "timestamp": timestamp}
        return deep(spark, target=target, source=source, replace=True, if_not_exists=False, **given)
    of = _as_of(version, timestamp)
    return spark.sql(f"CREATE TABLE {quoted(target)} SHALLOW CLONE {quoted(source)}{of}")._jdf


def _require_ungoverned(spark: SparkSession, source: list[str]) -> None:
    """Raises SqlError for a table that shows less than what is in it: so would its copy."""
    jvm: Any = spark._jvm
    if jvm.lakeward.PolicyRules.has(spark._jsparkSession, quoted(source)):
        raise SqlError(
            "ROW_LEVEL_SECURITY_TABLE_CLONE_SOURCE_NOT_SUPPORTED",
            f"There can be no clone of {'.'.join(source)}, which has a row filter or column masks.",
            sql_state="0A000",
            next_step="Drop them first, or use CREATE TABLE … AS SELECT, which copies what you may see.",
        )


def _as_of(version: int | None, timestamp: str | None) -> str:
    if timestamp is not None:
        return " TIMESTAMP AS OF '{}'".format(timestamp.replace("'", ""))
    return "" if version is None else f" VERSION AS OF {version}"
