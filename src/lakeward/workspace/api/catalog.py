"""Unity Catalog: catalogs, schemas and tables, which are folders of the warehouse.

Source: https://docs.databricks.com/api/workspace/schemas and its siblings. Names are lower case.
"""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import Any

from lakeward.databricks_shims.local_workspace import ApiError, Route, missing, volume_handlers
from lakeward.workspace.api.catalog_tables import (
    DamagedTable,
    TableFacts,
    is_table,
    read_table,
    remove_table,
    table_names,
)
from lakeward.workspace.api.name_patterns import is_like
from lakeward.workspace.api.securables import (
    SECURABLE,
    catalog_names,
    checked_name,
    exists,
    forget,
    move_grants,
    remove_catalog,
    remove_schema,
    require_catalog,
    require_schema,
    schema_names,
    warehouse_of,
)
from lakeward.workspace.context import ServerRequest, paginate
from lakeward.workspace.state.store import now

_FIELDS = ("comment", "properties", "storage_root", "enable_predictive_optimization")


def list_catalogs(call: ServerRequest) -> Any:
    """Return all catalogs."""
    names = catalog_names(call)
    return paginate(call, [_catalog(call, name) for name in names], "catalogs", default=100)


def create_catalog(call: ServerRequest) -> Any:
    """Create a catalog with its schema `default`."""
    name = checked_name(call.required("name"))
    if (warehouse_of(call) / name).is_dir():
        raise ApiError(400, "CATALOG_ALREADY_EXISTS", f"Catalog '{name}' already exists")
    (warehouse_of(call) / name / "default").mkdir(parents=True)
    _remember(call, name)
    return _catalog(call, name)


def get_catalog(call: ServerRequest) -> Any:
    """Return one catalog."""
    return _catalog(call, _there(call, 1)[0])


def update_catalog(call: ServerRequest) -> Any:
    """Another comment, other properties."""
    (name,) = _there(call, 1)
    if call.body.get("new_name"):
        raise ApiError(501, "NOT_IMPLEMENTED", "A catalog cannot be renamed here: create another one.")
    _remember(call, name)
    return _catalog(call, name)


def delete_catalog(call: ServerRequest) -> None:
    """Remove a catalog; one with content only with `force`."""
    remove_catalog(call, *_there(call, 1), force=call.flag("force"))


def list_schemas(call: ServerRequest) -> Any:
    """Return the schemas of a catalog."""
    catalog = checked_name(call.required("catalog_name"))
    require_catalog(call, catalog)
    names = schema_names(call, catalog)
    return paginate(call, [_schema(call, catalog, name) for name in names], "schemas", default=100)


def create_schema(call: ServerRequest) -> Any:
    """Create a schema. Raises ApiError where its catalog does not exist."""
    catalog, name = checked_name(call.required("catalog_name")), checked_name(call.required("name"))
    require_catalog(call, catalog)
    folder = warehouse_of(call) / catalog / name
    if folder.is_dir():
        raise ApiError(400, "SCHEMA_ALREADY_EXISTS", f"Schema '{catalog}.{name}' already exists")
    folder.mkdir(parents=True)
    _remember(call, f"{catalog}.{name}")
    return _schema(call, catalog, name)


def get_schema(call: ServerRequest) -> Any:
    """Return one schema."""
    return _schema(call, *_there(call, 2))


def update_schema(call: ServerRequest) -> Any:
    """Another comment, other properties; a new name is refused, since tables know where they are."""
    parts = _there(call, 2)
    if call.body.get("new_name"):
        raise ApiError(
            501, "NOT_IMPLEMENTED", "A schema cannot be renamed here: make another and copy its tables."
        )
    _remember(call, ".".join(parts))
    return _schema(call, *parts)


def delete_schema(call: ServerRequest) -> None:
    """Remove a schema; one with content only with `force`."""
    remove_schema(call, *_there(call, 2), force=call.flag("force"))


