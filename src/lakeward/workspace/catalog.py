"""Unity Catalog: catalogs, schemas and tables, which are folders of the warehouse, and grants.

Source: https://docs.databricks.com/api/workspace/schemas and its siblings. Names are lower case.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from lakeward.session import is_private_table
from lakeward.standins.local_workspace import Failure, missing
from lakeward.workspace.call import ServerCall, now, page

__all__ = [
    "change_grants",
    "create_catalog",
    "create_schema",
    "delete_catalog",
    "delete_schema",
    "effective_grants",
    "get_catalog",
    "get_schema",
    "get_table",
    "grants",
    "list_catalogs",
    "list_schemas",
    "list_tables",
    "table_exists",
    "update_catalog",
    "update_schema",
]

_FIELDS = ("comment", "properties", "storage_root", "enable_predictive_optimization")


def list_catalogs(call: ServerCall) -> Any:
    """All catalogs."""
    names = sorted({"main", *_folders(_warehouse(call))})
    return page(call, [_catalog(call, name) for name in names], "catalogs", default=100)


def create_catalog(call: ServerCall) -> Any:
    """A new catalog with its schema `default`."""
    name = _name(call.given("name"))
    if (_warehouse(call) / name).is_dir():
        raise Failure(400, "CATALOG_ALREADY_EXISTS", f"Catalog '{name}' already exists")
    (_warehouse(call) / name / "default").mkdir(parents=True)
    _remember(call, name)
    return _catalog(call, name)


def get_catalog(call: ServerCall) -> Any:
    """One catalog."""
    return _catalog(call, _there(call, 1)[0])


def update_catalog(call: ServerCall) -> Any:
    """Another comment, other properties."""
    (name,) = _there(call, 1)
    _remember(call, name)
    return _catalog(call, name)


def delete_catalog(call: ServerCall) -> None:
    """Remove a catalog; one with tables only with `force`."""
    _remove(call, _there(call, 1), "Catalog")


def list_schemas(call: ServerCall) -> Any:
    """The schemas of a catalog."""
    catalog = _name(call.given("catalog_name"))
    names = _folders(_warehouse(call) / catalog)
    return page(call, [_schema(call, catalog, name) for name in names], "schemas", default=100)


def create_schema(call: ServerCall) -> Any:
    """A new schema; its catalog is made when it is missing and not named by anybody else."""
    catalog, name = _name(call.given("catalog_name")), _name(call.given("name"))
    folder = _warehouse(call) / catalog / name
    if folder.is_dir():
        raise Failure(400, "SCHEMA_ALREADY_EXISTS", f"Schema '{catalog}.{name}' already exists")
    folder.mkdir(parents=True)
    _remember(call, f"{catalog}.{name}")
    return _schema(call, catalog, name)


def get_schema(call: ServerCall) -> Any:
    """One schema."""
    return _schema(call, *_there(call, 2))


def update_schema(call: ServerCall) -> Any:
    """Another comment, other properties; a new name is refused, since tables know where they are."""
    parts = _there(call, 2)
    if call.body.get("new_name"):
        raise Failure(
            501, "NOT_IMPLEMENTED", "A schema cannot be renamed here: make another and copy its tables."
        )
    _remember(call, ".".join(parts))
    return _schema(call, *parts)


def delete_schema(call: ServerCall) -> None:
    """Remove a schema; one with tables only with `force`."""
    _remove(call, _there(call, 2), "Schema")


def list_tables(call: ServerCall) -> Any:
    """The tables of a schema that are Delta tables in its folder."""
    catalog, schema = _name(call.given("catalog_name")), _name(call.given("schema_name"))
    names = _tables(_warehouse(call) / catalog / schema)
    return page(call, [_table(call, catalog, schema, name) for name in names], "tables", default=50)


def get_table(call: ServerCall) -> Any:
    """One table."""
    parts = _parts(call, 3)
    if not _is_table(_warehouse(call).joinpath(*parts)):
        raise missing(f"Table '{'.'.join(parts)}'")
    return _table(call, *parts)


def table_exists(call: ServerCall) -> Any:
    """Whether there is such a table."""
    return {"table_exists": _is_table(_warehouse(call).joinpath(*_parts(call, 3)))}


def grants(call: ServerCall) -> Any:
    """Who has which privileges on an object."""
    kept = call.store.get("grants", call.at.lower()) or {}
    return {
        "privilege_assignments": [
            {"principal": principal, "privileges": privileges}
            for principal, privileges in sorted(kept.items())
        ]
    }


def effective_grants(call: ServerCall) -> Any:
    """The same, with each privilege told as its own: nothing is inherited here."""
    return {
        "privilege_assignments": [
            {
                "principal": each["principal"],
                "privileges": [{"privilege": privilege} for privilege in each["privileges"]],
            }
            for each in grants(call)["privilege_assignments"]
        ]
    }


def change_grants(call: ServerCall) -> Any:
    """Give and take privileges."""
    kept = call.store.get("grants", call.at.lower()) or {}
    for change in call.body.get("changes") or ():
        principal = change.get("principal")
        if not principal:
            raise Failure(400, "INVALID_PARAMETER_VALUE", "A change of grants names a principal.")
        held = [each for each in kept.get(principal, []) if each not in (change.get("remove") or ())]
        held += [each for each in change.get("add") or () if each not in held]
        kept[principal] = sorted(held)
        if not held:
            del kept[principal]
    call.store.put("grants", call.at.lower(), kept)
    return grants(call)


def _catalog(call: ServerCall, name: str) -> dict[str, Any]:
    return {**_about(call, name), "name": name, "full_name": name, "catalog_type": "MANAGED_CATALOG"}


def _schema(call: ServerCall, catalog: str, name: str) -> dict[str, Any]:
    full = f"{catalog}.{name}"
    return {**_about(call, full), "catalog_name": catalog, "name": name, "full_name": full}


def _table(call: ServerCall, catalog: str, schema: str, name: str) -> dict[str, Any]:
    full = f"{catalog}.{schema}.{name}"
    return {
        **_about(call, full),
        "catalog_name": catalog,
        "schema_name": schema,
        "name": name,
        "full_name": full,
        "table_type": "MANAGED",
        "data_source_format": "DELTA",
        "storage_location": f"file:{_warehouse(call) / catalog / schema / name}",
    }


def _about(call: ServerCall, full_name: str) -> dict[str, Any]:
    return {"owner": call.owner, **(call.store.get("securable", full_name) or {})}


def _remember(call: ServerCall, full_name: str) -> None:
    kept = call.store.get("securable", full_name) or {"created_at": now(), "created_by": call.asker}
    kept.update({name: call.body[name] for name in _FIELDS if name in call.body})
    kept.update(updated_at=now(), updated_by=call.asker)
    if call.body.get("owner"):
        kept["owner"] = call.body["owner"]
    call.store.put("securable", full_name, kept)


def _remove(call: ServerCall, parts: list[str], what: str) -> None:
    folder = _warehouse(call).joinpath(*parts)
    full_name = ".".join(parts)
    schemas = [folder] if len(parts) == 2 else [folder / name for name in _folders(folder)]
    if not call.flag("force") and any(_tables(schema) for schema in schemas):
        raise Failure(400, "INVALID_STATE", f"{what} '{full_name}' is not empty.")
    shutil.rmtree(folder)
    call.store.delete("securable", full_name)
    for kind in ("catalog", "schema"):
        call.store.delete("grants", f"/{kind}/{full_name}")


def _warehouse(call: ServerCall) -> Path:
    return call.environment.settings().warehouse


def _name(name: str) -> str:
    lower = name.lower()
    if not lower.strip() or lower.startswith(".") or any(char in lower for char in "/\\.\0"):
        raise Failure(400, "INVALID_PARAMETER_VALUE", f"'{name}' is not a valid name.")
    return lower


def _parts(call: ServerCall, count: int) -> list[str]:
    parts = call.at.strip("/").split(".")
    if len(parts) != count:
        raise Failure(400, "INVALID_PARAMETER_VALUE", f"'{call.at.strip('/')}' has not {count} parts.")
    return [_name(part) for part in parts]


def _there(call: ServerCall, count: int) -> list[str]:
    parts = _parts(call, count)
    if not _warehouse(call).joinpath(*parts).is_dir():
        raise missing(f"{'Catalog' if count == 1 else 'Schema'} '{'.'.join(parts)}'")
    return parts


def _folders(folder: Path) -> list[str]:
    if not folder.is_dir():
        return []
    return sorted(each.name for each in folder.iterdir() if each.is_dir() and not each.name.startswith("."))


def _is_table(folder: Path) -> bool:
    return (folder / "_delta_log").is_dir()


def _tables(schema: Path) -> list[str]:
    return [n for n in _folders(schema) if _is_table(schema / n) and not is_private_table(n)]
