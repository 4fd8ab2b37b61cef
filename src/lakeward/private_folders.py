"""Folders that only their owner can enter.

A folder of mode 700 protects everything below it, whatever modes Spark and the user's code give to files.
"""

from __future__ import annotations

import os
import stat
import tempfile
from contextlib import suppress
from pathlib import Path


def private_folder(folder: Path) -> Path:
    """Create `folder` with mode 700, and missing parents as well; one that exists gets that mode.

    Where the mode cannot be changed, it stays. Raises OSError when it cannot be created.
    """
    if not folder.is_dir():
        _make(folder)
    if stat.S_IMODE(folder.stat().st_mode) & 0o077:
        # Another user's, or a file system without modes or without writing.
        with suppress(OSError):
            folder.chmod(0o700)
    return folder


def _make(folder: Path) -> None:
    # mkdir(parents=True) gives its mode to the last folder only.
    if not folder.parent.is_dir():
        _make(folder.parent)
    folder.mkdir(mode=0o700, exist_ok=True)


def private_temporary_folder() -> Path | None:
    """Return this user's folder below the temporary one; None where another user has taken its name.

    It is the same for all processes of a user, and exists afterwards.
    """
    folder = Path(tempfile.gettempdir()) / f"lakeward-{os.getuid()}"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
            return None
        if stat.S_IMODE(found.st_mode) & 0o077:
            folder.chmod(0o700)
    except OSError:
        return None
    return folder
