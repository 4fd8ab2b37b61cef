"""What a running stream knows of its files: loaded once from the log, then kept in step with it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from lakeward.autoloader.state.log import Entry, StateLog
from lakeward.errors import CloudFilesError

__all__ = ["Registry"]


class _Place(NamedTuple):
    """Where the files numbered `first` … `last` stand in the log."""

    first: int
    last: int
    start: int
    end: int


class Registry:
    """The files of one source, by number and by key. The cost of a batch does not grow with the history."""

    def __init__(self, log: StateLog) -> None:
        self._log = log
        self._places: list[_Place] = []
        self._mtimes: dict[str, int] = {}
        for frame in self._log.read():
            self._places.append(_Place(frame.first, frame.first + frame.length - 1, frame.start, frame.end))
            self._mtimes.update((entry.key, entry.mtime) for entry in frame.entries())

    @property
    def last(self) -> int:
        """The number of the file taken last; 0 for none."""
        return self._places[-1].last if self._places else 0

    @property
    def is_new(self) -> bool:
        """Whether nothing was ever written: the first start of its checkpoint."""
        return not self._places

    @property
    def first_batch(self) -> int:
        """The number of the last file of the first batch; 0 for none."""
        return self._places[0].last if self._places else 0

    def knows(self, key: str) -> bool:
        """Whether a file of this name was ever taken."""
        return key in self._mtimes

    def changed(self, key: str, mtime: int) -> bool:
        """Whether the file has another modification time than the version taken last (§6.2)."""
        return self._mtimes.get(key) != mtime

    def add(self, entries: Sequence[Entry]) -> int:
        """Take files, durably; gives the number of the last."""
        first, at = self.last + 1, self._places[-1].end if self._places else 0
        start, end = self._log.append(at, first, entries)
        self._places.append(_Place(first, first + len(entries) - 1, start, end))
        self._mtimes.update((entry.key, entry.mtime) for entry in entries)
        return self.last

    def forget_after(self, number: int) -> list[Entry]:
        """Forget, and give, files that were taken for a batch which the stream's offset log never saw.

        A crash between the two writes leaves them. Raises CF_STATE_CORRUPTED when the log ends before
        `number`, or no batch ever ended there: the checkpoint and its state do not belong together.
        """
        if self.last == number:
            return []
        ends = [0, *(place.last for place in self._places)]
        if number not in ends:
            raise self._lost(number)
        kept = len(ends) - 1 - ends[::-1].index(number)
        dropped = [entry for place in self._places[kept:] for entry in self._entries(place)]
        for entry in dropped:
            self._mtimes.pop(entry.key, None)
        del self._places[kept:]
        # An overwritten file may have been taken before, too.
        for place in self._places:
            self._mtimes.update((entry.key, entry.mtime) for entry in self._entries(place))
        return dropped

    def between(self, after: int, last: int) -> list[Entry]:
        """The files numbered `after`+1 … `last`. Raises CF_STATE_CORRUPTED when the log lost some of them."""
        if last > self.last:
            raise self._lost(last)
        found: list[Entry] = []
        for place in reversed(self._places):
            if place.last <= after:
                break
            if place.first <= last:
                numbered = enumerate(self._entries(place), place.first)
                found[:0] = [entry for number, entry in numbered if after < number <= last]
        return found

    def _entries(self, place: _Place) -> list[Entry]:
        return list(self._log.frame_at(place.start, place.end).entries())

    def _lost(self, number: int) -> CloudFilesError:
        return CloudFilesError(
            "CF_STATE_CORRUPTED",
            f"The checkpoint refers to file {number}; the state log {self._log.path} ends at {self.last}.",
            next_step="Restore the checkpoint from a copy, or start a new checkpoint.",
        )
