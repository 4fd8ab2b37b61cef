"""The DBFS API."""

from __future__ import annotations

import base64
import secrets
import shutil
from pathlib import Path
from typing import Any

from lakeward.standins.local_workspace.call import Call, Failure
from lakeward.standins.local_workspace.form import fields_of

__all__ = [
    "add_block",
    "close",
    "create",
    "delete",
    "get_status",
    "list_files",
    "mkdirs",
    "move",
    "put",
    "read",
]


def list_files(call: Call) -> Any:
    """The entries of a directory, or the one of a file."""
    path = call.given("path")
    place = _there(call, path)
    if place.is_file():
        return {"files": [_status(path, place)]}
    return {"files": [_status(f"{path.rstrip('/')}/{each.name}", each) for each in sorted(place.iterdir())]}


def get_status(call: Call) -> Any:
    """What a path is."""
    path = call.given("path")
    return _status(path, _there(call, path))


def read(call: Call) -> Any:
    """A part of a file in base64."""
    path = call.given("path")
    with _there(call, path).open("rb") as file:
        file.seek(call.number("offset", 0))
        data = file.read(call.number("length", 2**20))
    return {"bytes_read": len(data), "data": base64.b64encode(data).decode()}


def put(call: Call) -> None:
    """Write a file: its content in base64, or as it is in a form."""
    fields = fields_of(call)
    place = _free(call, str(fields.get("path") or ""), fields.get("overwrite"))
    content = fields.get("contents", fields.get("file", b""))
    call.keep(place, content if isinstance(content, bytes) else base64.b64decode(content))


def create(call: Call) -> Any:
    """Begin to write a file; the handle is for the blocks that follow."""
    place = _free(call, call.given("path"), call.body.get("overwrite"))
    handle = secrets.randbelow(2**52)
    _blocks(call, handle).parent.mkdir(parents=True, exist_ok=True)
    _blocks(call, handle).touch()
    _target(call, handle).write_text(str(place), encoding="utf-8")
    return {"handle": handle}


def add_block(call: Call) -> None:
    """Append a block in base64."""
    handle = _known(call)
    with _blocks(call, handle).open("ab") as file:
        file.write(base64.b64decode(call.body.get("data", "")))


def close(call: Call) -> None:
    """The file is there from now on."""
    handle = _known(call)
    place = Path(_target(call, handle).read_text(encoding="utf-8"))
    place.parent.mkdir(parents=True, exist_ok=True)
    shutil.move(_blocks(call, handle), place)
    _target(call, handle).unlink()


def mkdirs(call: Call) -> None:
    """Make a directory and those above it."""
    _local(call, call.given("path")).mkdir(parents=True, exist_ok=True)


def move(call: Call) -> None:
    """Move a file or directory within DBFS."""
    source = _there(call, call.given("source_path"))
    target = _local(call, call.given("destination_path"))
    if target.is_file():
        raise Failure(400, "RESOURCE_ALREADY_EXISTS", f"{call.given('destination_path')} already exists.")
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.move(source, target)


def delete(call: Call) -> None:
    """Remove a file, or a directory with `recursive`; what does not exist is fine."""
    place = _local(call, call.given("path"))
    if place.is_dir() and not place.is_symlink():
        if any(place.iterdir()) and not call.flag("recursive"):
            raise Failure(400, "DIRECTORY_NOT_EMPTY", f"{call.given('path')} is not empty.")
        shutil.rmtree(place)
    else:
        place.unlink(missing_ok=True)


def _free(call: Call, path: str, overwrite: Any) -> Path:
    place = _local(call, path)
    if place.is_dir() or (place.exists() and str(overwrite).lower() != "true"):
        raise Failure(400, "RESOURCE_ALREADY_EXISTS", f"A file or directory already exists at {path}.")
    return place


def _known(call: Call) -> int:
    handle = call.number("handle", 0)
    if not _target(call, handle).is_file():
        raise Failure(404, "RESOURCE_DOES_NOT_EXIST", f"No file is being written with the handle {handle}.")
    return handle


def _blocks(call: Call, handle: int) -> Path:
    return call.environment.settings().state / "uploads" / f"{handle}.blocks"


def _target(call: Call, handle: int) -> Path:
    return _blocks(call, handle).with_suffix(".target")


def _status(path: str, place: Path) -> dict[str, Any]:
    status = place.stat()
    return {
        "path": path.removeprefix("dbfs:"),
        "is_dir": place.is_dir(),
        "file_size": 0 if place.is_dir() else status.st_size,
        "modification_time": int(status.st_mtime * 1000),
    }


def _local(call: Call, path: str) -> Path:
    plain = path.removeprefix("dbfs:")
    if not plain.startswith("/"):
        raise Failure(400, "INVALID_PARAMETER_VALUE", f"The path must be absolute: {path}")
    place = Path(call.environment.paths.local(f"dbfs:{plain}"))
    if place.resolve() == call.environment.settings().dbfs.resolve() and call.body:
        raise Failure(400, "INVALID_PARAMETER_VALUE", "The root of DBFS cannot be changed.")
    return place


def _there(call: Call, path: str) -> Path:
    place = _local(call, path)
    if not place.exists():
        raise Failure(404, "RESOURCE_DOES_NOT_EXIST", f"No file or directory exists on path {path}.")
    return place