def list_tables(call: ServerRequest) -> Any:
    """List the tables and views of a schema, with their columns unless `omit_columns`."""
    catalog, schema = checked_name(call.required("catalog_name")), checked_name(call.required("schema_name"))
    require_schema(call, catalog, schema)
    pattern = call.query.get("table_name_pattern")
    folder = warehouse_of(call) / catalog / schema
    found = [_table(call, catalog, schema, name, _facts(folder, name)) for name in table_names(folder)]
    if call.flag("omit_columns"):
        for each in found:
            del each["columns"]
    if pattern:
        found = [each for each in found if is_like(each["name"], pattern)]
    return paginate(call, found, "tables", default=50)


def list_table_summaries(call: ServerRequest) -> Any:
    """List names and types of the tables of a catalog, on request of names that match a pattern."""
    catalog = checked_name(call.required("catalog_name"))
    require_catalog(call, catalog)
    schemas, tables = (call.query.get(f"{kind}_name_pattern") or "%" for kind in ("schema", "table"))
    found = []
    for schema in schema_names(call, catalog):
        if not is_like(schema, schemas):
            continue
        folder = warehouse_of(call) / catalog / schema
        for name in table_names(folder):
            if not is_like(name, tables):
                continue
            facts = _facts(folder, name)
            found.append({"full_name": f"{catalog}.{schema}.{name}", "table_type": facts.table_type})
    return paginate(call, found, "tables", default=100)


def get_table(call: ServerRequest) -> Any:
    """Return one table or view."""
    catalog, schema, name = _parts(call, 3)
    if not is_table(warehouse_of(call) / catalog / schema, name):
        raise missing(f"Table '{catalog}.{schema}.{name}'", "TABLE_DOES_NOT_EXIST")
    try:
        facts = read_table(warehouse_of(call) / catalog / schema, name)
    except DamagedTable as damaged:
        raise ApiError(
            400,
            "INVALID_STATE",
            f"Table '{catalog}.{schema}.{name}' cannot be read: {damaged}. Restore the file.",
        ) from None
    return _table(call, catalog, schema, name, facts)


def _facts(folder: Path, name: str) -> TableFacts:
    """Return the facts on a listed table; the comment of an unreadable one names the damaged file."""
    try:
        return read_table(folder, name)
    except DamagedTable as damaged:
        return TableFacts("MANAGED", "", comment=f"Cannot be read: {damaged}.")


def delete_table(call: ServerRequest) -> None:
    """Remove a table with its data, or a view."""
    catalog, schema, name = _parts(call, 3)
    folder = warehouse_of(call) / catalog / schema
    if not is_table(folder, name):
        raise missing(f"Table '{catalog}.{schema}.{name}'", "TABLE_DOES_NOT_EXIST")
    remove_table(folder, name)
    forget(call, "table", f"{catalog}.{schema}.{name}")


def update_table(call: ServerRequest) -> None:
    """Change the owner of a table; its other fields belong to SQL."""
    catalog, schema, name = _parts(call, 3)
    if not is_table(warehouse_of(call) / catalog / schema, name):
        raise missing(f"Table '{catalog}.{schema}.{name}'", "TABLE_DOES_NOT_EXIST")
    owner = call.required("owner")
    full_name = f"{catalog}.{schema}.{name}"
    call.store.put(SECURABLE, full_name, {**(call.store.get(SECURABLE, full_name) or {}), "owner": owner})


def table_exists(call: ServerRequest) -> Any:
    """Return whether there is such a table or view."""
    catalog, schema, name = _parts(call, 3)
    return {"table_exists": is_table(warehouse_of(call) / catalog / schema, name)}


def delete_volume(call: ServerRequest) -> None:
    """Remove a volume with its files and grants."""
    volume_handlers.delete(call)
    forget(call, "volume", call.path_parameter.strip("/").lower())


def update_volume(call: ServerRequest) -> Any:
    """Change a volume; its grants keep to it when it gets another name."""
    before = call.path_parameter.strip("/").lower()
    changed = volume_handlers.update(call)
    move_grants(call, "volume", before, changed["full_name"].lower())
    return changed


