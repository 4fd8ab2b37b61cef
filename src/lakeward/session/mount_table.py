"""Mounts of a project: `[tool.lakeward.mounts]` in pyproject.toml, and `--mount` of a command line.

Both map a path prefix of the platform to a local folder. The command line wins over the table. Its mounts are
kept in LAKEWARD_MOUNTS, so that child processes (tasks, pytest and its workers) have them too.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lakeward.errors import ConfigurationError

MOUNTS_VARIABLE = "LAKEWARD_MOUNTS"
"""A JSON object from prefix to folder; relative folders start at the current one."""

BIND_MOUNTS_VARIABLE = "LAKEWARD_BIND_MOUNTS"
"""1 if native libraries see the mapped paths (`path_redirection.bind_mounts`); wins over the project."""

_PREFIX = re.compile(r"/+[^/]|dbfs:/+[^/]|[A-Za-z][A-Za-z0-9+.-]*://[^/]")
_TABLE = "tool.lakeward.mounts"


def read_mounts(
    file: Path | None, table: Mapping[str, Any], environ: Mapping[str, str] = os.environ
) -> tuple[tuple[str, str], ...]:
    """Return (prefix, absolute folder) of the project and of LAKEWARD_MOUNTS; the latter wins.

    `table` is `[tool.lakeward]` of `file`. Folders in it are relative to the folder of `file`. Raises
    ConfigurationError(MOUNT_INVALID), which names the file or the variable and the key.
    """
    found: dict[str, str] = {}
    own = table.get("mounts", {})
    if file is not None:
        found |= _read_table(own, file.parent, f"{file}: `{_TABLE}`")
    text = environ.get(MOUNTS_VARIABLE)
    if text:
        try:
            given = json.loads(text)
        except ValueError:
            given = None
        found |= _read_table(given, Path.cwd(), MOUNTS_VARIABLE)
    return tuple(found.items())


def read_mount(prefix: str, folder: object, base: Path, origin: str) -> tuple[str, str]:
    """Return one mount with its folder made absolute, relative folders starting at `base`.

    Args:
        prefix: An absolute path (`/Volumes/c/s/v`) or a URI (`s3://bucket`, `dbfs:/mnt/x`).
        folder: The local folder. It need not exist: writing makes it.
        base: Where relative folders start.
        origin: Where the mount is declared, for messages.

    Raises:
        ConfigurationError: MOUNT_INVALID.
    """
    if not _PREFIX.match(prefix):
        raise _invalid(
            origin,
            f"the prefix {prefix!r} is neither an absolute path below / nor a URI with a container.",
        )
    if not isinstance(folder, str) or not folder.strip():
        raise _invalid(origin, f"the folder of {prefix!r} must be a path, found {folder!r}.")
    place = Path(os.path.normpath(base.absolute() / Path(folder).expanduser()))
    if place.is_file():
        raise _invalid(origin, f"{prefix!r} is mapped to {place}, which is a file.")
    return prefix.rstrip("/"), str(place)


def encode_mounts(mounts: Mapping[str, str]) -> str:
    """Return the value of LAKEWARD_MOUNTS for `mounts`."""
    return json.dumps(dict(mounts))


def _read_table(table: object, base: Path, origin: str) -> dict[str, str]:
    if not isinstance(table, Mapping):
        raise _invalid(origin, f"must be a table of prefix = folder, found {table!r}.")
    return dict(read_mount(str(prefix), folder, base, origin) for prefix, folder in table.items())


def _invalid(origin: str, message: str) -> ConfigurationError:
    return ConfigurationError(
        "MOUNT_INVALID",
        f"{origin}: {message}",
        next_step='Map a prefix to a folder, as "s3://bucket" = "fixtures/bucket" or --mount s3://bucket=DIR.',
    )
