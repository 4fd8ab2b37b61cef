"""From listings to offsets, each file in exactly one batch (AL-6): backlog and offsets."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable
from datetime import timedelta
from itertools import islice
from typing import Protocol, TypedDict

from lakeward.autoloader.discovery.file_listing import FileLister, FileStatus, path_not_found
from lakeward.autoloader.options.option_values import Options
from lakeward.autoloader.state.frames import FileEntry
from lakeward.autoloader.state.state_log import expire_entries
from lakeward.autoloader.streams.file_registry import FileRegistry
from lakeward.errors import CloudFilesError


def select_batch(
    files: Iterable[FileStatus], *, max_files: int | None, max_bytes: int | None
) -> list[FileStatus]:
    """Return files up to `max_files`, or until their sizes reach `max_bytes`; at least one if any."""
    limited = islice(files, max_files)
    if max_bytes is None:
        return list(limited)
    selected: list[FileStatus] = []
    total = 0
    for status in limited:
        selected.append(status)
        total += status.size
        if total >= max_bytes:
            break
    return selected


class Backlog:
    """A queue of discovered files with its size in bytes."""

    def __init__(self, files: Iterable[FileStatus] = ()) -> None:
        self._files = deque(files)
        self.bytes = sum(status.size for status in self._files)

    def __len__(self) -> int:
        return len(self._files)

    def fills(self, max_files: int, max_bytes: int | None) -> bool:
        """Return whether the queue is enough for a batch with these limits."""
        return len(self) >= max_files or (max_bytes is not None and self.bytes >= max_bytes)

    def put_first(self, files: list[FileStatus]) -> None:
        """Insert files at the front."""
        self._files.extendleft(reversed(files))
        self.bytes += sum(status.size for status in files)

    def peek(self, *, max_files: int | None, max_bytes: int | None) -> list[FileStatus]:
        """Return the files of the next batch."""
        return select_batch(self._files, max_files=max_files, max_bytes=max_bytes)

    def drop(self, count: int) -> None:
        """Remove the first `count` files."""
        self.bytes -= sum(status.size for status in islice(self._files, count))
        for _ in range(count):
            self._files.popleft()


_VERSION = 1
_DAY = 86_400.0


class Offset(TypedDict):
    """The source's offset in Spark's offset log; `seqNum` is the number of the last assigned file."""

    seqNum: int
    sourceVersion: int
    lastBackfillStartTimeMs: int
    lastBackfillFinishTimeMs: int
    lastInputPath: str


class Cleaner(Protocol):
    """Cleans the source between two batches."""

    def step(self, registry: FileRegistry, lister: FileLister, now: int) -> None:
        """Clean files; `now` is in milliseconds."""


class FileTracker:
    """The driver side of one source: assigns new files to batches.

    `clock` returns seconds since 1970. It decides when state expires and files are cleaned, never which files
    are new.
    """

    def __init__(
        self,
        registry: FileRegistry,
        lister: FileLister,
        options: Options,
        *,
        cleaner: Cleaner | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._registry = registry
        self._lister = lister
        self._options = options
        self._cleaner = cleaner
        self._clock = clock
        self._overwrites = options.flag("cloudFiles.allowOverwrites")
        self._is_frozen = False
        self._next_expiry = float("-inf")
        self.backlog = Backlog()

    def initial_offset(self) -> Offset:
        """Return the offset of a new stream; existing files count if `includeExistingFiles`."""
        if self._options.flag("cloudFiles.includeExistingFiles"):
            return self._offset(0)
        if self._registry.is_new:
            # Recorded even if empty: a repeated first start must return the same offset.
            self._registry.add(_entries(self._new()), assigned_at=self._now(), excluded=True)
        return self._offset(self._registry.first_batch)

    def prepare_available_now(self) -> None:
        """Fix the set of files for `availableNow` (AL-6.4.2)."""
        self.initial_offset()
        self.backlog = Backlog(self._new())
        self._is_frozen = True

    def latest(self, start: Offset, *, limited: bool) -> Offset:
        """Assign the next files durably and return the end offset; `start` if there are no files."""
        if start["sourceVersion"] > _VERSION:
            raise _incorrect_version(start["sourceVersion"])
        forgotten = self._registry.drop_after(start["seqNum"])
        self._expire(start["seqNum"])
        self._fill(forgotten, limited=limited)
        max_files, max_bytes = (self._options.max_files, self._options.max_bytes) if limited else (None, None)
        chosen = self.backlog.peek(max_files=max_files, max_bytes=max_bytes)
        if not chosen:
            return start
        if self._cleaner is not None:
            self._cleaner.step(self._registry, self._lister, self._now())
        last = self._registry.add(_entries(chosen), assigned_at=self._now(), committed=start["seqNum"])
        self.backlog.drop(len(chosen))
        return self._offset(last)

    def files(self, start: Offset, end: Offset) -> list[FileStatus]:
        """Return the files of a batch; repeatable."""
        return [self._status(entry) for entry in self._registry.between(start["seqNum"], end["seqNum"])]

    def _fill(self, forgotten: list[FileEntry], *, limited: bool) -> None:
        if self._is_frozen:
            self.backlog.put_first([self._status(entry) for entry in forgotten])
        elif self._overwrites or not (
            limited and self.backlog.fills(self._options.max_files, self._options.max_bytes)
        ):
            self.backlog = Backlog(self._new())

    def _new(self) -> list[FileStatus]:
        def changed(status: FileStatus) -> bool:
            return self._registry.changed(status.key, status.mtime)

        try:
            return self._lister.list_new(self._registry.contains, changed if self._overwrites else None)
        except FileNotFoundError:
            raise path_not_found(self._lister.names.key(self._lister.root)) from None

    def _expire(self, committed: int) -> None:
        """Expire state once a day; the cost grows with the history."""
        age: timedelta | None = self._options.value("cloudFiles.maxFileAge")
        if age is None or self._clock() < self._next_expiry:
            return
        self._next_expiry = self._clock() + _DAY
        before = self._now() - int(age.total_seconds() * 1000)
        assigned_at, last = self._registry.oldest
        if not last or assigned_at >= before or last > committed:
            return
        listed = self._list_keys()
        if not listed:
            # More likely an unmounted disk than an empty source.
            return

        def present(key: str) -> bool:
            return key in listed or not self._lister.covers(self._lister.names.local(key))

        frames = self._registry.frames()
        self._registry.replace(expire_entries(frames, before=before, committed=committed, present=present))

    def _list_keys(self) -> set[str]:
        try:
            return set(self._lister.list_keys())
        except FileNotFoundError:
            return set()

    def _status(self, entry: FileEntry) -> FileStatus:
        return FileStatus(entry.key, self._lister.names.local(entry.key), entry.size, entry.mtime)

    def _now(self) -> int:
        return int(self._clock() * 1000)

    def _offset(self, number: int) -> Offset:
        return Offset(
            seqNum=number,
            sourceVersion=_VERSION,
            lastBackfillStartTimeMs=0,
            lastBackfillFinishTimeMs=0,
            lastInputPath=self._lister.names.key(self._lister.source),
        )


def _entries(files: list[FileStatus]) -> list[FileEntry]:
    return [FileEntry(status.key, status.size, status.mtime) for status in files]


def _incorrect_version(version: int) -> CloudFilesError:
    return CloudFilesError(
        "CF_UNSUPPORTED_LOG_VERSION",
        f"The checkpoint was written by source version {version}; this release supports up to {_VERSION}.",
        next_step="Use the lakeward that wrote the checkpoint, or start a new checkpoint.",
    )