def _catalog(call: ServerRequest, name: str) -> dict[str, Any]:
    return {**_about(call, name), "name": name, "full_name": name, "catalog_type": "MANAGED_CATALOG"}


def _schema(call: ServerRequest, catalog: str, name: str) -> dict[str, Any]:
    full = f"{catalog}.{name}"
    return {**_about(call, full), "catalog_name": catalog, "name": name, "full_name": full}


def _table(call: ServerRequest, catalog: str, schema: str, name: str, facts: TableFacts) -> dict[str, Any]:
    full = f"{catalog}.{schema}.{name}"
    about = {
        "owner": call.owner,
        "catalog_name": catalog,
        "schema_name": schema,
        "name": name,
        "full_name": full,
        "table_id": facts.table_id or object_uuid(full),
        "table_type": facts.table_type,
        "data_source_format": facts.data_source_format,
        "columns": facts.columns,
        "properties": facts.properties,
        "created_at": facts.created_at,
        "created_by": call.owner,
        "updated_at": facts.updated_at,
        "updated_by": call.owner,
        "comment": facts.comment,
        "view_definition": facts.view_definition,
        "storage_location": facts.storage_location,
        **(call.store.get(SECURABLE, full) or {}),
    }
    return {key: value for key, value in about.items() if value != ""}


def object_uuid(full_name: str) -> str:
    """Return a stable UUID of an object without one of its own."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, full_name))


def _about(call: ServerRequest, full_name: str) -> dict[str, Any]:
    return {"owner": call.owner, **(call.store.get(SECURABLE, full_name) or {})}


def _remember(call: ServerRequest, full_name: str) -> None:
    kept = call.store.get(SECURABLE, full_name) or {"created_at": now(), "created_by": call.caller}
    kept.update({name: call.body[name] for name in _FIELDS if name in call.body})
    kept.update(updated_at=now(), updated_by=call.caller)
    if call.body.get("owner"):
        kept["owner"] = call.body["owner"]
    call.store.put(SECURABLE, full_name, kept)


def _parts(call: ServerRequest, count: int) -> list[str]:
    parts = call.path_parameter.strip("/").split(".")
    if len(parts) != count:
        raise ApiError(
            400, "INVALID_PARAMETER_VALUE", f"'{call.path_parameter.strip('/')}' has not {count} parts."
        )
    return [checked_name(part) for part in parts]


def _there(call: ServerRequest, count: int) -> list[str]:
    parts = _parts(call, count)
    if not exists(call, parts):
        raise missing(f"{'Catalog' if count == 1 else 'Schema'} '{'.'.join(parts)}'")
    return parts


_UC = "/api/2.1/unity-catalog"
ROUTES = (
    Route("GET", f"{_UC}/catalogs", list_catalogs),
    Route("POST", f"{_UC}/catalogs", create_catalog),
    Route("GET", f"{_UC}/catalogs/{{}}", get_catalog),
    Route("PATCH", f"{_UC}/catalogs/{{}}", update_catalog),
    Route("DELETE", f"{_UC}/catalogs/{{}}", delete_catalog),
    Route("GET", f"{_UC}/schemas", list_schemas),
    Route("POST", f"{_UC}/schemas", create_schema),
    Route("GET", f"{_UC}/schemas/{{}}", get_schema),
    Route("PATCH", f"{_UC}/schemas/{{}}", update_schema),
    Route("DELETE", f"{_UC}/schemas/{{}}", delete_schema),
    Route("GET", f"{_UC}/tables", list_tables),
    Route("GET", f"{_UC}/tables/{{}}", get_table),
    Route("PATCH", f"{_UC}/tables/{{}}", update_table),
    Route("DELETE", f"{_UC}/tables/{{}}", delete_table),
    Route("PATCH", f"{_UC}/volumes/*", update_volume),
    Route("DELETE", f"{_UC}/volumes/*", delete_volume),
    Route("GET", f"{_UC}/table-summaries", list_table_summaries),
    Route("GET", f"{_UC}/tables/{{}}/exists", table_exists),
)
