"""What catalogs and schemas contain, and what is removed with them."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from lakeward.databricks_shims.local_workspace import (
    ApiError,
    catalog_handlers,
    is_name,
    missing,
    table_names,
)
from lakeward.object_metadata import metadata_file, read_metadata, write_metadata
from lakeward.volume_folders import names_in, volume_folder
from lakeward.workspace.context import SECURABLE, ServerRequest

GRANTS = "grants"
"""Kind of the documents with grants, by `/kind/name`, of objects that SQL has no grants of."""
_WITH_FILES = ("catalog", "schema", "table", "volume", "function", "metastore")

# Kinds of documents below a schema, with the kind of their grants.
_RECORDS = {"function": "uc_function", "model": "uc_model"}


def require_record(call: ServerRequest, kind: str, name: str) -> None:
    """Raise ApiError for a credential, location or connection that does not exist."""
    if call.store.get(kind, name.lower()) is None:
        what = f"{kind.replace('_', ' ').capitalize()} '{name}'"
        raise missing(what, f"{kind.upper()}_DOES_NOT_EXIST")


def require_object(call: ServerRequest, kind: str, parts: list[str]) -> None:
    """Raise ApiError for a catalog, schema, table, volume or function in a place that does not exist."""
    catalog_handlers.require_catalog(call, parts[0])
    if kind != "catalog":
        catalog_handlers.require_schema(call, *parts[:2])
    if kind == "table":
        catalog_handlers.require_table(call, parts)
    if kind == "volume" and not has_volume(call, *parts):
        raise missing(f"Volume '{'.'.join(parts)}'", "VOLUME_DOES_NOT_EXIST")


def remove_schema(call: ServerRequest, catalog: str, schema: str, *, force: bool) -> None:
    """Remove a schema with its content. Raises ApiError for one with content unless `force`."""
    contents = _contents(call, catalog, schema)
    if not force:
        _refuse_content(f"Schema '{catalog}.{schema}'", contents)
    for kind, names in contents.items():
        for name in names:
            forget(call, kind, f"{catalog}.{schema}.{name}".lower())
            if kind in _RECORDS:
                call.store.delete(_RECORDS[kind], f"{catalog}.{schema}.{name}")
    _remove_folders(call, catalog, schema)
    forget(call, "schema", f"{catalog}.{schema}")


def remove_catalog(call: ServerRequest, catalog: str, *, force: bool) -> None:
    """Remove a catalog with its schemas. Raises ApiError for one with content unless `force`.

    The empty schema `default`, which each catalog has from the start, is not content.
    """
    names = catalog_handlers.schema_names(call, catalog)
    if not force:
        filled = [name for name in names if name != "default" or any(_contents(call, catalog, name).values())]
        _refuse_content(f"Catalog '{catalog}'", {"schema": filled})
    for name in names:
        remove_schema(call, catalog, name, force=True)
    _remove_folders(call, catalog)
    forget(call, "catalog", catalog)


def _remove_folders(call: ServerRequest, *names: str) -> None:
    """Remove the folders with the tables and the volumes of a catalog or schema; links are not followed."""
    settings = call.environment.settings()
    for folder in (settings.warehouse.joinpath(*names), volume_folder(settings.volumes, *names)):
        if folder.is_symlink():
            folder.unlink()
        elif folder.is_dir():
            shutil.rmtree(folder)


def forget(call: ServerRequest, kind: str, name: str) -> None:
    """Delete grants and description of an object that was removed: a new one of its name has neither."""
    call.store.delete(SECURABLE, name)
    file = _metadata_file(call, kind, name)
    if file is None:
        delete_grants(call, kind, name)
    else:
        file.unlink(missing_ok=True)


def read_grants(call: ServerRequest, kind: str, name: str) -> dict[str, list[str]]:
    """Return the privileges on an object by principal."""
    file = _metadata_file(call, kind, name)
    if file is None:
        return dict(call.store.get(GRANTS, f"/{kind}/{name}") or {})
    held = read_metadata(file).get("grants") or {}
    # SQL writes USE SCHEMA.
    return {
        principal: [privilege.replace(" ", "_") for privilege in privileges]
        for principal, privileges in held.items()
    }


def write_grants(call: ServerRequest, kind: str, name: str, grants: Mapping[str, Sequence[str]]) -> None:
    """Replace the privileges on an object."""
    file = _metadata_file(call, kind, name)
    if file is None:
        call.store.put(GRANTS, f"/{kind}/{name}", dict(grants))
        return
    held = {
        principal: sorted(privilege.replace("_", " ") for privilege in privileges)
        for principal, privileges in grants.items()
    }
    write_metadata(file, {**read_metadata(file), "grants": held})


def delete_grants(call: ServerRequest, kind: str, name: str) -> None:
    """Delete the grants of an object that was removed."""
    file = _metadata_file(call, kind, name)
    if file is None:
        call.store.delete(GRANTS, f"/{kind}/{name}")
    elif file.exists():
        write_grants(call, kind, name, {})


def move_grants(call: ServerRequest, kind: str, old: str, new: str) -> None:
    """Move the grants of an object to its new name."""
    held = read_grants(call, kind, old)
    if held and old != new:
        write_grants(call, kind, new, held)
        delete_grants(call, kind, old)


def _metadata_file(call: ServerRequest, kind: str, name: str) -> Path | None:
    """Return the file in which SQL keeps the grants of an object, None for kinds that SQL has none of."""
    if kind not in _WITH_FILES:
        return None
    parts = name.split(".") if kind != "metastore" else ()
    return metadata_file(catalog_handlers.warehouse_of(call), kind.upper(), parts)


def _contents(call: ServerRequest, catalog: str, schema: str) -> dict[str, list[str]]:
    """Return the names of the objects in a schema, by kind."""
    volumes = names_in(call.environment.settings().volumes, catalog, schema)
    records = {
        kind: [
            str(each["name"])
            for each in call.store.find(stored)
            if (each["catalog_name"], each["schema_name"]) == (catalog, schema)
        ]
        for kind, stored in _RECORDS.items()
    }
    return {
        "table": table_names(catalog_handlers.warehouse_of(call) / catalog / schema),
        "volume": sorted(name for name in volumes if is_name(name)),
        **records,
    }


def has_volume(call: ServerRequest, catalog: str, schema: str, name: str) -> bool:
    """Return whether a schema has a volume."""
    return volume_folder(call.environment.settings().volumes, catalog, schema, name).is_dir()


def _refuse_content(what: str, contents: dict[str, list[str]]) -> None:
    found = ", ".join(f"{len(names)} {kind}(s)" for kind, names in contents.items() if names)
    if found:
        message = f"{what} is not empty: it has {found}. Remove them, or set force."
        raise ApiError(400, "INVALID_STATE", message)
