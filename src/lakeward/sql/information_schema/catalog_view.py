"""A catalog for the information schema: its schemas, their objects and the stored metadata."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lakeward.object_metadata import OBJECTS, read_metadata
from lakeward.session import is_private_table
from lakeward.spark_internals import catalog_manager, java_array, jvm_view
from lakeward.sql.procedures import Procedure, procedures_of
from lakeward.sql.session_context import SessionContext, current_context
from lakeward.volume_folders import volume_folder

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from lakeward.session import Settings

Row = dict[str, Any]
Name = tuple[str, ...]


@dataclass
class CatalogView:
    """One catalog of the session's lakehouse.

    Attributes:
        spark: The session.
        catalog: The name of the catalog.
        wanted_schemas: Names of the schemas to look at; None for all.
        wanted_tables: Names of the tables and views to look at; None for all.
    """

    spark: SparkSession
    catalog: str
    wanted_schemas: Collection[str] | None = None
    wanted_tables: Collection[str] | None = None
    _context: SessionContext = field(init=False)

    def __post_init__(self) -> None:
        self._context = current_context(self.spark)

    @property
    def settings(self) -> Settings:
        """Return the settings of the lakehouse."""
        return self._context.settings

    @property
    def user(self) -> str:
        """Return the owner of objects without a stored owner."""
        return self.settings.user

    def metadata(self, kind: str, name: Name) -> Row:
        """Return an object's metadata; empty if it has none."""
        return self._context.metadata(kind, name)

    def schemas(self) -> Iterator[Name]:
        """Yield (catalog, schema), sorted."""
        for schema in self._context.schemas(self.catalog):
            if self.wanted_schemas is None or schema in self.wanted_schemas:
                yield self.catalog, schema

    def relations(self) -> Iterator[Name]:
        """Yield (catalog, schema, name) of all tables and views."""
        plugin = self._plugin()
        for _, schema in self.schemas():
            namespace = java_array(self.spark, schema)
            for found in (plugin.listTables(namespace), plugin.listViews(namespace)):
                names = (each.name() for each in found)
                yield from ((self.catalog, schema, name) for name in names if self._is_wanted(name))

    def tables_with_metadata(self) -> Iterator[tuple[Name, Row]]:
        """Yield the tables and views that have metadata, with it; the others are not read."""
        ending = ".table.about.json"
        for _, schema in self.schemas():
            folder = self._context.settings.warehouse / self.catalog / schema
            for path in sorted((folder / OBJECTS).glob(f"[!.]*{ending}")):
                name = path.name.removesuffix(ending)
                definitions = (path.with_name(f"{name}.{kind}.json") for kind in ("table", "view"))
                # The metadata of a dropped view stays.
                exists = (folder / name).is_dir() or any(each.is_file() for each in definitions)
                if exists and self._is_wanted(name) and not is_private_table(name):
                    yield (self.catalog, schema, name), read_metadata(path)

    def tables(self) -> Iterator[tuple[Name, Any]]:
        """Yield all tables, with the table object of Spark's catalog API."""
        plugin = self._plugin()
        jvm: Any = jvm_view(self.spark)
        identifier = jvm.org.apache.spark.sql.connector.catalog.Identifier
        for _, schema in self.schemas():
            namespace = java_array(self.spark, schema)
            for each in plugin.listTables(namespace):
                name = each.name()
                if not self._is_wanted(name):
                    continue
                yield (self.catalog, schema, name), plugin.loadTable(identifier.of(namespace, name))

    def _is_wanted(self, table: str) -> bool:
        return self.wanted_tables is None or table in self.wanted_tables

    def volumes(self) -> Iterator[tuple[Name, Any]]:
        """Yield all volumes, with their folders."""
        for _, schema in self.schemas():
            names = [(self.catalog, schema, name) for name in self._context.volumes(self.catalog, schema)]
            yield from ((name, volume_folder(self._context.settings.volumes, *name)) for name in names)

    def functions(self) -> Iterator[tuple[Name, Row]]:
        """Yield all SQL functions, with their stored definitions."""
        ending = ".function.json"
        for _, schema in self.schemas():
            folder = self._context.settings.warehouse / self.catalog / schema / OBJECTS
            for path in sorted(folder.glob(f"[!.]*{ending}")):
                yield (self.catalog, schema, path.name.removesuffix(ending)), read_metadata(path)

    def procedures(self) -> Iterator[tuple[Name, Procedure]]:
        """Yield all stored procedures."""
        for _, schema in self.schemas():
            yield from procedures_of(self._context, self.catalog, schema)

    def _plugin(self) -> Any:
        return catalog_manager(self.spark).catalog(self.catalog)
