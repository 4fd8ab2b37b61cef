"""Keys, which are metadata of the table, and CHECK constraints, which are properties of the table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lakeward.sql.information_schema.catalog_view import CatalogView, Name, Row

_CHECK = "delta.constraints."
_TABLE = ("table_catalog", "table_schema", "table_name")


def table_constraints(view: CatalogView) -> Iterator[Row]:
    """Yield all keys and CHECK constraints."""
    for name, key in _keys(view):
        yield _row(name, key["name"]) | _kind(key["type"], enforced="NO")
    for name, constraint, _ in _checks(view):
        yield _row(name, constraint) | _kind("CHECK", enforced="YES")


def check_constraints(view: CatalogView) -> Iterator[Row]:
    """Yield CHECK constraints with their conditions."""
    for name, constraint, clause in _checks(view):
        yield _constraint(name, constraint) | {"check_clause": clause}


def key_column_usage(view: CatalogView) -> Iterator[Row]:
    """Yield the columns of keys in order; for foreign keys with the position in the referenced key."""
    for name, key in _keys(view):
        for number, column in enumerate(key["columns"], 1):
            referenced = number if key["type"] == "FOREIGN KEY" else None
            position = {"ordinal_position": number, "position_in_unique_constraint": referenced}
            yield _row(name, key["name"]) | {"column_name": column} | position


def constraint_column_usage(view: CatalogView) -> Iterator[Row]:
    """Yield the referenced columns: a primary key's own, or the parent's for a foreign key."""
    for name, key in _keys(view):
        for column in key["parent_columns"] or key["columns"]:
            yield _referenced(name, key) | {"column_name": column} | _constraint(name, key["name"])


def constraint_table_usage(view: CatalogView) -> Iterator[Row]:
    """Yield the referenced tables."""
    for name, key in _keys(view):
        yield _referenced(name, key) | _constraint(name, key["name"])


def referential_constraints(view: CatalogView) -> Iterator[Row]:
    """Yield foreign keys with the primary key that each references."""
    for name, key in _keys(view):
        if key["type"] != "FOREIGN KEY":
            continue
        parent = tuple(key["parent"])
        keys = view.metadata("TABLE", parent).get("keys", ())
        primary = next((k["name"] for k in keys if k["type"] == "PRIMARY KEY"), None)
        unique = dict(zip(("unique_constraint_catalog", "unique_constraint_schema"), parent, strict=False))
        rules = {"match_option": "FULL", "update_rule": "NO ACTION", "delete_rule": "NO ACTION"}
        yield _constraint(name, key["name"]) | unique | {"unique_constraint_name": primary} | rules


def _keys(view: CatalogView) -> Iterator[tuple[Name, Any]]:
    for name, metadata in view.tables_with_metadata():
        for key in metadata.get("keys", ()):
            yield name, key


def _checks(view: CatalogView) -> Iterator[tuple[Name, str, str]]:
    for name, table in view.tables():
        properties = table.properties()
        for key in sorted(k for k in properties if k.startswith(_CHECK)):
            yield name, key.removeprefix(_CHECK), properties[key]


def _constraint(name: Name, constraint: str) -> Row:
    return {
        "constraint_catalog": name[0],
        "constraint_schema": name[1],
        "constraint_name": constraint,
    }


def _row(name: Name, constraint: str) -> Row:
    return _constraint(name, constraint) | dict(zip(_TABLE, name, strict=True))


def _referenced(name: Name, key: Any) -> Row:
    return dict(zip(_TABLE, key["parent"] or name, strict=True))


def _kind(kind: str, *, enforced: str) -> Row:
    return {
        "constraint_type": kind,
        "is_deferrable": "YES",
        "initially_deferred": "NO",
        "enforced": enforced,
    }
