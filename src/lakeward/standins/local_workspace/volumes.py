"""Unity Catalog's volumes: a folder a volume."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from lakeward.standins.local_workspace.call import Call, Failure, missing

__all__ = ["create", "delete", "list_volumes", "read", "update"]


def list_volumes(call: Call) -> Any:
    """The volumes of a schema."""
    catalog, schema = call.given("catalog_name"), call.given("schema_name")
    folder = _root(call) / catalog / schema
    names = sorted(entry.name for entry in folder.iterdir() if entry.is_dir()) if folder.is_dir() else []
    return {"volumes": [_about(call, catalog, schema, name) for name in names]}


def create(call: Call) -> Any:
    """A new managed volume; external ones need a storage account."""
    parts = [call.given(name) for name in ("catalog_name", "schema_name", "name")]
    if call.body.get("volume_type", "MANAGED") != "MANAGED":
        raise Failure(
            501,
            "NOT_IMPLEMENTED",
            "An external volume has no storage here: map its path with --mount /Volumes/…=FOLDER.",
        )
    folder = _folder(call, parts)
    if folder.exists():
        raise Failure(409, "RESOURCE_ALREADY_EXISTS", f"Volume '{'.'.join(parts)}' already exists")
    folder.mkdir(parents=True)
    return _about(call, *parts)


def read(call: Call) -> Any:
    """One volume."""
    return _about(call, *_existing(call)[0])


def update(call: Call) -> Any:
    """Another name for a volume; its files go along."""
    parts, folder = _existing(call)
    name = call.body.get("new_name")
    if name:
        renamed = [*parts[:2], str(name)]
        if _folder(call, renamed).exists():
            raise Failure(409, "RESOURCE_ALREADY_EXISTS", f"Volume '{'.'.join(renamed)}' already exists")
        folder.rename(_folder(call, renamed))
        parts = renamed
    return _about(call, *parts)


def delete(call: Call) -> None:
    """Remove a volume and its files."""
    _, folder = _existing(call)
    shutil.rmtree(folder)


def _root(call: Call) -> Path:
    return call.environment.settings().volumes


def _existing(call: Call) -> tuple[list[str], Path]:
    """The parts of the name and the folder of the volume asked for. Raises Failure where there is none."""
    parts = call.at.strip("/").split(".")
    if len(parts) != 3:
        raise Failure(
            400, "INVALID_PARAMETER_VALUE", "A volume's name has three parts: catalog.schema.volume"
        )
    folder = _folder(call, parts)
    if not folder.is_dir():
        raise missing(f"Volume '{'.'.join(parts)}'")
    return parts, folder


def _folder(call: Call, parts: list[str]) -> Path:
    if any("/" in part or part in ("", ".", "..") for part in parts):
        raise Failure(400, "INVALID_PARAMETER_VALUE", f"'{'.'.join(parts)}' is not a valid volume name")
    return _root(call).joinpath(*parts)


def _about(call: Call, catalog: str, schema: str, name: str) -> dict[str, Any]:
    return {
        "catalog_name": catalog,
        "schema_name": schema,
        "name": name,
        "full_name": f"{catalog}.{schema}.{name}",
        "volume_type": "MANAGED",
        "owner": call.environment.settings().user,
        "storage_location": f"dbfs:/Volumes/{catalog}/{schema}/{name}",
    }
