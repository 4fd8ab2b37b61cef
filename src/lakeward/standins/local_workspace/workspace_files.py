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
from lakeward.standins.local_workspace.form import fields_of

__all__ = ["CONNECTION", "delete", "export", "get_status", "import_", "import_file", "list_objects", "mkdirs"]

CONNECTION = "connection.json"
"""Where `lakeward workspace` leaves its host and token, in the folder of the workspace's files."""

_LANGUAGES = {".py": "PYTHON", ".sql": "SQL", ".scala": "SCALA", ".r": "R"}
_COMMENTS = {".py": b"#", ".sql": b"--", ".scala": b"//", ".r": b"#"}
_LAYOUTS = ("SOURCE", "JUPYTER", "AUTO", "RAW")
_MARK = re.compile(rb"^(#|--|//) Databricks notebook source")


def list_objects(call: Call) -> Any:
    """The objects in a folder, or the one at the path."""
    path, place = _found(call)
    if not place.is_dir():
        return {"objects": [_about(path, place)]}
    entries = (each for each in sorted(place.iterdir()) if not _hidden(call, each))
    return {"objects": [_about(f"{path.rstrip('/')}/{each.name}", each) for each in entries]}


def get_status(call: Call) -> Any:
    """What is at a path."""
    return _about(*_found(call))


def export(call: Call) -> Any:
    """The source of a notebook, or a file."""
    path, place = _found(call)
    if place.is_dir():
        raise Failure(501, "NOT_IMPLEMENTED", f"{path} is a folder: export its files one by one.")
    if call.flag("direct_download"):
        return Answer(headers={"Content-Type": "application/octet-stream"}, file=place)
    return {"content": base64.b64encode(place.read_bytes()).decode(), "file_type": place.suffix.lstrip(".")}


def import_(call: Call) -> None:
    """Write a notebook or file to a folder that exists; an existing one only with `overwrite`."""
    fields = fields_of(call)
    path = fields.get("path") or call.given("path")
    content = fields.get("content")
    data = content if isinstance(content, bytes) else base64.b64decode(content or "")
    language, layout = str(fields.get("language") or ""), str(fields.get("format") or "SOURCE")
    place = _local(call, str(path))
    if layout not in _LAYOUTS:
        raise Failure(501, "NOT_IMPLEMENTED", f"{layout} is not taken here, but {', '.join(_LAYOUTS)}.")
    if layout == "SOURCE" and language:
        place, data = _notebook(place, data, language)
    elif layout == "JUPYTER" and place.suffix != ".ipynb":
        place = place.with_name(f"{place.name}.ipynb")
    _require_parent(path, place)
    if place.exists() and str(fields.get("overwrite", "false")).lower() != "true":
        raise Failure(400, "RESOURCE_ALREADY_EXISTS", f"Path ({path}) already exists.")
    call.keep(place, data)


def import_file(call: Call) -> None:
    """Write the body to a path whose folder exists, as the CLI deploys files."""
    path = call.at
    place = _local(call, path)
    _require_parent(path, place)
    if place.is_dir() or (place.exists() and not call.flag("overwrite")):
        raise Failure(409, "RESOURCE_ALREADY_EXISTS", f"Path ({path}) already exists.")
    call.keep(place)


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


def _require_parent(path: object, place: Path) -> None:
    if not place.parent.is_dir():
        raise Failure(404, "RESOURCE_DOES_NOT_EXIST", f"The parent folder of ({path}) does not exist.")


def _notebook(place: Path, data: bytes, language: str) -> tuple[Path, bytes]:
    """Where the source of a notebook is kept, and its text with the mark, which it may be sent without."""
    ending = next((end for end, name in _LANGUAGES.items() if name == language), None)
    if ending is None:
        message = f"'{language}' is not a language of notebooks: {', '.join(_LANGUAGES.values())}."
        raise Failure(400, "INVALID_PARAMETER_VALUE", message)
    if not _MARK.match(data):
        data = _COMMENTS[ending] + b" Databricks notebook source\n" + data
    return (place if place.suffix else place.with_name(place.name + ending)), data


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
    if _is_connection(call, place):
        raise Failure(404, "RESOURCE_DOES_NOT_EXIST", f"Path ({path}) doesn't exist.")
    return place


def _is_connection(call: Call, place: Path) -> bool:
    # Not a file of the workspace, though it lies there: it holds a token.
    return place.absolute() == call.environment.settings().workspace.absolute() / CONNECTION


def _hidden(call: Call, place: Path) -> bool:
    return place.name.endswith(".part") or _is_connection(call, place)


def _found(call: Call) -> tuple[str, Path]:
    path = call.given("path")
    place = _local(call, path)
    for candidate in (place, *(place.with_name(place.name + end) for end in (*_LANGUAGES, ".ipynb"))):
        if candidate.exists():
            return path, candidate
    raise Failure(404, "RESOURCE_DOES_NOT_EXIST", f"Path ({path}) doesn't exist.")
