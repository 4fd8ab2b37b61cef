"""One function a relation, and the handler that is asked for its rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from lakeward.sql.information import constraints, policies, rights, routines, tags, volumes
from lakeward.sql.information.catalog import CatalogView, Row

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["information_schema"]


def _catalogs(view: CatalogView) -> Iterable[Row]:
    about = view.note("CATALOG", (view.catalog,))
    owner = about.get("owner") or view.user
    yield {"catalog_name": view.catalog, "catalog_owner": owner, "comment": about.get("comment")}


def _name(view: CatalogView) -> Iterable[Row]:
    yield {"catalog_name": view.catalog}


_RELATIONS: Mapping[str, Callable[[CatalogView], Iterable[Row]]] = {
    "catalogs": _catalogs,
    "information_schema_catalog_name": _name,
    "catalog_privileges": rights.of_catalogs,
    "schema_privileges": rights.of_schemas,
    "table_privileges": rights.of_tables,
    "volume_privileges": rights.of_volumes,
    "routine_privileges": rights.of_routines,
    "catalog_tags": tags.of_catalogs,
    "schema_tags": tags.of_schemas,
    "table_tags": tags.of_tables,
    "column_tags": tags.of_columns,
    "volume_tags": tags.of_volumes,
    "row_filters": policies.row_filters,
    "column_masks": policies.column_masks,
    "table_constraints": constraints.table_constraints,
    "check_constraints": constraints.check_constraints,
    "key_column_usage": constraints.key_column_usage,
    "constraint_column_usage": constraints.constraint_column_usage,
    "constraint_table_usage": constraints.constraint_table_usage,
    "referential_constraints": constraints.referential_constraints,
    "routines": routines.routines,
    "parameters": routines.parameters,
    "routine_columns": routines.routine_columns,
    "volumes": volumes.volumes,
}


def information_schema(spark: SparkSession, *, relation: str, catalog: str) -> dict[str, Any]:
    """The rows of a relation of a catalog: values by column, timestamps in microseconds."""
    return {"rows": list(_RELATIONS[relation](CatalogView(spark, catalog)))}
