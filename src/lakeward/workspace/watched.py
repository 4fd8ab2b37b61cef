"""What triggers watch: files below a folder, and Delta tables; each with a mark that a change changes."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

__all__ = ["files_below", "versions"]


def files_below(folder: Path) -> dict[str, object]:
    """The files in a folder and those below it, each with its size and time."""
    found: dict[str, object] = {}
    for place, _, names in os.walk(folder):
        for file in (Path(place, name) for name in names):
            with suppress(OSError):
                status = file.stat()
                found[str(file)] = (status.st_size, status.st_mtime_ns)
    return found


def versions(warehouse: Path, names: Iterable[str]) -> dict[str, object]:
    """The newest commit of each Delta table that is there."""
    found: dict[str, object] = {}
    for name in names:
        commits = warehouse.joinpath(*name.split("."), "_delta_log").glob("*.json")
        newest = max((commit.name for commit in commits), default=None)
        if newest is not None:
            found[name] = newest
    return found
