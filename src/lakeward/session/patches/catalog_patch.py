"""Methods of `spark.catalog` take a schema of one part from the current catalog.

Spark looks for a schema of one part in its session catalog first, which has a `default` of its own. On
Databricks a schema of one part belongs to the current catalog.
"""

from __future__ import annotations

from functools import wraps
from typing import Any

from lakeward.patching import PatchSpec, install
from lakeward.quoting import quote_name

_GLOBAL_TEMPORARY = "global_temp"


def install_catalog_patches() -> None:
    """Make a schema of one part mean the current catalog in these methods."""
    install(PATCHES)


def _qualify_schema(catalog: Any, schema: str) -> str:
    """Return a schema of one part with the current catalog; any other name as it is."""
    if "." in schema or "`" in schema or schema.lower() == _GLOBAL_TEMPORARY:
        return schema
    return quote_name([catalog.currentCatalog(), schema])


def _get_database(before: Any) -> Any:
    @wraps(before)
    def get_database(self: Any, dbName: str) -> Any:
        return before(self, _qualify_schema(self, dbName))

    return get_database


def _list_tables(before: Any) -> Any:
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


def _list_functions(before: Any) -> Any:
    @wraps(before)
    def list_functions(self: Any, dbName: str | None = None, pattern: str | None = None) -> Any:
        schema = self.currentDatabase() if dbName is None else dbName
        return before(self, _qualify_schema(self, schema), pattern)

    return list_functions


_CATALOG = "pyspark.sql.catalog:Catalog"
_REASON = "a schema of one part belongs to the current catalog"
PATCHES = (
    PatchSpec(_CATALOG, "listTables", "session", _REASON, _list_tables),
    PatchSpec(_CATALOG, "listFunctions", "session", _REASON, _list_functions),
    PatchSpec(_CATALOG, "getDatabase", "session", _REASON, _get_database),
)
