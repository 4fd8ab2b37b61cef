"""Row filters and column masks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lakeward.sql.information.catalog import CatalogView, Name, Row

__all__ = ["column_masks", "row_filters"]


def row_filters(view: CatalogView) -> Iterator[Row]:
    """The filter of each table that has one."""
    for name, about in view.noted():
        policy = about.get("row_filter")
        if policy:
            yield _row(name) | _function("filter", policy) | {"filter_col_usage": _list(policy["arguments"])}


def column_masks(view: CatalogView) -> Iterator[Row]:
    """The masks of each table; the arguments beyond the column itself."""
    for name, about in view.noted():
        for column, policy in sorted(about.get("masks", {}).items()):
            others = policy["arguments"][1:]
            usage = {"mask_col_usage": _list(others) if others else None}
            yield _row(name) | {"column_name": column} | _function("mask", policy) | usage


def _row(name: Name) -> Row:
    return dict(zip(("catalog_name", "schema_name", "table_name"), name, strict=True))


def _function(kind: str, policy: dict[str, Any]) -> Row:
    return dict(zip((f"{kind}_catalog", f"{kind}_schema", f"{kind}_name"), policy["function"], strict=True))


def _list(arguments: list[str]) -> str:
    return ", ".join(arguments)
