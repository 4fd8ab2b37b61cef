"""Tags, row filters and column masks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from lakeward.sql.information_schema.catalog_view import CatalogView, Name, Row

_SCHEMA = ("catalog_name", "schema_name")
_TABLE = (*_SCHEMA, "table_name")


def catalog_tags(view: CatalogView) -> Iterator[Row]:
    """Yield the rows of catalog_tags."""
    tags = view.metadata("CATALOG", (view.catalog,)).get("tags", {})
    return _tag_rows({"catalog_name": view.catalog}, tags)


def schema_tags(view: CatalogView) -> Iterator[Row]:
    """Yield the rows of schema_tags."""
    for name in view.schemas():
        tags = view.metadata("SCHEMA", name).get("tags", {})
        yield from _tag_rows(dict(zip(_SCHEMA, name, strict=True)), tags)


def table_tags(view: CatalogView) -> Iterator[Row]:
    """Yield the rows of table_tags, of views too."""
    return _object_tags("table_name", view.tables_with_metadata())


def volume_tags(view: CatalogView) -> Iterator[Row]:
    """Yield the rows of volume_tags."""
    return _object_tags("volume_name", ((name, view.metadata("VOLUME", name)) for name, _ in view.volumes()))


def column_tags(view: CatalogView) -> Iterator[Row]:
    """Yield the rows of column_tags."""
    for name, metadata in view.tables_with_metadata():
        table = dict(zip(_TABLE, name, strict=True))
        for column, tags in sorted(metadata.get("column_tags", {}).items()):
            yield from _tag_rows(table | {"column_name": column}, tags)


def _object_tags(column: str, objects: Iterable[tuple[Name, Row]]) -> Iterator[Row]:
    for name, metadata in objects:
        yield from _tag_rows(dict(zip((*_SCHEMA, column), name, strict=True)), metadata.get("tags", {}))


def _tag_rows(securable: Row, tags: Mapping[str, str]) -> Iterator[Row]:
    for name, value in sorted(tags.items()):
        yield securable | {"tag_name": name, "tag_value": value}


def row_filters(view: CatalogView) -> Iterator[Row]:
    """Yield the row filters of all tables."""
    for name, metadata in view.tables_with_metadata():
        policy = metadata.get("row_filter")
        if policy:
            usage = {"filter_col_usage": ", ".join(policy["arguments"])}
            yield dict(zip(_TABLE, name, strict=True)) | _function("filter", policy) | usage


def column_masks(view: CatalogView) -> Iterator[Row]:
    """Yield the masks of all tables; the usage lists the arguments after the column itself."""
    for name, metadata in view.tables_with_metadata():
        for column, policy in sorted(metadata.get("masks", {}).items()):
            table = dict(zip(_TABLE, name, strict=True)) | {"column_name": column}
            usage = {"mask_col_usage": ", ".join(policy["arguments"][1:]) or None}
            yield table | _function("mask", policy) | usage


def _function(kind: str, policy: dict[str, Any]) -> Row:
    return dict(zip((f"{kind}_catalog", f"{kind}_schema", f"{kind}_name"), policy["function"], strict=True))
