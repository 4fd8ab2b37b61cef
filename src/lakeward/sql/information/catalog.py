"""A catalog as the information schema looks at it: its schemas, what is in them, and the notes about it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lakeward.session import is_private_table, java_array
from lakeward.sql.commands.place import Place, place, read_note

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["CatalogView", "Name", "Row"]

Row = dict[str, Any]
Name = tuple[str, ...]


@dataclass
class CatalogView:
    """One catalog of the session's lakehouse."""

    spark: SparkSession
    catalog: str
    _here: Place = field(init=False)

    def __post_init__(self) -> None:
        self._here = place(self.spark)

    @property
    def user(self) -> str:
        """Who owns what nobody else owns."""
        return self._here.settings.user

    def note(self, kind: str, name: Name) -> Row:
        """What is kept about an object; nothing when there is nothing."""
        return read_note(self._here.note(kind, name))

    def schemas(self) -> Iterator[Name]:
        """(catalog, schema), sorted."""
        return ((self.catalog, schema) for schema in self._here.schemas(self.catalog))

    def relations(self) -> Iterator[Name]:
        """(catalog, schema, name) of all tables and views."""
        plugin = self._plugin()
        for _, schema in self.schemas():
            namespace = java_array(self.spark, schema)
            for found in (plugin.listTables(namespace), plugin.listViews(namespace)):
                yield from ((self.catalog, schema, each.name()) for each in found)

    def noted(self) -> Iterator[tuple[Name, Row]]:
        """The tables and views about which something is kept, each with that; no other is looked at."""
        ending = ".table.about.json"
        for _, schema in self.schemas():
            folder = self._here.settings.warehouse / self.catalog / schema
            for path in sorted((folder / ".objects").glob(f"[!.]*{ending}")):
                name = path.name.removesuffix(ending)
                definitions = (path.with_name(f"{name}.{kind}.json") for kind in ("table", "view"))
                # A view that was dropped leaves its note.
                is_there = (folder / name).is_dir() or any(each.is_file() for each in definitions)
                if is_there and not is_private_table(name):
                    yield (self.catalog, schema, name), read_note(path)

    def tables(self) -> Iterator[tuple[Name, Any]]:
        """All tables, each with what the catalog gives for it."""
        plugin = self._plugin()
        jvm: Any = self.spark._jvm
        identifier = jvm.org.apache.spark.sql.connector.catalog.Identifier
        for _, schema in self.schemas():
            namespace = java_array(self.spark, schema)
            for each in plugin.listTables(namespace):
                name = each.name()
                yield (self.catalog, schema, name), plugin.loadTable(identifier.of(namespace, name))

    def volumes(self) -> Iterator[tuple[Name, Any]]:
        """All volumes, each with its folder."""
        root = self._here.settings.volumes / self.catalog
        for _, schema in self.schemas():
            folder = root / schema
            if folder.is_dir():
                places = sorted(p for p in folder.iterdir() if p.is_dir() and p.name[0] != ".")
                yield from (((self.catalog, schema, p.name), p) for p in places)

    def functions(self) -> Iterator[tuple[Name, Row]]:
        """All functions of SQL, each with what is kept of it."""
        ending = ".function.json"
        for _, schema in self.schemas():
            folder = self._here.settings.warehouse / self.catalog / schema / ".objects"
            for path in sorted(folder.glob(f"[!.]*{ending}")):
                yield (self.catalog, schema, path.name.removesuffix(ending)), read_note(path)

    def _plugin(self) -> Any:
        return self.spark._jsparkSession.sessionState().catalogManager().catalog(self.catalog)
