"""The cache folder of the machine: jars, launchers, compiled classes."""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping
from pathlib import Path

from lakeward.errors import SetupError


def cache_dir(environ: Mapping[str, str] = os.environ) -> Path:
    """Return `$LAKEWARD_CACHE`, `$XDG_CACHE_HOME/lakeward` or `~/.cache/lakeward`; it need not exist yet."""
    if environ.get("LAKEWARD_CACHE"):
        return Path(environ["LAKEWARD_CACHE"]).expanduser().absolute()
    # The XDG specification requires relative folders to be ignored.
    xdg = environ.get("XDG_CACHE_HOME", "")
    return (Path(xdg) if Path(xdg).is_absolute() else _home(environ) / ".cache") / "lakeward"


def _home(environ: Mapping[str, str]) -> Path:
    return Path(environ["HOME"]) if environ.get("HOME") else Path.home()


def ensure_dir(folder: Path) -> Path:
    """Create `folder` if it is missing and return it. Raises SetupError if it cannot be created."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise not_writable(folder, error) from None
    return folder


def not_writable(place: Path, error: OSError) -> SetupError:
    """Return the error for a cache folder that cannot be written."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return SetupError(
            "CACHE_NO_SPACE",
            f"There is no disk space left for {place}.",
            next_step="Make room there, or set LAKEWARD_CACHE to a folder on a disk with room.",
        )
    return SetupError(
        "CACHE_NOT_WRITABLE",
        f"{place} cannot be written: {error.strerror or error}.",
        next_step="Set LAKEWARD_CACHE to a folder that can be written.",
    )
