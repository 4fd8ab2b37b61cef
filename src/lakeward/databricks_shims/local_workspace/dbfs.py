"""The DBFS API."""

from __future__ import annotations

import base64
import json
import secrets
import shutil
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from lakeward.atomic_files import read_json_object
from lakeward.databricks_shims.local_workspace.api_error import ApiError, invalid_parameter
from lakeward.databricks_shims.local_workspace.api_request import (
    ApiRequest,
    decode_base64,
    exclusively,
    request_fields,
)
from lakeward.databricks_shims.local_workspace.contained_paths import (
    entries,
    is_root,
    require_volume,
    resolve,
)

MAX_BLOCK = 2**20
"""Bytes that are read or written at once, as on the platform: https://docs.databricks.com/api/workspace/dbfs."""

DEFAULT_READ = 2**19
UPLOAD_IDLE = 600.0
"""Seconds after which a handle that is not used expires, as on the platform."""

_MAX_ENCODED = 2 * MAX_BLOCK
_FOLDERS = ("FileStore", "tmp", "user")  # that the root of DBFS has


def list_files(call: ApiRequest) -> dict[str, Any]:
    """List the entries of a directory, or the single entry of a file."""
    path = call.required("path")
    place = _there(call, path)
    if place.is_file():
        return {"files": [_status(path, place)]}
    found = []
    for each in entries(call, place):
        with suppress(FileNotFoundError):  # removed since the folder was read
            found.append(_status(f"{path.rstrip('/')}/{each.name}", each))
    return {"files": found}


def get_status(call: ApiRequest) -> dict[str, Any]:
    """Return the metadata of a path."""
    path = call.required("path")
    return _status(path, _there(call, path))


def read(call: ApiRequest) -> dict[str, Any]:
    """Return a part of a file in base64."""
    path = call.required("path")
    place = _there(call, path)
    if not place.is_file():
        kind = "a directory" if place.is_dir() else "not a file"
        raise invalid_parameter(f"{path} is {kind}.")
    offset, length = call.number("offset", 0), call.number("length", DEFAULT_READ)
    if length > MAX_BLOCK:
        raise ApiError(
            400, "MAX_READ_SIZE_EXCEEDED", f"length is {length}; at most {MAX_BLOCK} bytes are read."
        )
    with place.open("rb") as file:
        file.seek(offset)
        data = file.read(length)
    return {"bytes_read": len(data), "data": base64.b64encode(data).decode()}


def put(call: ApiRequest) -> None:
    """Write a file from base64, or from a multipart form."""
    fields = request_fields(call)
    path, overwrite = str(fields.get("path") or ""), fields.get("overwrite")
    place = _free(call, path, overwrite)
    content = fields.get("contents", fields.get("file", b""))
    data = content if isinstance(content, bytes) else _decoded(content, "contents")
    call.keep(place, data, conflict=_conflict(path, overwrite))


def create(call: ApiRequest) -> dict[str, Any]:
    """Start writing a file; return the handle for its blocks."""
    path, overwrite = call.required("path"), call.body.get("overwrite")
    _free(call, path, overwrite)
    handle = secrets.randbelow(2**52)
    folder = _blocks(call, handle).parent
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    folder.chmod(0o700)
    remove_idle_uploads(folder)
    _blocks(call, handle).touch()
    upload = {"path": path, "overwrite": overwrite, "user": call.user or call.owner}
    _target(call, handle).write_text(json.dumps(upload), encoding="utf-8")
    return {"handle": handle}


def add_block(call: ApiRequest) -> None:
    """Append a block in base64."""
    handle, _ = _known(call)
    data = _decoded(call.text("data"), "data")
    with _blocks(call, handle).open("ab") as file:
        file.write(data)


def close(call: ApiRequest) -> None:
    """Move the written file to its path, which is checked again: a file or folder may be there by now."""
    handle, upload = _known(call)
    path, overwrite = upload["path"], upload["overwrite"]
    place = _free(call, path, overwrite)
    call.keep(place, _blocks(call, handle), conflict=_conflict(path, overwrite))
    _target(call, handle).unlink()


def mkdirs(call: ApiRequest) -> None:
    """Create a directory and its parents."""
    place = _local(call, call.required("path"))
    require_volume(call, place, call.required("path"))
    place.mkdir(parents=True, exist_ok=True)


