"""Tags, by SET TAGS."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from lakeward.sql.information.catalog import CatalogView, Name, Row

__all__ = ["of_catalogs", "of_columns", "of_schemas", "of_tables", "of_volumes"]

_NAMES = ("catalog_name", "schema_name")


def of_catalogs(view: CatalogView) -> Iterator[Row]:
    """catalog_tags."""
    return _rows({"catalog_name": view.catalog}, view.note("CATALOG", (view.catalog,)).get("tags", {}))


def of_schemas(view: CatalogView) -> Iterator[Row]:
    """schema_tags."""
    for name in view.schemas():
        yield from _rows(dict(zip(_NAMES, name, strict=True)), view.note("SCHEMA", name).get("tags", {}))


def of_tables(view: CatalogView) -> Iterator[Row]:
    """table_tags, of views too."""
    return _of("table_name", view.noted())


def of_volumes(view: CatalogView) -> Iterator[Row]:
    """volume_tags."""
    return _of("volume_name", ((name, view.note("VOLUME", name)) for name, _ in view.volumes()))


def of_columns(view: CatalogView) -> Iterator[Row]:
    """column_tags."""
    for name, about in view.noted():
        at = dict(zip((*_NAMES, "table_name"), name, strict=True))
        for column, tags in sorted(about.get("column_tags", {}).items()):
            yield from _rows(at | {"column_name": column}, tags)


def _of(column: str, noted: Iterable[tuple[Name, Row]]) -> Iterator[Row]:
    for name, about in noted:
        at = dict(zip((*_NAMES, column), name, strict=True))
        yield from _rows(at, about.get("tags", {}))


def _rows(at: Row, tags: Mapping[str, str]) -> Iterator[Row]:
    for name, value in sorted(tags.items()):
        yield at | {"tag_name": name, "tag_value": value}
