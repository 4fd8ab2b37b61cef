"""Who may do what, by GRANT: on the object itself and on what holds it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lakeward.sql.information.catalog import CatalogView, Name, Row

__all__ = ["of_catalogs", "of_routines", "of_schemas", "of_tables", "of_volumes"]

# What a grant on a catalog or a schema means for the objects in it.
_FOR_TABLES = {"ALL PRIVILEGES", "SELECT", "MODIFY", "APPLY TAG", "MANAGE"}
_FOR_VOLUMES = {"ALL PRIVILEGES", "READ VOLUME", "WRITE VOLUME", "APPLY TAG", "MANAGE"}
_FOR_ROUTINES = {"ALL PRIVILEGES", "EXECUTE", "MANAGE"}


def of_catalogs(view: CatalogView) -> Iterator[Row]:
    """catalog_privileges."""
    return _rows(view, "CATALOG", (view.catalog,), ("catalog_name",), None)


def of_schemas(view: CatalogView) -> Iterator[Row]:
    """schema_privileges."""
    for name in view.schemas():
        yield from _rows(view, "SCHEMA", name, ("catalog_name", "schema_name"), None)


def of_tables(view: CatalogView) -> Iterator[Row]:
    """table_privileges, of views too."""
    columns = ("table_catalog", "table_schema", "table_name")
    for name in view.relations():
        yield from _rows(view, "TABLE", name, columns, _FOR_TABLES)


def of_volumes(view: CatalogView) -> Iterator[Row]:
    """volume_privileges."""
    columns = ("volume_catalog", "volume_schema", "volume_name")
    for name, _ in view.volumes():
        yield from _rows(view, "VOLUME", name, columns, _FOR_VOLUMES)


def of_routines(view: CatalogView) -> Iterator[Row]:
    """routine_privileges."""
    columns = ("specific_catalog", "specific_schema", "specific_name")
    for name, _ in view.functions():
        for row in _rows(view, "FUNCTION", name, columns, _FOR_ROUTINES):
            yield row | dict(zip(("routine_catalog", "routine_schema", "routine_name"), name, strict=True))


def _rows(
    view: CatalogView, kind: str, name: Name, columns: Sequence[str], inherited: set[str] | None
) -> Iterator[Row]:
    """`inherited`: the privileges on holders that hold for the object too; None: all of them."""
    about = view.note(kind, name)
    above = [("CATALOG", name[:1]), ("SCHEMA", name[:2])][: len(name) - 1]
    for origin, of in (*above, ("NONE", name)):
        grants = about if origin == "NONE" else view.note(origin, of)
        for grantee, privileges in sorted(grants.get("grants", {}).items()):
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
