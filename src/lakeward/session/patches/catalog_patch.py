"""Methods of `spark.catalog` act as the statements of SQL do.

They take a schema of one part from the current catalog, as on Databricks: Spark looks for it in its session
catalog first, which has a `default` of its own. And those about statistics and partitions run the statement.
"""

from __future__ import annotations

from functools import wraps
from typing import Any

from lakeward.patching import PatchSpec, Wrapped
from lakeward.quoting import quote_name

_GLOBAL_TEMPORARY = "global_temp"


def _qualify_schema(catalog: Any, schema: str) -> str:
    """Return a schema of one part with the current catalog; any other name as it is."""
    if "." in schema or "`" in schema or schema.lower() == _GLOBAL_TEMPORARY:
        return schema
    return quote_name([catalog.currentCatalog(), schema])


def _get_database(before: Wrapped) -> Any:
    @wraps(before)
    def get_database(self: Any, dbName: str) -> Any:
        return before(self, _qualify_schema(self, dbName))

    return get_database


def _list_temporary_views_too(before: Wrapped) -> Any:
    """`listTables` and `listViews`: both list the temporary views of the session, too."""

    @wraps(before)
    def list_tables(self: Any, dbName: str | None = None, pattern: str | None = None) -> Any:
        schema = self.currentDatabase() if dbName is None else dbName
        qualified = _qualify_schema(self, schema)
        tables = before(self, qualified, pattern)
        if qualified == schema:
            return tables
        listed = {table.name for table in tables if table.isTemporary}
        # Only a listing of Spark's session catalog has local temporary views.
        views = [each for each in before(self, "default", pattern) if each.isTemporary]
        return [*tables, *(view for view in views if view.name not in listed)]

    return list_tables


def _list_functions(before: Wrapped) -> Any:
    @wraps(before)
    def list_functions(self: Any, dbName: str | None = None, pattern: str | None = None) -> Any:
        schema = self.currentDatabase() if dbName is None else dbName
        return before(self, _qualify_schema(self, schema), pattern)

    return list_functions


def _analyze_table(before: Wrapped) -> Any:
    @wraps(before)
    def analyze_table(self: Any, tableName: str, noScan: bool = False) -> None:
        scan = " NOSCAN" if noScan else ""
        self._sparkSession.sql(f"ANALYZE TABLE {tableName} COMPUTE STATISTICS{scan}")

    return analyze_table


def _recover_partitions(before: Wrapped) -> Any:
    @wraps(before)
    def recover_partitions(self: Any, tableName: str) -> None:
        self._sparkSession.sql(f"ALTER TABLE {tableName} RECOVER PARTITIONS")

    return recover_partitions


def _list_partitions(before: Wrapped) -> Any:
    """Delta's SHOW PARTITIONS has a column for each one of the partition, which Spark reads as one text."""

    @wraps(before)
    def list_partitions(self: Any, tableName: str) -> Any:
        from pyspark.sql.catalog import TablePartition

        shown = self._sparkSession.sql(f"SHOW PARTITIONS {tableName}")
        rows = shown.collect()
        if shown.columns == ["partition"] and all("=" in str(row.partition) for row in rows):
            return [TablePartition(partition=row.partition) for row in rows]
        texts = ["/".join(f"{name}={row[name]}" for name in shown.columns) for row in rows]
        return [TablePartition(partition=text) for text in texts]

    return list_partitions


_CATALOG = "pyspark.sql.catalog:Catalog"
_REASON = "a schema of one part belongs to the current catalog"
_STATEMENT = "the method runs the statement of SQL"
PATCHES = (
    PatchSpec(_CATALOG, "listTables", "session", _REASON, _list_temporary_views_too),
    PatchSpec(_CATALOG, "listViews", "session", _REASON, _list_temporary_views_too),
    PatchSpec(_CATALOG, "listFunctions", "session", _REASON, _list_functions),
    PatchSpec(_CATALOG, "getDatabase", "session", _REASON, _get_database),
    PatchSpec(_CATALOG, "analyzeTable", "session", _STATEMENT, _analyze_table),
    PatchSpec(_CATALOG, "recoverPartitions", "session", _STATEMENT, _recover_partitions),
    PatchSpec(_CATALOG, "listPartitions", "session", _STATEMENT, _list_partitions),
)
