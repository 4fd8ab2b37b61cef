"""Which file a row of a batch is from: a batch holds the rows of several files, one after the other."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lakeward.autoloader.discovery import FileStatus

__all__ = ["Span", "Spans"]

Span = tuple["FileStatus", int]
"""A file and how many rows of the batch it has."""


class Spans:
    """The files of a batch, in order."""

    def __init__(self, files: Sequence[Span]) -> None:
        self._files = files
        self._ends = list(accumulate(count for _, count in files))

    @property
    def rows(self) -> int:
        """How many rows the batch has."""
        return self._ends[-1] if self._ends else 0

    def file_of(self, row: int) -> FileStatus:
        """The file of a row. Raises IndexError beyond the last."""
        return self._files[bisect_right(self._ends, row)][0]
