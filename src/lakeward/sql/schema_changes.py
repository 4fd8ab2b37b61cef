"""Changes of the columns of a Delta table: their statement, the table's schema as JSON, and their commit."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from lakeward.quoting import names_path
from lakeward.session import in_catalog
from lakeward.spark_internals import JavaObject, delta_log, java_array, jvm_view, session_state
from lakeward.sql.token_cursor import TokenCursor

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

COLUMN_DEPTH = 64  # parts of a column's path
_Column = TypeVar("_Column")


def parse_altered_columns(
    cursor: TokenCursor, parse: Callable[[TokenCursor], _Column]
) -> tuple[list[str], list[_Column]]:
    """Parse ALTER TABLE t ALTER COLUMN …; return the table, and what `parse` reads of each column."""
    cursor.need("ALTER", "TABLE")
    table = cursor.name()
    cursor.one_of("ALTER", "CHANGE")
    cursor.words("COLUMN")
    columns = cursor.separated(lambda: parse(cursor))
    cursor.end()
    return table, columns


def find_delta_log(spark: SparkSession, table: Sequence[str]) -> JavaObject:
    """Return Delta's log of a table or of delta.`/path`; None for unknown names and other objects."""
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    if names_path(table):
        log = delta_log(spark, table[1]) if table[0].lower() == "delta" else None
        return log if log is not None and log.tableExists() else None
    is_temporary = len(table) == 1 and session_state(spark).catalog().getTempView(table[0]).isDefined()
    found = None if is_temporary or len(table) > 3 else in_catalog(spark, table)
    if found is None:
        return None
    catalog, identifier = found
    try:
        loaded = catalog.loadTable(identifier)
    except (PySparkException, Py4JJavaError):
        return None
    return loaded.deltaLog() if loaded.getClass().getSimpleName() == "DeltaTableV2" else None


def start_transaction(spark: SparkSession, log: JavaObject) -> JavaObject:
    """Return a new transaction of Delta on the newest version of a table."""
    jvm: Any = jvm_view(spark)
    return log.startTransaction(jvm.scala.Option.empty(), jvm.scala.Option.empty())


def find_fields(schema: dict[str, Any], path: Sequence[str]) -> list[dict[str, Any]]:
    """Return a column of a schema as JSON and the fields of structs below it, as far as the path exists.

    >>> columns = [{"name": "A", "type": {"type": "struct", "fields": [{"name": "b", "type": "long"}]}}]
    >>> [each["name"] for each in find_fields({"type": "struct", "fields": columns}, ["a", "B", "c"])]
    ['A', 'b']
    """
    found: list[dict[str, Any]] = []
    part: dict[str, Any] | str = schema
    for name in path:
        fields = part.get("fields", ()) if isinstance(part, dict) else ()
        field = next((each for each in fields if each["name"].lower() == name.lower()), None)
        if field is None:
            break
        found.append(field)
        part = field["type"]
    return found


def commit_schema(
    spark: SparkSession, transaction: JavaObject, schema: str, changes: Sequence[Mapping[str, Any]]
) -> None:
    """Commit the schema; DESCRIBE HISTORY shows `changes` of columns."""
    jvm: Any = jvm_view(spark)
    before = transaction.metadata()
    metadata = jvm.org.apache.spark.sql.delta.actions.Metadata(
        before.id(),
        before.name(),
        before.description(),
        before.format(),
        schema,
        before.partitionColumns(),
        before.configuration(),
        before.createdTime(),
    )
    transaction.updateMetadata(metadata, False)
    name = "CHANGE COLUMN" if len(changes) == 1 else "CHANGE COLUMNS"
    parameters = {name.split()[1].lower(): json.dumps(changes if len(changes) > 1 else changes[0])}
    operation = jvm.lakeward.DeltaOperation(name, parameters, java_array(spark), {})
    transaction.commit(jvm.PythonUtils.toSeq([]), operation)
