"""The Files API: files and directories of volumes."""

from __future__ import annotations

import posixpath
import shutil
from contextlib import suppress
from email.utils import formatdate
from pathlib import Path
from typing import Any

from lakeward.databricks_shims.local_workspace.api_error import ApiError, invalid_parameter, missing
from lakeward.databricks_shims.local_workspace.api_request import ApiRequest, ApiResponse
from lakeward.databricks_shims.local_workspace.contained_paths import (
    entries,
    is_root,
    require_volume,
    resolve,
)


def download(call: ApiRequest) -> ApiResponse:
    """Return the bytes of a file."""
    file = _file(call)
    return ApiResponse(headers=_headers(file), file=file)


def metadata(call: ApiRequest) -> ApiResponse:
    """Return size and time of a file."""
    file = _file(call)
    return ApiResponse(headers={**_headers(file), "Content-Length": str(file.stat().st_size)})


def upload(call: ApiRequest) -> None:
    """Write a file and create its parent directories."""
    file, conflict = _upload_target(call)
    call.keep(file, conflict=conflict)


def initiate_upload(call: ApiRequest) -> dict[str, Any]:
    """Answer the first and the last request of an upload in parts: databricks-sdk begins one for 50 MB.

    It then requests links for the parts. As it gets none, it sends the file in one request, `upload`,
    whatever its size, and aborts the upload in parts: none have to be kept, joined and removed.
    """
    action = call.query.get("action")
    if action == "abort-upload":
        volume_file(call)
        return {}
    if action != "initiate-upload":
        raise ApiError(501, "NOT_IMPLEMENTED", "Files are uploaded in one request here, not in parts.")
    _upload_target(call)
    return {"multipart_upload": {"session_token": "single-request"}}


def _upload_target(call: ApiRequest) -> tuple[Path, ApiError | None]:
    """Return the file of an upload, and the error for one that exists, None where it is overwritten."""
    file = volume_file(call)
    conflict = ApiError(409, "ALREADY_EXISTS", f"The file {call.path_parameter} already exists.")
    is_new = call.query.get("overwrite", "true").lower() == "false"
    if file.is_dir() or (file.exists() and is_new):
        raise conflict
    return file, conflict if is_new else None


def volume_file(call: ApiRequest) -> Path:
    """Return the place of a file in a volume. Raises ApiError for a path that is in no volume."""
    file = _local(call)
    require_volume(call, file, call.path_parameter)
    return file


def delete(call: ApiRequest) -> None:
    """Remove a file."""
    _file(call).unlink()


def list_directory(call: ApiRequest) -> dict[str, Any]:
    """List the entries of a directory."""
    found = []
    for entry in entries(call, _directory(call)):
        with suppress(FileNotFoundError):  # removed since the folder was read
            found.append(_about(call, entry))
    return {"contents": found}


def _about(call: ApiRequest, entry: Path) -> dict[str, Any]:
    facts, is_directory = entry.stat(), entry.is_dir()
    return {
        "path": f"{call.path_parameter.rstrip('/')}/{entry.name}",
        "name": entry.name,
        "is_directory": is_directory,
        "last_modified": int(facts.st_mtime * 1000),
        **({} if is_directory else {"file_size": facts.st_size}),
    }


def directory_metadata(call: ApiRequest) -> ApiResponse:
    """Return whether the directory exists."""
    _directory(call)
    return ApiResponse()


def create_directory(call: ApiRequest) -> None:
    """Create a directory and its parents."""
    folder = _local(call)
    require_volume(call, folder, call.path_parameter)
    if folder.is_file():
        raise ApiError(409, "ALREADY_EXISTS", f"{call.path_parameter} is a file.")
    folder.mkdir(parents=True, exist_ok=True)


def delete_directory(call: ApiRequest) -> None:
    """Remove an empty directory."""
    folder = _directory(call)
    if is_root(call, folder):
        raise invalid_parameter(f"The directory {call.path_parameter} cannot be removed: it is a volume.")
    if any(folder.iterdir()):
        raise ApiError(400, "DIRECTORY_NOT_EMPTY", f"The directory {call.path_parameter} is not empty.")
    shutil.rmtree(folder)


def _headers(file: Path) -> dict[str, str]:
    return {
        "Content-Type": "application/octet-stream",
        "Last-Modified": formatdate(file.stat().st_mtime, usegmt=True),
    }


def _local(call: ApiRequest) -> Path:
    if not posixpath.normpath(call.path_parameter).startswith("/Volumes/"):
        raise invalid_parameter(f"{call.path_parameter} is not a path in a volume: /Volumes/<catalog>/…")
    return resolve(call, call.path_parameter, call.path_parameter)


def _file(call: ApiRequest) -> Path:
    file = _local(call)
    if not file.is_file():
        raise missing(f"The file {call.path_parameter}", "NOT_FOUND")
    return file


def _directory(call: ApiRequest) -> Path:
    folder = _local(call)
    if not folder.is_dir():
        raise missing(f"The directory {call.path_parameter}", "NOT_FOUND")
    return folder
