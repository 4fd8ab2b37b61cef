"""Resolve paths of `dbutils.fs` to local paths, and format them for display."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from lakeward.dbutils.failures import ExecutionError
from lakeward.errors import InvalidPathError
from lakeward.session import PathMap
from lakeward.session.paths import scheme_of

_ARGUMENT = "java.lang.IllegalArgumentException"
_UNSUPPORTED = "org.apache.hadoop.fs.UnsupportedFileSystemException"


@dataclass(frozen=True)
class Location:
    """A path for display, with its scheme `dbfs:/` or `file:/` as on the platform, and the local path."""

    shown: str
    local: Path

    def below(self, name: str, *, is_dir: bool = False) -> Location:
        """Return an entry of this directory."""
        slash = "/" if is_dir else ""
        return Location(f"{self.shown.rstrip('/')}/{name}{slash}", self.local / name)


def locate(path: str, paths: PathMap, call: str) -> Location:
    """Resolve `path` to a local path.

    A path without a scheme is resolved as Spark does: a volume, DBFS below its well-known roots, else the
    local disk. Raises ExecutionError for a path that is empty, relative, or in a storage without a mapping;
    TypeError for a value that is not a string.
    """
    if hasattr(path, "__fspath__"):
        path = path.__fspath__()
    if not isinstance(path, str):
        raise TypeError(f"a path is a text, not {path!r}")
    if not path.strip():
        raise ExecutionError(call, _ARGUMENT, "Can not create a Path from an empty string")
    scheme = scheme_of(path)
    if scheme is None and not path.startswith("/"):
        raise ExecutionError(
            call,
            _ARGUMENT,
            f"Path must be absolute: {path}",
            next_step="Begin it with /Volumes/…, dbfs:/… or file:/….",
        )
    try:
        local = paths.require_local(path)
    except InvalidPathError as error:
        java, message = _ARGUMENT, error.message
        if error.condition == "STORAGE_NOT_MAPPED":
            java, message = _UNSUPPORTED, f"[{error.condition}] {message}"
        raise ExecutionError(call, java, message, next_step=error.next_step) from None
    return Location(_shown(path, local, scheme), Path(local))


def _shown(path: str, local: str, scheme: str | None) -> str:
    if scheme is not None:
        rest = path[len(scheme) + 1 :]
        return f"{scheme}:/{rest.lstrip('/')}" if scheme in ("dbfs", "file") else path
    if path.startswith("/dbfs/"):
        return f"dbfs:{path[len('/dbfs') :]}"
    mapped = local.rstrip("/") != path.rstrip("/") and not path.startswith("/Workspace")
    return f"{'dbfs' if mapped else 'file'}:{path}"
