"""Which of the new files make the next batch: a hard limit of files, a soft one of bytes (§6.4)."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from lakeward.autoloader.discovery.listing import FileStatus

__all__ = ["take"]


def take(files: Iterable[FileStatus], *, max_files: int | None, max_bytes: int | None) -> list[FileStatus]:
    """The first files up to `max_files`, or until their sizes reach `max_bytes`; at least one if any."""
    limited = islice(files, max_files)
    if max_bytes is None:
        return list(limited)
    taken: list[FileStatus] = []
    total = 0
    for status in limited:
        taken.append(status)
        total += status.size
        if total >= max_bytes:
            break
    return taken
