"""Resolution of request paths to local paths inside the roots of the target, in every spelling.

`PathMap` joins folder and name, so that no `..` leads out. Here the result is checked on the disk: a symbolic
link that leads out of the roots is refused unless it is declared (`dbutils.fs.mount`, an external volume).
Code that runs in a notebook or job may follow any link; requests may not, since they come over the network.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from lakeward.databricks_shims.local_workspace.api_error import ApiError, invalid_parameter, missing
from lakeward.databricks_shims.local_workspace.api_request import ApiRequest
from lakeward.dbutils import mount_links
from lakeward.errors import InvalidPathError
from lakeward.object_metadata import OBJECTS, is_stored_data, metadata_file
from lakeward.session import Settings

CONNECTION = "connection.json"
"""Holds the host and token of `lakeward workspace`; requests cannot name it."""

_MAX_PATH = 4096
_MAX_NAME = 255
_VOLUME_NOTE = ".volume.about.json"
_DESCRIPTION = ".volume.json"
_VOLUME_PARTS = 3  # catalog, schema, volume


def resolve(call: ApiRequest, path: str, shown: str) -> Path:
    """Return the local path of `path`, a name below a root; `shown` is the name as the client wrote it.

    Raises ApiError for a name that no file may have, and for one that leads out of the roots.
    """
    check_text(shown)
    try:
        place = Path(call.environment.paths.local(path))
    except InvalidPathError as error:
        raise invalid_parameter(error.message) from None
    check_inside(call, place, shown)
    return place


def check_text(name: str) -> None:
    """Raise ApiError for a path with characters or of a length that no file here can have."""
    try:
        size = len(name.encode())
    except UnicodeEncodeError:
        raise invalid_parameter(f"The path {name!a} is not valid UTF-8.") from None
    if "\0" in name:
        raise invalid_parameter(f"The path {name!a} has a NUL character in it.")
    if size > _MAX_PATH or any(len(part.encode()) > _MAX_NAME for part in name.split("/")):
        raise invalid_parameter(
            f"The path {name[:100]}… is too long: a path has at most {_MAX_PATH} bytes, "
            f"each name in it {_MAX_NAME}."
        )


def is_name(name: str) -> bool:
    """Return whether a text can be the name of a catalog, schema, table or volume."""
    return 0 < len(name) <= 255 and not any(char in "/\\.\x7f" or ord(char) <= 32 for char in name)


def check_name(name: str) -> None:
    """Raise ApiError for a text that cannot be the name of a catalog, schema, table or volume."""
    check_text(name)
    if not is_name(name):
        raise invalid_parameter(
            f"{name!r:.300} is not a valid name: use at most 255 characters, without periods, spaces, "
            "slashes and control characters."
        )


def check_inside(call: ApiRequest, place: Path, shown: str) -> None:
    """Raise ApiError where `place` is outside of the roots, its links followed, or is the connection file."""
    settings = call.environment.settings()
    root = _root_of(settings, place)
    if root is None:
        raise invalid_parameter(f"Path ({shown}) is outside of the workspace.")
    try:
        real = place.resolve()
    except (OSError, RuntimeError):
        raise invalid_parameter(f"Path ({shown}) is a loop of symbolic links.") from None
    is_metadata = OBJECTS in real.parts and real.is_relative_to(settings.warehouse.resolve())
    if _is_connection(settings, real) or _is_connection(settings, place) or is_metadata:
        raise ApiError(404, "RESOURCE_DOES_NOT_EXIST", f"Path ({shown}) doesn't exist.")
    if not _is_contained(settings, place, real, root):
        raise invalid_parameter(
            f"Path ({shown}) is a symbolic link out of the workspace. "
            "Declare it with --mount or dbutils.fs.mount."
        )


def entries(call: ApiRequest, folder: Path) -> Iterator[Path]:
    """List a folder by name, without links that lead out or nowhere, and files that are being written."""
    settings = call.environment.settings()
    root = _root_of(settings, folder) or folder
    for entry in sorted(folder.iterdir()):
        if not is_stored_data(entry, settings.warehouse):
            continue
        if entry.name.endswith(".part") or _is_connection(settings, entry):
            continue
        if _is_volume_description(settings, entry):
            continue
        if entry.is_symlink() and not _is_good_link(settings, entry, root):
            continue
        if os.path.lexists(entry):
            yield entry


def is_root(call: ApiRequest, place: Path) -> bool:
    """Return whether requests for files may not remove `place`.

    True for a root or mount, for a catalog, schema or volume below `/Volumes` (they are removed as such), and
    for a folder that holds one of these.
    """
    settings = call.environment.settings()
    lexical = _lexical(place)
    hive = _lexical(settings.warehouse / "hive_metastore" / "default")
    roots = (*_folders(settings), *_links(settings), hive)
    if any(kept == lexical or lexical in kept.parents for kept in roots):
        return True
    parts = _parts_below_volumes(settings, place)
    return parts is not None and len(parts) <= _VOLUME_PARTS


def require_volume(call: ApiRequest, place: Path, shown: str) -> None:
    """Raise ApiError where `place` is below `/Volumes`, but in no volume that exists."""
    settings = call.environment.settings()
    parts = _parts_below_volumes(settings, place)
    if parts is None:
        return
    if len(parts) < _VOLUME_PARTS:
        raise invalid_parameter(
            f"Path ({shown}) is not below a volume: /Volumes/<catalog>/<schema>/<volume>/…"
        )
    if not settings.volumes.joinpath(*parts[:_VOLUME_PARTS]).is_dir():
        raise missing(f"Volume '{'.'.join(parts[:_VOLUME_PARTS])}'", "NOT_FOUND")


def _parts_below_volumes(settings: Settings, place: Path) -> tuple[str, ...] | None:
    lexical, volumes = _lexical(place), _lexical(settings.volumes)
    return lexical.relative_to(volumes).parts if lexical.is_relative_to(volumes) else None


def _folders(settings: Settings) -> list[Path]:
    """Return the folders that requests may name: roots of the target, and mounts of the settings."""
    folders = (
        *_roots(settings),
        *(Path(each) for _, each in settings.mounts),
    )
    return sorted((_lexical(each) for each in folders), key=lambda folder: -len(folder.parts))


def _roots(settings: Settings) -> tuple[Path, ...]:
    """Return DBFS, volumes, workspace files, and the tables of `hive_metastore`, which are in DBFS, too."""
    return (
        settings.dbfs,
        settings.volumes,
        settings.workspace,
        settings.warehouse / "hive_metastore",
    )


def _lexical(place: Path) -> Path:
    """Return the absolute path without `..`; links are not followed."""
    return Path(os.path.normpath(place.absolute()))


def _root_of(settings: Settings, place: Path) -> Path | None:
    lexical = _lexical(place)
    return next((folder for folder in _folders(settings) if lexical.is_relative_to(folder)), None)


def _is_good_link(settings: Settings, entry: Path, root: Path) -> bool:
    try:
        real = entry.resolve(strict=True)
    except (OSError, RuntimeError):
        return False
    return not _is_connection(settings, real) and _is_contained(settings, entry, real, root)


def _is_contained(settings: Settings, place: Path, real: Path, root: Path) -> bool:
    """Return whether `real` is below the root or a declared link, and not in the rest of the state folder."""
    if real.is_relative_to(settings.home.resolve()) and not any(
        real.is_relative_to(folder.resolve()) for folder in _roots(settings)
    ):
        return False
    if real.is_relative_to(root.resolve()):
        return True
    lexical = _lexical(place)
    return any(
        lexical.is_relative_to(link) and real.is_relative_to(link.resolve()) for link in _links(settings)
    )


def _links(settings: Settings) -> list[Path]:
    """Return the symbolic links that commands made: mounts and external volumes."""
    return [_lexical(link) for link in (*mount_links(settings), *_external_volumes(settings))]


def _external_volumes(settings: Settings) -> Iterator[Path]:
    for note in settings.warehouse.glob(f"*/*/{OBJECTS}/*{_VOLUME_NOTE}"):
        catalog, schema = note.parts[-4:-2]
        link = settings.volumes / catalog / schema / note.name.removesuffix(_VOLUME_NOTE)
        if link.is_symlink():
            yield link


def volume_note(settings: Settings, parts: Sequence[str]) -> Path:
    """Return the file in which SQL keeps owner, comment and location of a volume."""
    return metadata_file(settings.warehouse, "VOLUME", parts)


def volume_description(volume: Path) -> Path:
    """Return the file next to a volume that stores its metadata."""
    return volume.with_name(f".{volume.name}{_DESCRIPTION}")


def _is_volume_description(settings: Settings, entry: Path) -> bool:
    """Return whether a file next to a volume stores its metadata: volumes do not show it."""
    if not (entry.name.startswith(".") and entry.name.endswith(_DESCRIPTION)):
        return False
    parts = _parts_below_volumes(settings, entry)
    return parts is not None and len(parts) == _VOLUME_PARTS


def _is_connection(settings: Settings, place: Path) -> bool:
    # In any case of letters: the disk of a Mac takes CONNECTION.JSON for the same file.
    if place.name.casefold() != CONNECTION:
        return False
    return place.parent.resolve() == settings.workspace.resolve()
