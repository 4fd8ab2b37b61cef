"""Volumes of Unity Catalog: one folder for each volume."""

from __future__ import annotations

import json
import shutil
import time
import uuid
from pathlib import Path
from typing import Any

from lakeward.atomic_files import atomic_write, read_json_object
from lakeward.databricks_shims.local_workspace.api_error import ApiError, invalid_parameter, missing
from lakeward.databricks_shims.local_workspace.api_request import ApiRequest, exclusively
from lakeward.databricks_shims.local_workspace.catalogs import (
    checked_name,
    require_changeable_schema,
    require_schema,
)
from lakeward.databricks_shims.local_workspace.contained_paths import is_name, volume_description, volume_note
from lakeward.databricks_shims.local_workspace.object_descriptions import read_shown
from lakeward.object_metadata import read_metadata, write_metadata
from lakeward.volume_folders import names_in, volume_folder

_SHOWN_BY_SQL = ("comment", "owner")


def list_volumes(call: ApiRequest) -> dict[str, Any]:
    """Return the volumes of a schema. Raises ApiError for a schema that does not exist."""
    catalog, schema = (checked_name(call.required(name)) for name in ("catalog_name", "schema_name"))
    require_schema(call, catalog, schema)
    # Code can make folders with names that no volume has.
    names = sorted(name for name in names_in(_root(call), catalog, schema) if is_name(name))
    return {"volumes": [_about(call, catalog, schema, name) for name in names]}


@exclusively
def create(call: ApiRequest) -> dict[str, Any]:
    """Create a managed volume; external ones need a storage account."""
    parts = [checked_name(call.required(name)) for name in ("catalog_name", "schema_name", "name")]
    if call.body.get("volume_type", "MANAGED") != "MANAGED":
        raise ApiError(
            501,
            "NOT_IMPLEMENTED",
            "An external volume has no storage here: map its path with --mount /Volumes/…=FOLDER.",
        )
    folder = _folder(call, parts)
    require_changeable_schema(call, *parts[:2])
    _refuse_duplicate(folder, parts)
    folder.mkdir(parents=True)
    try:
        _describe(call, parts, created_at=_now(), created_by=call.user or call.owner)
    except OSError:
        # A full disk, or a name that is too long for its description.
        folder.rmdir()
        raise
    return _about(call, *parts)


def read(call: ApiRequest) -> dict[str, Any]:
    """Return one volume."""
    return _about(call, *_existing(call)[0])


@exclusively
def update(call: ApiRequest) -> dict[str, Any]:
    """Rename a volume with its files."""
    parts, folder = _existing(call)
    name = call.body.get("new_name")
    if name:
        renamed = [*parts[:2], checked_name(str(name))]
        if renamed != parts:
            _refuse_duplicate(_folder(call, renamed), renamed)
            place = folder.with_name(renamed[2])
            description, note = _description(call, parts), _note(call, parts)
            folder.rename(place)
            if description.is_file():
                description.rename(volume_description(place))
            if note.is_file():
                note.rename(_note(call, renamed))
            parts = renamed
    _describe(call, parts, updated_by=call.user or call.owner)
    return _about(call, *parts)


@exclusively
def delete(call: ApiRequest) -> None:
    """Remove a volume and its files."""
    parts, folder = _existing(call)
    _description(call, parts).unlink(missing_ok=True)
    _note(call, parts).unlink(missing_ok=True)
    if folder.is_symlink():
        folder.unlink()
    else:
        shutil.rmtree(folder)


def _refuse_duplicate(folder: Path, parts: list[str]) -> None:
    """Raise ApiError where a volume of that name exists."""
    if folder.exists():
        raise ApiError(409, "RESOURCE_ALREADY_EXISTS", f"Volume '{'.'.join(parts)}' already exists")


def _root(call: ApiRequest) -> Path:
    return call.environment.settings().volumes


def _existing(call: ApiRequest) -> tuple[list[str], Path]:
    """Return the name's parts and the folder of a volume. Raises ApiError where it does not exist."""
    parts = [checked_name(part) for part in call.path_parameter.strip("/").split(".")]
    if len(parts) != 3:
        raise invalid_parameter("A volume's name has three parts: catalog.schema.volume")
    folder = _folder(call, parts)
    if not folder.is_dir():
        raise missing(f"Volume '{'.'.join(parts)}'")
    return parts, folder


def _folder(call: ApiRequest, parts: list[str]) -> Path:
    catalog, schema, name = parts
    return volume_folder(_root(call), catalog, schema, name)


def _about(call: ApiRequest, catalog: str, schema: str, name: str) -> dict[str, Any]:
    folder = _folder(call, [catalog, schema, name])
    changed = int(folder.stat().st_mtime * 1000)
    return {
        "created_at": changed,
        "updated_at": changed,
        "catalog_name": catalog,
        "schema_name": schema,
        "name": name,
        "full_name": f"{catalog}.{schema}.{name}",
        "volume_type": "MANAGED",
        "owner": call.environment.settings().user,
        "volume_id": str(uuid.uuid5(uuid.NAMESPACE_URL, f"{catalog}.{schema}.{name}")),
        "storage_location": f"dbfs:/Volumes/{folder.relative_to(_root(call)).as_posix()}",
        **_kept(call, [catalog, schema, name]),
    }


def _description(call: ApiRequest, parts: list[str]) -> Path:
    """Return the hidden file next to a volume that stores its metadata."""
    return volume_description(_folder(call, parts))


def _describe(call: ApiRequest, parts: list[str], **facts: Any) -> None:
    given = {name: str(call.body[name]) for name in _SHOWN_BY_SQL if call.body.get(name) is not None}
    kept = {**_times(call, parts), **facts, "updated_at": _now()}
    atomic_write(_description(call, parts), json.dumps(kept))
    if given:
        note = _note(call, parts)
        write_metadata(note, {**read_metadata(note), **given})


def _kept(call: ApiRequest, parts: list[str]) -> dict[str, Any]:
    note = read_shown(_note(call, parts))
    return {**_times(call, parts), **{name: note[name] for name in _SHOWN_BY_SQL if note.get(name)}}


def _note(call: ApiRequest, parts: list[str]) -> Path:
    """Return the file in which SQL keeps what it shows; its names are lower case."""
    return volume_note(call.environment.settings(), parts)


def _times(call: ApiRequest, parts: list[str]) -> dict[str, Any]:
    """Return when a volume was made and changed, and by whom."""
    return read_json_object(_description(call, parts))


def _now() -> int:
    return int(time.time() * 1000)
