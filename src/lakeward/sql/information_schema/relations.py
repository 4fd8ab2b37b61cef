"""One function per relation, and the command with which the JVM reads them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lakeward.sql.construct import Command
from lakeward.sql.information_schema import constraints, governance, privileges, routines
from lakeward.sql.information_schema.catalog_view import CatalogView, Row

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def _catalogs(view: CatalogView) -> Iterator[Row]:
    metadata = view.metadata("CATALOG", (view.catalog,))
    owner = metadata.get("owner") or view.user
    yield {"catalog_name": view.catalog, "catalog_owner": owner, "comment": metadata.get("comment")}


def _catalog_name(view: CatalogView) -> Iterator[Row]:
    yield {"catalog_name": view.catalog}


def _volumes(view: CatalogView) -> Iterator[Row]:
    """Keep the times of the volume's folder."""
    for name, folder in view.volumes():
        metadata = view.metadata("VOLUME", name)
        owner, location = metadata.get("owner") or view.user, metadata.get("location")
        stat = folder.stat()
        yield {
            **dict(zip(("volume_catalog", "volume_schema", "volume_name"), name, strict=True)),
            "volume_type": "EXTERNAL" if location else "MANAGED",
            "volume_owner": owner,
            "comment": metadata.get("comment"),
            "storage_location": location or folder.as_uri(),
            "created": int(stat.st_ctime * 1_000_000),
            "created_by": owner,
            "last_altered": int(stat.st_mtime * 1_000_000),
            "last_altered_by": owner,
        }


_RELATIONS: Mapping[str, Callable[[CatalogView], Iterable[Row]]] = {
    "catalogs": _catalogs,
    "information_schema_catalog_name": _catalog_name,
    "catalog_privileges": privileges.catalog_privileges,
    "schema_privileges": privileges.schema_privileges,
    "table_privileges": privileges.table_privileges,
    "volume_privileges": privileges.volume_privileges,
    "routine_privileges": privileges.routine_privileges,
    "catalog_tags": governance.catalog_tags,
    "schema_tags": governance.schema_tags,
    "table_tags": governance.table_tags,
    "column_tags": governance.column_tags,
    "volume_tags": governance.volume_tags,
    "row_filters": governance.row_filters,
    "column_masks": governance.column_masks,
    "table_constraints": constraints.table_constraints,
    "check_constraints": constraints.check_constraints,
    "key_column_usage": constraints.key_column_usage,
    "constraint_column_usage": constraints.constraint_column_usage,
    "constraint_table_usage": constraints.constraint_table_usage,
    "referential_constraints": constraints.referential_constraints,
    "routines": routines.routines,
    "parameters": routines.parameters,
    "routine_columns": routines.routine_columns,
    "volumes": _volumes,
}


@dataclass(frozen=True)
class ReadInformationSchema(Command, name="information_schema"):
    """Reads one relation of a catalog, for the JVM.

    The result is `{"rows": […]}` with one object per row; timestamps are microseconds since the epoch.
    """

    relation: str
    catalog: str

    def run(self, spark: SparkSession) -> dict[str, Any]:
        return {"rows": list(_RELATIONS[self.relation](CatalogView(spark, self.catalog)))}
