"""Files → tasks: few tasks with many small files each, and no task much longer than another."""

from __future__ import annotations

import heapq
from collections.abc import Sequence

from lakeward.autoloader.discovery import FileStatus

__all__ = ["groups"]

# What opening a file costs, in bytes that could be read in that time.
OPENING = 16 * 1024
# A task holds whole files; beyond this many bytes more tasks keep a worker's memory low and a retry short.
LARGEST = 256 * 1024 * 1024


def groups(files: Sequence[FileStatus], parallelism: int) -> list[list[FileStatus]]:
    """Groups of nearly equal cost, each in the order of `files`; [] for no files."""
    if not files:
        return []
    total = sum(status.size + OPENING for status in files)
    count = min(len(files), max(parallelism, -(-total // LARGEST)))
    loads = [(0, number) for number in range(count)]
    chosen: list[list[int]] = [[] for _ in range(count)]
    for index in sorted(range(len(files)), key=lambda i: -files[i].size):
        load, number = heapq.heappop(loads)
        chosen[number].append(index)
        heapq.heappush(loads, (load + files[index].size + OPENING, number))
    return [[files[index] for index in sorted(indexes)] for indexes in chosen]
