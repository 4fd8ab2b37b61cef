"""Privileges: granted on the object itself, and inherited from its schema and catalog."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lakeward.sql.information_schema.catalog_view import CatalogView, Name, Row

# The privileges on a catalog or schema that its objects inherit.
_FOR_TABLES = {"ALL PRIVILEGES", "SELECT", "MODIFY", "APPLY TAG", "MANAGE"}
_FOR_VOLUMES = {"ALL PRIVILEGES", "READ VOLUME", "WRITE VOLUME", "APPLY TAG", "MANAGE"}
_FOR_ROUTINES = {"ALL PRIVILEGES", "EXECUTE", "MANAGE"}


def catalog_privileges(view: CatalogView) -> Iterator[Row]:
    """Yield the rows of catalog_privileges."""
    return _rows(view, "CATALOG", (view.catalog,), ("catalog_name",), None)


def schema_privileges(view: CatalogView) -> Iterator[Row]:
    """Yield the rows of schema_privileges."""
    for name in view.schemas():
        yield from _rows(view, "SCHEMA", name, ("catalog_name", "schema_name"), None)


def table_privileges(view: CatalogView) -> Iterator[Row]:
    """Yield the rows of table_privileges, of views too."""
    columns = ("table_catalog", "table_schema", "table_name")
    for name in view.relations():
        yield from _rows(view, "TABLE", name, columns, _FOR_TABLES)


def volume_privileges(view: CatalogView) -> Iterator[Row]:
    """Yield the rows of volume_privileges."""
    columns = ("volume_catalog", "volume_schema", "volume_name")
    for name, _ in view.volumes():
        yield from _rows(view, "VOLUME", name, columns, _FOR_VOLUMES)


def routine_privileges(view: CatalogView) -> Iterator[Row]:
    """Yield the rows of routine_privileges."""
    columns = ("specific_catalog", "specific_schema", "specific_name")
    for name, _ in view.functions():
        for row in _rows(view, "FUNCTION", name, columns, _FOR_ROUTINES):
            yield row | dict(zip(("routine_catalog", "routine_schema", "routine_name"), name, strict=True))


def _rows(
    view: CatalogView, kind: str, name: Name, columns: Sequence[str], inherited: set[str] | None
) -> Iterator[Row]:
    """Yield one row per privilege on an object.

    Args:
        view: The catalog.
        kind: The object's kind.
        name: Its full name.
        columns: The relation's columns for the name.
        inherited: The privileges on schema and catalog that apply to the object; None for all.
    """
    parents = [("CATALOG", name[:1]), ("SCHEMA", name[:2])][: len(name) - 1]
    for origin, securable in (*parents, ("NONE", name)):
        metadata = view.metadata(kind if origin == "NONE" else origin, securable)
        for grantee, privileges in sorted(metadata.get("grants", {}).items()):
            for privilege in privileges:
                if origin != "NONE" and inherited is not None and privilege not in inherited:
                    continue
                row = dict(zip(columns, name, strict=True))
                rights = {
                    "grantor": view.user,
                    "grantee": grantee,
                    "privilege_type": privilege.replace(" ", "_"),
                }
                yield row | rights | {"is_grantable": "NO", "inherited_from": origin}
