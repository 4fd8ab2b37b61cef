"""Unity Catalog: changes of catalogs, schemas and tables, which are folders of the warehouse.

Source: https://docs.databricks.com/api/workspace/schemas and its siblings. Names are lower case.
"""

from __future__ import annotations

from lakeward.databricks_shims.local_workspace import (
    ApiError,
    Route,
    catalog_handlers,
    change_description,
    remove_table,
    volume_handlers,
)
from lakeward.session import is_information_schema, link_hive_schemas
from lakeward.workspace.api.securables import forget, remove_catalog, remove_schema
from lakeward.workspace.context import SECURABLE, ServerRequest
from lakeward.workspace.state.store import Document, now

# Fields that SQL does not show.
_OWN_FIELDS = ("storage_root", "enable_predictive_optimization")
_DESCRIPTION = ("comment", "owner", "properties")


def create_catalog(call: ServerRequest) -> Document:
    """Create a catalog with its schema `default`."""
    name = catalog_handlers.checked_name(call.required("name"))
    if (catalog_handlers.warehouse_of(call) / name).is_dir():
        raise ApiError(400, "CATALOG_ALREADY_EXISTS", f"Catalog '{name}' already exists")
    (catalog_handlers.warehouse_of(call) / name / "default").mkdir(parents=True)
    _remember(call, name)
    return catalog_handlers.catalog_document(call, name)


def update_catalog(call: ServerRequest) -> Document:
    """Change comment and properties."""
    (name,) = catalog_handlers.existing_parts(call, 1)
    if call.body.get("new_name"):
        raise ApiError(501, "NOT_IMPLEMENTED", "A catalog cannot be renamed here: create another one.")
    _remember(call, name)
    return catalog_handlers.catalog_document(call, name)


def delete_catalog(call: ServerRequest) -> None:
    """Remove a catalog; one with content only with `force`."""
    remove_catalog(call, *catalog_handlers.existing_parts(call, 1), force=call.flag("force"))


def create_schema(call: ServerRequest) -> Document:
    """Create a schema. Raises ApiError where its catalog does not exist."""
    catalog, name = (
        catalog_handlers.checked_name(call.required("catalog_name")),
        catalog_handlers.checked_name(call.required("name")),
    )
    catalog_handlers.require_catalog(call, catalog)
    folder = catalog_handlers.warehouse_of(call) / catalog / name
    if folder.is_dir() or is_information_schema(catalog, name):
        raise ApiError(400, "SCHEMA_ALREADY_EXISTS", f"Schema '{catalog}.{name}' already exists")
    folder.mkdir(parents=True)
    link_hive_schemas(catalog_handlers.warehouse_of(call))
    _remember(call, f"{catalog}.{name}")
    return catalog_handlers.schema_document(call, catalog, name)


def update_schema(call: ServerRequest) -> Document:
    """Change comment and properties; a new name is refused, because tables store their location."""
    parts = catalog_handlers.existing_parts(call, 2)
    catalog_handlers.require_changeable_schema(call, *parts)
    if call.body.get("new_name"):
        raise ApiError(
            501, "NOT_IMPLEMENTED", "A schema cannot be renamed here: make another and copy its tables."
        )
    _remember(call, ".".join(parts))
    return catalog_handlers.schema_document(call, *parts)


def delete_schema(call: ServerRequest) -> None:
    """Remove a schema; one with content only with `force`."""
    catalog, schema = catalog_handlers.existing_parts(call, 2)
    catalog_handlers.require_changeable_schema(call, catalog, schema)
    remove_schema(call, catalog, schema, force=call.flag("force"))


def delete_table(call: ServerRequest) -> None:
    """Remove a table with its data, or a view."""
    parts = catalog_handlers.name_parts(call, 3)
    remove_table(catalog_handlers.require_table(call, parts), parts[2])
    forget(call, "table", ".".join(parts))


def update_table(call: ServerRequest) -> None:
    """Change the owner of a table; its other fields belong to SQL."""
    parts = catalog_handlers.name_parts(call, 3)
    catalog_handlers.require_table(call, parts)
    changes = {"owner": call.required("owner")}
    change_description(catalog_handlers.warehouse_of(call), ".".join(parts), changes)


def delete_volume(call: ServerRequest) -> None:
    """Remove a volume with its files and grants."""
    volume_handlers.delete(call)
    forget(call, "volume", call.path_parameter.strip("/").lower())


def _remember(call: ServerRequest, full_name: str) -> None:
    kept = call.store.get(SECURABLE, full_name) or {"created_at": now(), "created_by": call.caller}
    kept.update({name: call.body[name] for name in _OWN_FIELDS if name in call.body})
    kept.update(updated_at=now(), updated_by=call.caller)
    call.store.put(SECURABLE, full_name, kept)
    changes = {name: call.body[name] for name in _DESCRIPTION if call.body.get(name) is not None}
    change_description(catalog_handlers.warehouse_of(call), full_name, changes)


_UC = "/api/2.1/unity-catalog"
ROUTES = (
    Route("POST", f"{_UC}/catalogs", create_catalog),
    Route("PATCH", f"{_UC}/catalogs/{{}}", update_catalog),
    Route("DELETE", f"{_UC}/catalogs/{{}}", delete_catalog),
    Route("POST", f"{_UC}/schemas", create_schema),
    Route("PATCH", f"{_UC}/schemas/{{}}", update_schema),
    Route("DELETE", f"{_UC}/schemas/{{}}", delete_schema),
    Route("PATCH", f"{_UC}/tables/{{}}", update_table),
    Route("DELETE", f"{_UC}/tables/{{}}", delete_table),
    Route("DELETE", f"{_UC}/volumes/*", delete_volume),
)
