"""The processed files of one source, by number and by key, on top of the state log (AL-6)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from lakeward.autoloader.state.frames import CleanedFile, FileEntry, Frame, encode_cleaned, encode_frame
from lakeward.autoloader.state.state_log import StateLog
from lakeward.errors import CloudFilesError


class _FrameSpan(NamedTuple):
    """A frame's file numbers, time of assignment and byte range in the log."""

    first: int
    last: int
    assigned_at: int
    start: int
    end: int


class FileRegistry:
    """The files of one source by number and by key. The cost of a batch is independent of the history.

    With `versions` modification times are kept in memory for `changed`. Times are in milliseconds.
    """

    def __init__(self, log: StateLog, *, versions: bool = False) -> None:
        self._log = log
        self._keys: set[str] = set()
        self._mtimes: dict[str, int] | None = {} if versions else None
        self._load()

    def _load(self) -> None:
        self._spans: list[_FrameSpan] = []
        self._end = 0
        self._before = 0
        self._keys.clear()
        if self._mtimes is not None:
            self._mtimes.clear()
        for frame in self._log.frames():
            self._end = frame.end
            if frame.is_numbered:
                self._spans.append(_frame_span(frame))
            if frame.kind != "A":
                self._before = self._before or frame.first - 1
                self._remember(frame)

    @property
    def last(self) -> int:
        """Return the number of the last processed file, 0 for none."""
        return self._spans[-1].last if self._spans else self._before

    @property
    def is_new(self) -> bool:
        """Return whether the log is empty: the first start of this checkpoint."""
        return not self._end

    @property
    def first_batch(self) -> int:
        """Return the number of the last file of the first batch, 0 for none."""
        return self._spans[0].last if self._spans else self._before

    def __len__(self) -> int:
        """Return the number of known files."""
        return len(self._keys)

    def contains(self, key: str) -> bool:
        """Return whether a file with this key was processed."""
        return key in self._keys

    def changed(self, key: str, mtime: int) -> bool:
        """Return whether the modification time differs from the last processed version (AL-6.2)."""
        assert self._mtimes is not None, "opened without versions"
        return self._mtimes.get(key) != mtime

    def skipped(self) -> dict[str, str]:
        """Return the reason per skipped file key."""
        return self._log.skips.reasons()

    @property
    def oldest(self) -> tuple[int, int]:
        """Assignment time and last number of the oldest numbered frame, or zeros."""
        return (self._spans[0].assigned_at, self._spans[0].last) if self._spans else (0, 0)

    def add(
        self,
        entries: Sequence[FileEntry],
        *,
        assigned_at: int = 0,
        committed: int = 0,
        excluded: bool = False,
    ) -> int:
        """Add files durably and return the number of the last one.

        Args:
            entries: The files.
            assigned_at: Time of assignment.
            committed: Number of the last file committed by the sink.
            excluded: Whether the files are never read (`includeExistingFiles=false`).
        """
        first, kind = self.last + 1, "B" if excluded else "F"
        frame = encode_frame(first, entries, assigned_at=assigned_at, committed=committed, kind=kind)
        start, end = self._log.append(self._end, frame)
        self._spans.append(_FrameSpan(first, first + len(entries) - 1, assigned_at, start, end))
        self._end = end
        self._keys.update(entry.key for entry in entries)
        if self._mtimes is not None:
            self._mtimes.update((entry.key, entry.mtime) for entry in entries)
        return self.last

    def add_cleaned(self, files: Sequence[CleanedFile], *, assigned_at: int) -> None:
        """Record deleted or moved files durably. They stay known."""
        _, self._end = self._log.append(
            self._end, encode_cleaned(self.last + 1, files, assigned_at=assigned_at)
        )

    def drop_after(self, number: int) -> list[FileEntry]:
        """Remove and return files of a batch that is not in the stream's offset log.

        A crash between the two writes leaves such files. Raises CF_INTERNAL_ERROR if the log ends before
        `number` or no batch ended there: checkpoint and state do not belong together.
        """
        if self.last == number:
            return []
        ends = [self._spans[0].first - 1 if self._spans else 0, *(span.last for span in self._spans)]
        if number not in ends:
            raise self._lost(number)
        kept = len(ends) - 1 - ends[::-1].index(number)
        dropped = [entry for span in self._spans[kept:] for entry in self._entries(span)]
        self._log.truncate(self._spans[kept].start)
        # An overwritten file may also be in an earlier frame.
        self._load()
        return dropped

    def between(self, after: int, last: int) -> list[FileEntry]:
        """Return files numbered `after`+1 … `last`; raise CF_INTERNAL_ERROR if some are missing."""
        if last > self.last or (after < last and (not self._spans or after < self._spans[0].first - 1)):
            raise self._lost(last)
        entries: list[FileEntry] = []
        for span in reversed(self._spans):
            if span.last <= after:
                break
            if span.first <= last:
                numbered = enumerate(self._entries(span), span.first)
                entries[:0] = [entry for number, entry in numbered if after < number <= last]
        return entries

    def frames(self) -> Iterator[Frame]:
        """Return the valid frames of the log."""
        return (frame for frame in self._log.frames() if frame.end <= self._end)

    def replace(self, frames: Iterable[bytes]) -> None:
        """Replace the log atomically and reload it."""
        self._log.replace(frames)
        self._load()

    def _remember(self, frame: Frame) -> None:
        for keys in frame.key_lists():
            self._keys.update(keys)
        if self._mtimes is not None:
            self._mtimes.update(frame.mtimes())

    def _entries(self, span: _FrameSpan) -> list[FileEntry]:
        return list(self._log.frame_at(span.start, span.end).entries())

    def _lost(self, number: int) -> CloudFilesError:
        return CloudFilesError(
            "CF_INTERNAL_ERROR.END_SEQ_NUM_GREATER_THAN_LATEST_SEQ_NUM",
            f"The checkpoint refers to file {number}; the state log {self._log.path} ends at {self.last}.",
            next_step="Restore the checkpoint from a copy, or start a new checkpoint.",
        )


def _frame_span(frame: Frame) -> _FrameSpan:
    return _FrameSpan(frame.first, frame.last, frame.assigned_at, frame.start, frame.end)