@exclusively
def move(call: ApiRequest) -> None:
    """Move a file or directory within DBFS."""
    source = _there(call, call.required("source_path"))
    target = _local(call, call.required("destination_path"))
    _spare_roots(call, source, call.required("source_path"))
    if target.exists():
        raise _exists(call.required("destination_path"))
    require_volume(call, target, call.required("destination_path"))
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.move(source, target)


def delete(call: ApiRequest) -> None:
    """Remove a file, or a directory with `recursive`; a missing path is accepted."""
    place = _local(call, call.required("path"))
    _spare_roots(call, place, call.required("path"))
    if place.is_dir() and not place.is_symlink():
        if any(place.iterdir()) and not call.flag("recursive"):
            raise ApiError(400, "DIRECTORY_NOT_EMPTY", f"{call.required('path')} is not empty.")
        shutil.rmtree(place)
    else:
        place.unlink(missing_ok=True)


def remove_idle_uploads(folder: Path) -> None:
    """Remove uploads whose handle was not used for `UPLOAD_IDLE` seconds."""
    for blocks in folder.glob("*.blocks"):
        with suppress(OSError):
            if time.time() - blocks.stat().st_mtime > UPLOAD_IDLE:
                blocks.unlink()
                blocks.with_suffix(".target").unlink(missing_ok=True)


def _decoded(text: str, name: str) -> bytes:
    """Decode a block. Raises ApiError: MAX_BLOCK_SIZE_EXCEEDED, and for invalid base64."""
    if len(text) > _MAX_ENCODED:
        raise ApiError(400, "MAX_BLOCK_SIZE_EXCEEDED", f"{name} is larger than {MAX_BLOCK} bytes.")
    data = decode_base64(text, name)
    if len(data) > MAX_BLOCK:
        raise ApiError(400, "MAX_BLOCK_SIZE_EXCEEDED", f"{name} is larger than {MAX_BLOCK} bytes.")
    return data


def _free(call: ApiRequest, path: str, overwrite: Any) -> Path:
    place = _local(call, path)
    require_volume(call, place, path)
    if place.is_dir() or (place.exists() and not _is_true(overwrite)):
        raise _exists(path)
    return place


def _conflict(path: str, overwrite: Any) -> ApiError | None:
    """Return the error for a file that exists, None where it is overwritten."""
    return None if _is_true(overwrite) else _exists(path)


def _exists(path: str) -> ApiError:
    return ApiError(400, "RESOURCE_ALREADY_EXISTS", f"A file or directory already exists at {path}.")


def _is_true(overwrite: Any) -> bool:
    return str(overwrite).lower() == "true"


def _known(call: ApiRequest) -> tuple[int, dict[str, Any]]:
    """Return the handle of a request and its upload. Raises ApiError for another user's handle."""
    handle = call.number("handle", 0)
    remove_idle_uploads(_blocks(call, handle).parent)
    upload = read_json_object(_target(call, handle))
    if {"path", "overwrite"} <= upload.keys() and upload.get("user") == (call.user or call.owner):
        return handle, upload
    raise ApiError(404, "RESOURCE_DOES_NOT_EXIST", f"No file is being written with the handle {handle}.")


def _blocks(call: ApiRequest, handle: int) -> Path:
    return call.environment.settings().state / "uploads" / f"{handle}.blocks"


def _target(call: ApiRequest, handle: int) -> Path:
    return _blocks(call, handle).with_suffix(".target")


def _status(path: str, place: Path) -> dict[str, Any]:
    status = place.stat()
    return {
        "path": path.removeprefix("dbfs:"),
        "is_dir": place.is_dir(),
        "file_size": 0 if place.is_dir() else status.st_size,
        "modification_time": int(status.st_mtime * 1000),
    }


def _local(call: ApiRequest, path: str) -> Path:
    plain = path.removeprefix("dbfs:")
    if not plain.startswith("/"):
        raise invalid_parameter(f"The path must be absolute: {path}")
    return resolve(call, f"dbfs:{plain}", path)


def _spare_roots(call: ApiRequest, place: Path, path: str) -> None:
    if is_root(call, place):
        raise invalid_parameter(
            f"{path} cannot be moved or removed: it is a root, mount or volume, or holds one."
        )


def _there(call: ApiRequest, path: str) -> Path:
    for name in _FOLDERS:
        (call.environment.settings().dbfs / name).mkdir(parents=True, exist_ok=True)
    place = _local(call, path)
    if not place.exists():
        raise ApiError(404, "RESOURCE_DOES_NOT_EXIST", f"No file or directory exists on path {path}.")
    return place
