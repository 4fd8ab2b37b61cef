"""The workspace API: notebooks and files below `/Workspace`.

A notebook is a source file that begins with the platform's mark; the name of its object is the file's without
the last ending. The formats SOURCE and JUPYTER keep the name in the request: `foo.py` is kept in `foo.py.py`.
AUTO removes the ending of a notebook.

Source: https://docs.databricks.com/api/workspace/workspace/import
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Any

from lakeward.databricks_shims.local_workspace.api_error import ApiError, invalid_parameter
from lakeward.databricks_shims.local_workspace.api_request import (
    ApiRequest,
    ApiResponse,
    decode_base64,
    request_fields,
)
from lakeward.databricks_shims.local_workspace.contained_paths import check_inside, entries, is_root, resolve

_LANGUAGES = {".py": "PYTHON", ".sql": "SQL", ".scala": "SCALA", ".r": "R"}
_COMMENTS = {".py": b"#", ".sql": b"--", ".scala": b"//", ".r": b"#"}
_LAYOUTS = ("SOURCE", "JUPYTER", "AUTO", "RAW")
_MARK = re.compile(rb"^(#|--|//) Databricks notebook source")


def list_objects(call: ApiRequest) -> dict[str, Any]:
    """Return the objects in a folder, or the one at the path."""
    path, place = find_object(call)
    since = call.number("notebooks_modified_after", 0)
    if not place.is_dir():
        return {"objects": [describe(path, place)]}
    found = []
    for each in entries(call, place):
        with suppress(FileNotFoundError):  # removed since the folder was read
            found.append(describe(f"{path.rstrip('/')}/{each.name}", each))
    return {"objects": [each for each in found if _is_recent(each, since)]}


def _is_recent(about: dict[str, Any], since: int) -> bool:
    """Return whether an object is not a notebook, or was modified after a time."""
    return about["object_type"] != "NOTEBOOK" or int(about["modified_at"]) > since


def get_status(call: ApiRequest) -> dict[str, Any]:
    """Return what is at a path."""
    return describe(*find_object(call))


def export(call: ApiRequest) -> ApiResponse | dict[str, Any]:
    """Return the source of a notebook, or a file."""
    path, place = find_object(call)
    if place.is_dir():
        raise ApiError(501, "NOT_IMPLEMENTED", f"{path} is a folder: export its files one by one.")
    if not place.is_file():
        raise invalid_parameter(f"{path} is not a file.")
    if call.flag("direct_download"):
        return ApiResponse(headers={"Content-Type": "application/octet-stream"}, file=place)
    return {"content": base64.b64encode(place.read_bytes()).decode(), "file_type": place.suffix.lstrip(".")}


def import_(call: ApiRequest) -> None:
    """Write a notebook or file to a folder that exists; an existing one only with `overwrite`."""
    fields = request_fields(call)
    path = fields.get("path") or call.required("path")
    content = fields.get("content")
    data = content if isinstance(content, bytes) else decode_base64(content or "", "content")
    language, layout = str(fields.get("language") or ""), str(fields.get("format") or "SOURCE")
    place = resolve_object(call, str(path))
    if layout not in _LAYOUTS:
        raise ApiError(501, "NOT_IMPLEMENTED", f"{layout} is not taken here, but {', '.join(_LAYOUTS)}.")
    if layout == "SOURCE" and language:
        place, data = _notebook(place, data, language)
    elif layout == "JUPYTER":
        _check_jupyter(data)
        place = place.with_name(f"{place.name}.ipynb")
    _require_parent(path, place)
    conflict = ApiError(400, "RESOURCE_ALREADY_EXISTS", f"Path ({path}) already exists.")
    is_new = str(fields.get("overwrite", "false")).lower() != "true"
    if place.is_dir() or (place.exists() and is_new):
        raise conflict
    call.keep(place, data, conflict=conflict if is_new else None)


def import_file(call: ApiRequest) -> None:
    """Write the body to a path whose folder exists, as the CLI deploys files."""
    path = call.path_parameter
    place = resolve_object(call, path)
    _require_parent(path, place)
    conflict = ApiError(409, "RESOURCE_ALREADY_EXISTS", f"Path ({path}) already exists.")
    is_new = not call.flag("overwrite")
    if place.is_dir() or (place.exists() and is_new):
        raise conflict
    call.keep(place, conflict=conflict if is_new else None)


def mkdirs(call: ApiRequest) -> None:
    """Make a folder and those above it."""
    place = resolve_object(call, call.required("path"))
    above = next((each for each in (place, *place.parents) if each.exists()), place)
    if above.is_file():
        message = f"{call.required('path')} is a file, or below one: {above.name}."
        raise ApiError(400, "RESOURCE_ALREADY_EXISTS", message)
    place.mkdir(parents=True, exist_ok=True)


def delete(call: ApiRequest) -> None:
    """Remove an object; a folder with something in it only with `recursive`."""
    path, place = find_object(call)
    if is_root(call, place):
        raise invalid_parameter("The root of the workspace cannot be removed.")
    if _is_protected(call, place):
        raise ApiError(400, "BAD_REQUEST", f"Folder {place.name} is protected")
    if not place.is_dir():
        place.unlink()
    elif any(place.iterdir()) and not call.flag("recursive"):
        raise ApiError(400, "DIRECTORY_NOT_EMPTY", f"Folder ({path}) is not empty")
    else:
        shutil.rmtree(place)


def _is_protected(call: ApiRequest, place: Path) -> bool:
    """Return whether a folder belongs to the workspace itself: /Users, /Shared, /Repos."""
    parts = place.relative_to(call.environment.settings().workspace).parts
    return len(parts) == 1 and parts[0] in STANDARD_FOLDERS


def _check_jupyter(data: bytes) -> None:
    """Raise ApiError for content that is not a notebook: it could be stored, but not run or exported."""
    notebook = None
    with suppress(ValueError, RecursionError):
        notebook = json.loads(data)
    if not isinstance(notebook, dict) or not isinstance(notebook.get("cells"), list):
        raise invalid_parameter("The content is not a Jupyter notebook: JSON with cells.")


def _require_parent(path: object, place: Path) -> None:
    if not place.parent.is_dir():
        raise ApiError(404, "RESOURCE_DOES_NOT_EXIST", f"The parent folder of ({path}) does not exist.")


def _notebook(place: Path, data: bytes, language: str) -> tuple[Path, bytes]:
    """Return the file of a notebook's source, and its text with the mark, which requests may omit."""
    ending = next((end for end, name in _LANGUAGES.items() if name == language), None)
    if ending is None:
        raise invalid_parameter(
            f"'{language}' is not a language of notebooks: {', '.join(_LANGUAGES.values())}."
        )
    if not _MARK.match(data):
        data = _COMMENTS[ending] + b" Databricks notebook source\n" + data
    return place.with_name(place.name + ending), data


