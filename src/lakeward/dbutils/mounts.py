"""Mount points: symbolic links in the DBFS folder, which Spark, Python and its workers follow alike."""

from __future__ import annotations

import json
import os
import posixpath
from pathlib import Path
from typing import NamedTuple

from lakeward.atomic_files import atomic_write
from lakeward.dbutils.failures import ExecutionError
from lakeward.errors import InvalidPathError
from lakeward.session import PathMap, Settings

_CALL = "z:com.databricks.backend.daemon.dbutils.DBUtilsCore."
_ARGUMENT = "java.lang.IllegalArgumentException"


class MountInfo(NamedTuple):
    """One row of `dbutils.fs.mounts`."""

    mountPoint: str
    source: str
    encryptionType: str


_PLATFORMS = (
    MountInfo("/", "DatabricksRoot", ""),
    MountInfo("/databricks-datasets", "databricks-datasets", ""),
    MountInfo("/Volumes", "UnityCatalogVolumes", ""),
)


def normalize_mount_point(mount_point: str) -> str:
    """Return a mount point as `mounts()` prints it: absolute in DBFS, no scheme, no trailing slash."""
    plain = mount_point.removeprefix("dbfs:")
    if not plain.startswith("/"):
        raise ExecutionError(_CALL + "mount", _ARGUMENT, f"Mount point must be absolute: {mount_point}")
    clean = posixpath.normpath("/" + plain.lstrip("/"))
    if clean == "/":
        raise ExecutionError(_CALL + "mount", _ARGUMENT, "The root of DBFS cannot be a mount point")
    return clean


def list_mounts(settings: Settings) -> list[MountInfo]:
    """Return all mount points: the platform's, those of the settings, and created ones."""
    given = [
        MountInfo(prefix.removeprefix("dbfs:"), Path(folder).as_uri(), "")
        for prefix, folder in settings.mounts
        if prefix.startswith(("/mnt/", "dbfs:/"))
    ]
    return [*_PLATFORMS, *given, *_made(settings)]


def mount_links(settings: Settings) -> list[Path]:
    """Return the symbolic links that `mount` created."""
    places = [settings.dbfs / each.mountPoint.lstrip("/") for each in _made(settings)]
    return [place for place in places if place.is_symlink()]


def mount(settings: Settings, paths: PathMap, source: str, mount_point: str, encryption: str) -> Path | None:
    """Mount `source`; return the empty folder that replaces it if nothing maps it to a local one.

    Raises ExecutionError(IllegalArgumentException) if the mount point is in use or is not empty.
    """
    point = normalize_mount_point(mount_point)
    place = settings.dbfs / point.lstrip("/")
    if any(each.mountPoint == point for each in list_mounts(settings)):
        raise ExecutionError(
            _CALL + "mount", _ARGUMENT, f"requirement failed: Directory already mounted: {point}"
        )
    if os.path.lexists(place) and (not place.is_dir() or any(place.iterdir())):
        raise ExecutionError(_CALL + "mount", _ARGUMENT, f"There are files in {point} already")
    try:
        target = paths.local(source)
    except InvalidPathError as error:
        raise ExecutionError(_CALL + "mount", _ARGUMENT, error.message, next_step=error.next_step) from None
    known = target.startswith("/")
    place.parent.mkdir(parents=True, exist_ok=True)
    if known:
        if place.is_dir():
            place.rmdir()
        Path(target).mkdir(parents=True, exist_ok=True)
        place.symlink_to(target, target_is_directory=True)
    else:
        place.mkdir(exist_ok=True)
    _keep(settings, [*_made(settings), MountInfo(point, source, encryption or "")])
    return None if known else place


def unmount(settings: Settings, mount_point: str) -> None:
    """Remove a mount. Raises ExecutionError(IllegalArgumentException) if nothing is mounted there."""
    point = normalize_mount_point(mount_point)
    made = _made(settings)
    rest = [each for each in made if each.mountPoint != point]
    if len(rest) == len(made):
        raise ExecutionError(
            _CALL + "unmount", _ARGUMENT, f"requirement failed: Directory not mounted: {point}"
        )
    place = settings.dbfs / point.lstrip("/")
    if place.is_symlink():
        place.unlink()
    elif place.is_dir() and not any(place.iterdir()):
        place.rmdir()
    _keep(settings, rest)


def _file(settings: Settings) -> Path:
    return settings.state / "mounts.json"


def _made(settings: Settings) -> list[MountInfo]:
    try:
        return [MountInfo(*row) for row in json.loads(_file(settings).read_text())]
    except FileNotFoundError:
        return []


def _keep(settings: Settings, made: list[MountInfo]) -> None:
    atomic_write(_file(settings), json.dumps(made, indent=1))
