"""The Files API: files and directories of volumes."""

from __future__ import annotations

import posixpath
import shutil
from email.utils import formatdate
from pathlib import Path
from typing import Any

from lakeward.standins.local_workspace.call import Answer, Call, Failure, missing

__all__ = [
    "create_directory",
    "delete",
    "delete_directory",
    "directory_metadata",
    "download",
    "list_directory",
    "metadata",
    "upload",
]


def download(call: Call) -> Answer:
    """The bytes of a file."""
    file = _file(call)
    return Answer(headers=_headers(file), file=file)


def metadata(call: Call) -> Answer:
    """Size and time of a file."""
    file = _file(call)
    return Answer(headers={**_headers(file), "Content-Length": str(file.stat().st_size)})


def upload(call: Call) -> None:
    """Write a file; the directories above it are made."""
    file = _local(call)
    if file.is_dir() or (file.exists() and call.query.get("overwrite", "true").lower() == "false"):
        raise Failure(409, "ALREADY_EXISTS", f"The file {call.at} already exists.")
    call.keep(file)


def delete(call: Call) -> None:
    """Remove a file."""
    _file(call).unlink()


def list_directory(call: Call) -> Any:
    """The entries of a directory."""
    folder = _directory(call)
    return {
        "contents": [
            {
                "path": f"{call.at.rstrip('/')}/{entry.name}",
                "name": entry.name,
                "is_directory": entry.is_dir(),
                "last_modified": int(entry.stat().st_mtime * 1000),
                **({} if entry.is_dir() else {"file_size": entry.stat().st_size}),
            }
            for entry in sorted(folder.iterdir())
        ]
    }


def directory_metadata(call: Call) -> Answer:
    """Whether there is such a directory."""
    _directory(call)
    return Answer()


def create_directory(call: Call) -> None:
    """Make a directory and those above it."""
    folder = _local(call)
    if folder.is_file():
        raise Failure(409, "ALREADY_EXISTS", f"{call.at} is a file.")
    folder.mkdir(parents=True, exist_ok=True)


def delete_directory(call: Call) -> None:
    """Remove an empty directory."""
    folder = _directory(call)
    if any(folder.iterdir()):
        raise Failure(400, "DIRECTORY_NOT_EMPTY", f"The directory {call.at} is not empty.")
    shutil.rmtree(folder)


def _headers(file: Path) -> dict[str, str]:
    return {
        "Content-Type": "application/octet-stream",
        "Last-Modified": formatdate(file.stat().st_mtime, usegmt=True),
    }


def _local(call: Call) -> Path:
    if not posixpath.normpath(call.at).startswith("/Volumes/"):
        raise Failure(
            400, "INVALID_PARAMETER_VALUE", f"{call.at} is not a path in a volume: /Volumes/<catalog>/…"
        )
    return Path(call.environment.paths.local(call.at))


def _file(call: Call) -> Path:
    file = _local(call)
    if not file.is_file():
        raise missing(f"The file {call.at}", "NOT_FOUND")
    return file


def _directory(call: Call) -> Path:
    folder = _local(call)
    if not folder.is_dir():
        raise missing(f"The directory {call.at}", "NOT_FOUND")
    return folder
