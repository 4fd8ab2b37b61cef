"""The workspace API: notebooks and files below `/Workspace`.

A notebook is a source file that begins with the platform's mark; its object has no ending, as there.
"""

from __future__ import annotations

import base64
import re
import shutil
from pathlib import Path
from typing import Any

from lakeward.standins.local_workspace.call import Answer, Call, Failure

__all__ = ["delete", "export", "get_status", "import_", "list_objects", "mkdirs"]

_LANGUAGES = {".py": "PYTHON", ".sql": "SQL", ".scala": "SCALA", ".r": "R"}
_MARK = re.compile(rb"^(#|--|//) Databricks notebook source")


def list_objects(call: Call) -> Any:
    """The objects in a folder, or the one at the path."""
    path, place = _found(call)
    if not place.is_dir():
        return {"objects": [_about(path, place)]}
    entries = (each for each in sorted(place.iterdir()) if not each.name.startswith("."))
    return {"objects": [_about(f"{path.rstrip('/')}/{each.name}", each) for each in entries]}


def get_status(call: Call) -> Any:
    """What is at a path."""
    return _about(*_found(call))


def export(call: Call) -> Any:
    """The source of a notebook, or a file."""
    path, place = _found(call)
    if place.is_dir():
        raise Failure(501, "NOT_IMPLEMENTED", f"{path} is a folder: export its files one by one.")
    data = place.read_bytes()
    if call.flag("direct_download"):
        return Answer(data, {"Content-Type": "application/octet-stream"})
    return {"content": base64.b64encode(data).decode(), "file_type": place.suffix.lstrip(".")}


def import_(call: Call) -> None:
    """Write a notebook or file; an existing one only with `overwrite`."""
    fields = _fields(call)
    path = fields.get("path") or call.given("path")
    content = fields.get("content")
    data = content if isinstance(content, bytes) else base64.b64decode(content or "")
    language = str(fields.get("language") or "")
    place = _local(call, str(path))
    if fields.get("format", "SOURCE") == "SOURCE" and language and not place.suffix:
        ending = next(end for end, name in _LANGUAGES.items() if name == language)
        place = place.with_name(place.name + ending)
    if place.exists() and str(fields.get("overwrite", "false")).lower() != "true":
        raise Failure(400, "RESOURCE_ALREADY_EXISTS", f"Path ({path}) already exists.")
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(data)


def mkdirs(call: Call) -> None:
    """Make a folder and those above it."""
    place = _local(call, call.given("path"))
    if place.is_file():
        raise Failure(400, "RESOURCE_ALREADY_EXISTS", f"{call.given('path')} is a file.")
    place.mkdir(parents=True, exist_ok=True)


def delete(call: Call) -> None:
    """Remove an object; a folder with something in it only with `recursive`."""
    path, place = _found(call)
    if place.resolve() == call.environment.settings().workspace.resolve():
        raise Failure(400, "INVALID_PARAMETER_VALUE", "The root of the workspace cannot be removed.")
    if not place.is_dir():
        place.unlink()
    elif any(place.iterdir()) and not call.flag("recursive"):
        raise Failure(400, "DIRECTORY_NOT_EMPTY", f"Folder ({path}) is not empty")
    else:
        shutil.rmtree(place)


def _fields(call: Call) -> dict[str, Any]:
    """The fields of an import: JSON, or a form with the content as a file."""
    if not call.data.startswith(b"--"):
        return call.body
    boundary = call.data.split(b"\r\n", 1)[0]
    fields: dict[str, Any] = {}
    for part in call.data.split(boundary)[1:-1]:
        head, _, value = part.partition(b"\r\n\r\n")
        name = re.search(rb'name="([^"]+)"', head)
        if name:
            plain = value.removesuffix(b"\r\n")
            fields[name.group(1).decode()] = plain if b"filename=" in head else plain.decode()
    return fields


def _about(path: str, place: Path) -> dict[str, Any]:
    status = place.stat()
    about: dict[str, Any] = {
        "path": path,
        "object_id": status.st_ino,
        "modified_at": int(status.st_mtime * 1000),
    }
    if place.is_dir():
        return {**about, "object_type": "DIRECTORY"}
    language = _LANGUAGES.get(place.suffix.lower())
    with place.open("rb") as file:
        is_notebook = place.suffix == ".ipynb" or bool(language and _MARK.match(file.read(64)))
    if is_notebook:
        plain = path[: -len(place.suffix)] if path.endswith(place.suffix) else path
        return {**about, "path": plain, "object_type": "NOTEBOOK", "language": language or "PYTHON"}
    return {**about, "object_type": "FILE", "size": status.st_size}


def _local(call: Call, path: str) -> Path:
    plain = path.removeprefix("/Workspace")
    if not path.startswith("/"):
        raise Failure(400, "INVALID_PARAMETER_VALUE", f"Path ({path}) must be absolute.")
    place = Path(call.environment.paths.local(f"/Workspace{plain}"))
    if not place.is_relative_to(call.environment.settings().workspace):
        raise Failure(400, "INVALID_PARAMETER_VALUE", f"Path ({path}) is outside of the workspace.")
    return place


def _found(call: Call) -> tuple[str, Path]:
    path = call.given("path")
    place = _local(call, path)
    for candidate in (place, *(place.with_name(place.name + end) for end in (*_LANGUAGES, ".ipynb"))):
        if candidate.exists():
            return path, candidate
    raise Failure(404, "RESOURCE_DOES_NOT_EXIST", f"Path ({path}) doesn't exist.")
