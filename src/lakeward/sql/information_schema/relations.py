"""Relations of the information schema, one function each, and the command with which the JVM reads them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lakeward.dataset_properties import CHECK_PREFIX
from lakeward.sql.construct import Command
from lakeward.sql.information_schema import routines
from lakeward.sql.information_schema.catalog_view import CatalogView, Name, Row
from lakeward.sql.session_context import metadata_levels
from lakeward.sql.standalone_tables import list_standalone_tables

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def _catalogs(view: CatalogView) -> Iterator[Row]:
    metadata = view.metadata("CATALOG", (view.catalog,))
    owner = metadata.get("owner") or view.user
    yield {"catalog_name": view.catalog, "catalog_owner": owner, "comment": metadata.get("comment")}


def _catalog_name(view: CatalogView) -> Iterator[Row]:
    yield {"catalog_name": view.catalog}


def _materialized_queries(view: CatalogView) -> Iterator[Row]:
    """Yield the queries of materialized views that SQL statements define; no row for those of pipelines."""
    for table in list_standalone_tables(view.settings):
        if table.kind == "materialized_view" and table.name[0] == view.catalog:
            yield {"table_schema": table.name[1], "table_name": table.name[2], "view_definition": table.query}


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


# The privileges on a catalog or schema that its objects inherit.
_FOR_TABLES = {"ALL PRIVILEGES", "SELECT", "MODIFY", "APPLY TAG", "MANAGE"}
_FOR_VOLUMES = {"ALL PRIVILEGES", "READ VOLUME", "WRITE VOLUME", "APPLY TAG", "MANAGE"}
_FOR_ROUTINES = {"ALL PRIVILEGES", "EXECUTE", "MANAGE"}


def catalog_privileges(view: CatalogView) -> Iterator[Row]:
    """Yield the rows of catalog_privileges."""
    return _privilege_rows(view, "CATALOG", (view.catalog,), ("catalog_name",), None)


def schema_privileges(view: CatalogView) -> Iterator[Row]:
    """Yield the rows of schema_privileges."""
    for name in view.schemas():
        yield from _privilege_rows(view, "SCHEMA", name, ("catalog_name", "schema_name"), None)


def table_privileges(view: CatalogView) -> Iterator[Row]:
    """Yield the rows of table_privileges, of views too."""
    columns = ("table_catalog", "table_schema", "table_name")
    for name in view.relations():
        yield from _privilege_rows(view, "TABLE", name, columns, _FOR_TABLES)


def volume_privileges(view: CatalogView) -> Iterator[Row]:
    """Yield the rows of volume_privileges."""
    columns = ("volume_catalog", "volume_schema", "volume_name")
    for name, _ in view.volumes():
        yield from _privilege_rows(view, "VOLUME", name, columns, _FOR_VOLUMES)


def routine_privileges(view: CatalogView) -> Iterator[Row]:
    """Yield the rows of routine_privileges."""
    columns = ("specific_catalog", "specific_schema", "specific_name")
    for name, _ in view.functions():
        for row in _privilege_rows(view, "FUNCTION", name, columns, _FOR_ROUTINES):
            yield row | dict(zip(("routine_catalog", "routine_schema", "routine_name"), name, strict=True))


def _privilege_rows(
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
    for level, securable in metadata_levels(kind, name):
        origin = "NONE" if securable == name else level
        for grantee, privileges in sorted(view.metadata(level, securable).get("grants", {}).items()):
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
            usage = dict.fromkeys(("filter_col_usage", "target_columns"), ", ".join(policy["arguments"]))
            yield _policy_table(name) | _function("filter", policy) | usage


def column_masks(view: CatalogView) -> Iterator[Row]:
    """Yield the masks of all tables; the usage lists the arguments after the column itself."""
    for name, metadata in view.tables_with_metadata():
        for column, policy in sorted(metadata.get("masks", {}).items()):
            used = ", ".join(policy["arguments"][1:]) or None
            usage = {"column_name": column, **dict.fromkeys(("mask_col_usage", "using_columns"), used)}
            yield _policy_table(name) | _function("mask", policy) | usage


def _policy_table(name: tuple[str, ...]) -> Row:
    """Return the table of a policy, under the documented names and those that clients use."""
    known = dict(zip(_TABLE, name, strict=True))
    return known | {"table_catalog": known["catalog_name"], "table_schema": known["schema_name"]}


def _function(kind: str, policy: dict[str, Any]) -> Row:
    return dict(zip((f"{kind}_catalog", f"{kind}_schema", f"{kind}_name"), policy["function"], strict=True))


_CONSTRAINED_TABLE = ("table_catalog", "table_schema", "table_name")


def table_constraints(view: CatalogView) -> Iterator[Row]:
    """Yield all keys and CHECK constraints."""
    for name, key in _keys(view):
        yield _constraint_row(name, key["name"]) | _kind(key["type"], enforced="NO")
    for name, constraint, _ in _checks(view):
        yield _constraint_row(name, constraint) | _kind("CHECK", enforced="YES")


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
            yield _constraint_row(name, key["name"]) | {"column_name": column} | position


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
        for key in sorted(k for k in properties if k.startswith(CHECK_PREFIX)):
            yield name, key.removeprefix(CHECK_PREFIX), properties[key]


def _constraint(name: Name, constraint: str) -> Row:
    return {
        "constraint_catalog": name[0],
        "constraint_schema": name[1],
        "constraint_name": constraint,
    }


def _constraint_row(name: Name, constraint: str) -> Row:
    return _constraint(name, constraint) | dict(zip(_CONSTRAINED_TABLE, name, strict=True))


def _referenced(name: Name, key: Any) -> Row:
    return dict(zip(_CONSTRAINED_TABLE, key["parent"] or name, strict=True))


def _kind(kind: str, *, enforced: str) -> Row:
    return {
        "constraint_type": kind,
        "is_deferrable": "YES",
        "initially_deferred": "NO",
        "enforced": enforced,
    }


_RELATIONS: Mapping[str, Callable[[CatalogView], Iterable[Row]]] = {
    "catalogs": _catalogs,
    "information_schema_catalog_name": _catalog_name,
    "catalog_privileges": catalog_privileges,
    "schema_privileges": schema_privileges,
    "table_privileges": table_privileges,
    "volume_privileges": volume_privileges,
    "routine_privileges": routine_privileges,
    "catalog_tags": catalog_tags,
    "schema_tags": schema_tags,
    "table_tags": table_tags,
    "column_tags": column_tags,
    "volume_tags": volume_tags,
    "row_filters": row_filters,
    "column_masks": column_masks,
    "table_constraints": table_constraints,
    "check_constraints": check_constraints,
    "key_column_usage": key_column_usage,
    "constraint_column_usage": constraint_column_usage,
    "constraint_table_usage": constraint_table_usage,
    "referential_constraints": referential_constraints,
    "routines": routines.routines,
    "parameters": routines.parameters,
    "routine_columns": routines.routine_columns,
    "volumes": _volumes,
    # Not a relation of its own: part of `views`, whose other columns InformationSchemaScan.java computes.
    "materialized_queries": _materialized_queries,
}


@dataclass(frozen=True)
class ReadInformationSchema(Command, name="information_schema"):
    """Reads one relation of a catalog, for the JVM.

    The result is `{"rows": […]}` with one object per row; timestamps are microseconds since the epoch. It may
    have rows of other schemas and tables than those that are named; None is all.
    """

    relation: str
    catalog: str
    schemas: list[str] | None
    tables: list[str] | None

    def run(self, spark: SparkSession) -> dict[str, Any]:
        view = CatalogView(spark, self.catalog, self.schemas, self.tables)
        return {"rows": list(_RELATIONS[self.relation](view))}
