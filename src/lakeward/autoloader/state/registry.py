"""What a running stream knows of its files: loaded once from the log, then kept in step with it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from lakeward.autoloader.state.frames import Cleaned, Entry, Frame, encode_cleaned, encode_frame
from lakeward.autoloader.state.log import StateLog
from lakeward.errors import CloudFilesError

__all__ = ["Registry"]


class _Place(NamedTuple):
    """Where the files numbered `first` … `last` stand in the log, and when they were taken."""

    first: int
    last: int
    taken: int
    start: int
    end: int


class Registry:
    """The files of one source, by number and by key. The cost of a batch does not grow with the history.

    With `versions` modification times are kept in memory too, for `changed`; times are milliseconds.
    """

    def __init__(self, log: StateLog, *, versions: bool = False) -> None:
        self._log = log
        self._keys: set[str] = set()
        self._mtimes: dict[str, int] | None = {} if versions else None
        self._load()

    def _load(self) -> None:
        self._places: list[_Place] = []
        self._end = 0
        self._before = 0
        self._keys.clear()
        if self._mtimes is not None:
            self._mtimes.clear()
        for frame in self._log.frames():
            self._end = frame.end
            if frame.is_numbered:
                self._places.append(_place(frame))
            if frame.kind != "A":
                self._before = self._before or frame.first - 1
                self._remember(frame)

    @property
    def last(self) -> int:
        """The number of the file taken last; 0 for none."""
        return self._places[-1].last if self._places else self._before

    @property
    def is_new(self) -> bool:
        """Whether nothing was ever written: the first start of its checkpoint."""
        return not self._end

    @property
    def first_batch(self) -> int:
        """The number of the last file of the first batch; 0 for none."""
        return self._places[0].last if self._places else self._before

    def __len__(self) -> int:
        """How many files are known."""
        return len(self._keys)

    def knows(self, key: str) -> bool:
        """Whether a file of this name was ever taken."""
        return key in self._keys

    def changed(self, key: str, mtime: int) -> bool:
        """Whether the file has another modification time than the version taken last (§6.2)."""
        assert self._mtimes is not None, "opened without versions"
        return self._mtimes.get(key) != mtime

    def skipped(self) -> dict[str, str]:
        """Why files were left out by those who should have read them, by key."""
        return self._log.skips.noted()

    @property
    def oldest(self) -> tuple[int, int]:
        """When the first files that still have numbers were taken, and the number of their last; or zeros."""
        return (self._places[0].taken, self._places[0].last) if self._places else (0, 0)

    def add(
        self, entries: Sequence[Entry], *, taken: int = 0, committed: int = 0, left_out: bool = False
    ) -> int:
        """Take files, durably; gives the number of the last. `committed` is the last one that is done.

        `left_out` marks files that nobody will read (`includeExistingFiles`).
        """
        first, kind = self.last + 1, "B" if left_out else "F"
        frame = encode_frame(first, entries, taken=taken, committed=committed, kind=kind)
        start, end = self._log.append(self._end, frame)
        self._places.append(_Place(first, first + len(entries) - 1, taken, start, end))
        self._end = end
        self._keys.update(entry.key for entry in entries)
        if self._mtimes is not None:
            self._mtimes.update((entry.key, entry.mtime) for entry in entries)
        return self.last

    def add_cleaned(self, files: Sequence[Cleaned], *, taken: int) -> None:
        """Note files that were deleted or moved, durably. They stay known."""
        _, self._end = self._log.append(self._end, encode_cleaned(self.last + 1, files, taken=taken))

    def forget_after(self, number: int) -> list[Entry]:
        """Forget, and give, files that were taken for a batch which the stream's offset log never saw.

        A crash between the two writes leaves them. Raises CF_STATE_CORRUPTED when the log ends before
        `number`, or no batch ever ended there: the checkpoint and its state do not belong together.
        """
        if self.last == number:
            return []
        ends = [self._places[0].first - 1 if self._places else 0, *(place.last for place in self._places)]
        if number not in ends:
            raise self._lost(number)
        kept = len(ends) - 1 - ends[::-1].index(number)
        dropped = [entry for place in self._places[kept:] for entry in self._entries(place)]
        self._log.cut(self._places[kept].start)
        # An overwritten file may have been taken before, too.
        self._load()
        return dropped

    def between(self, after: int, last: int) -> list[Entry]:
        """The files numbered `after`+1 … `last`. Raises CF_STATE_CORRUPTED when the log lost some of them."""
        if last > self.last or (after < last and (not self._places or after < self._places[0].first - 1)):
            raise self._lost(last)
        found: list[Entry] = []
        for place in reversed(self._places):
            if place.last <= after:
                break
            if place.first <= last:
                numbered = enumerate(self._entries(place), place.first)
                found[:0] = [entry for number, entry in numbered if after < number <= last]
        return found

    def frames(self) -> Iterator[Frame]:
        """The frames that count, from the disk."""
        return (frame for frame in self._log.frames() if frame.end <= self._end)

    def replace(self, frames: Iterable[bytes]) -> None:
        """Rewrite the log with these frames, whole or not at all, and load it."""
        self._log.replace(frames)
        self._load()

    def _remember(self, frame: Frame) -> None:
        for keys in frame.key_lists():
            self._keys.update(keys)
        if self._mtimes is not None:
            self._mtimes.update(frame.mtimes())

    def _entries(self, place: _Place) -> list[Entry]:
        return list(self._log.frame_at(place.start, place.end).entries())

    def _lost(self, number: int) -> CloudFilesError:
        return CloudFilesError(
            "CF_STATE_CORRUPTED",
            f"The checkpoint refers to file {number}; the state log {self._log.path} ends at {self.last}.",
            next_step="Restore the checkpoint from a copy, or start a new checkpoint.",
        )


def _place(frame: Frame) -> _Place:
    return _Place(frame.first, frame.last, frame.taken, frame.start, frame.end)