def object_id(path: str) -> int:
    """Return the id of the object at a path: the same after the file is replaced, exact in JavaScript.

    >>> object_id("/Users/ada") == object_id("/Users/ada")
    True
    """
    plain = path.rstrip("/").removeprefix("/Workspace") or "/"
    return int.from_bytes(hashlib.sha256(plain.encode(errors="surrogatepass")).digest()[:6], "big")


def find_by_id(call: ApiRequest, identifier: str) -> dict[str, Any] | None:
    """Return the object with an id, None where none has it. Ids are hashes, so all names are compared."""
    root = call.environment.settings().workspace
    make_standard_folders(call)
    for folder, folders, files in os.walk(root):
        for name in (*folders, *files):
            path = f"/{(Path(folder) / name).relative_to(root).as_posix()}"
            stem = path.removesuffix(Path(name).suffix)  # the path of a notebook
            if identifier in (str(object_id(path)), str(object_id(stem))):
                with suppress(ApiError, FileNotFoundError):
                    about = describe(*find_object(ApiRequest(call.environment, query={"path": path})))
                    if about["resource_id"] == identifier:
                        return about
    return None


def describe(path: str, place: Path) -> dict[str, Any]:
    """Return the fields of an object as the API has them."""
    status = place.stat()
    language = _LANGUAGES.get(place.suffix.lower())
    is_notebook = place.is_file() and _is_notebook(place, language)
    if is_notebook and path.rpartition("/")[2] == place.name:
        path = path[: -len(place.suffix)]
    number = object_id(path)
    about: dict[str, Any] = {
        "path": path,
        "object_id": number,
        "resource_id": str(number),
        # The file system keeps no time of creation that survives a replacement.
        "created_at": int(min(status.st_ctime, status.st_mtime) * 1000),
        "modified_at": int(status.st_mtime * 1000),
    }
    if place.is_dir():
        return {**about, "object_type": "DIRECTORY"}
    if is_notebook:
        return {**about, "object_type": "NOTEBOOK", "language": language or "PYTHON"}
    return {**about, "object_type": "FILE", "size": status.st_size}


def _is_notebook(place: Path, language: str | None) -> bool:
    if place.suffix == ".ipynb":
        return True
    if not language:
        return False
    with place.open("rb") as file:
        return bool(_MARK.match(file.read(64)))


def resolve_object(call: ApiRequest, path: str) -> Path:
    """Return the place of a workspace path. Raises ApiError for one outside of the workspace."""
    make_standard_folders(call)
    plain = path.removeprefix("/Workspace") if f"{path}/".startswith("/Workspace/") else path
    if not path.startswith("/"):
        raise invalid_parameter(f"Path ({path}) must be absolute.")
    place = resolve(call, f"/Workspace{plain}", path)
    if not place.is_relative_to(call.environment.settings().workspace):
        raise invalid_parameter(f"Path ({path}) is outside of the workspace.")
    return place


def find_object(call: ApiRequest) -> tuple[str, Path]:
    """Return the path of a request and its place. Raises ApiError where nothing is there."""
    path = call.required("path")
    place = resolve_object(call, path)
    endings = (*_LANGUAGES, ".ipynb")
    candidates = [place, *(place.with_name(place.name + end) for end in endings)]
    if place.suffix in endings:
        # `foo.py.py` is the notebook `foo.py`; the object of the file `foo.py` is `foo`.
        candidates = [*candidates[1:], place]
    for candidate in candidates:
        if candidate.exists():
            check_inside(call, candidate, path)
            return path, candidate
    raise ApiError(404, "RESOURCE_DOES_NOT_EXIST", f"Path ({path}) doesn't exist.")


STANDARD_FOLDERS = ("Shared", "Users", "Repos")


def make_standard_folders(call: ApiRequest) -> None:
    """Create what a client expects to find below `/Workspace` before anything was written."""
    root = call.environment.settings().workspace
    is_new = not (root / "Users").is_dir()
    for name in STANDARD_FOLDERS:
        (root / name).mkdir(parents=True, exist_ok=True)
    if is_new:
        make_home(call, call.owner)


def make_home(call: ApiRequest, user: str) -> None:
    """Create the home folder of a user."""
    if user and Path(user).name == user:
        (call.environment.settings().workspace / "Users" / user).mkdir(parents=True, exist_ok=True)
