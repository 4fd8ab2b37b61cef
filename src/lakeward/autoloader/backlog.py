"""Files that were found and wait for their batch."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from itertools import islice

from lakeward.autoloader.discovery import FileStatus, take

__all__ = ["Backlog"]


class Backlog:
    """A queue that knows its number of files and bytes."""

    def __init__(self, files: Iterable[FileStatus] = ()) -> None:
        self._files = deque(files)
        self.bytes = sum(status.size for status in self._files)

    def __len__(self) -> int:
        return len(self._files)

    def fills(self, max_files: int, max_bytes: int | None) -> bool:
        """Whether a batch with these limits needs no further files."""
        return len(self) >= max_files or (max_bytes is not None and self.bytes >= max_bytes)

    def put_first(self, files: list[FileStatus]) -> None:
        """Files that come before all others."""
        self._files.extendleft(reversed(files))
        self.bytes += sum(status.size for status in files)

    def peek(self, *, max_files: int | None, max_bytes: int | None) -> list[FileStatus]:
        """The files of the next batch."""
        return take(self._files, max_files=max_files, max_bytes=max_bytes)

    def drop(self, count: int) -> None:
        """The first `count` are taken."""
        self.bytes -= sum(status.size for status in islice(self._files, count))
        for _ in range(count):
            self._files.popleft()
