"""From listings to offsets: which files make which batch, exactly once (auto-loader.md §6)."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import timedelta
from typing import TypedDict

from lakeward.autoloader.backlog import Backlog
from lakeward.autoloader.cleaning import Cleaner
from lakeward.autoloader.discovery import FileStatus, Lister, missing_path
from lakeward.autoloader.options import Options
from lakeward.autoloader.state import Entry, Registry, thinned
from lakeward.errors import CloudFilesError

__all__ = ["Offset", "Tracker"]

_VERSION = 1
_DAY = 86_400.0


class Offset(TypedDict):
    """What Spark's offset log holds for a source; `seqNum` is the number of the last file taken."""

    seqNum: int
    sourceVersion: int
    lastBackfillStartTimeMs: int
    lastBackfillFinishTimeMs: int
    lastInputPath: str


class Tracker:
    """The driver side of one source: knows what was taken, finds what is new.

    `clock` gives seconds since 1970. It decides when files are forgotten and cleaned, never which are new.
    """

    def __init__(
        self,
        registry: Registry,
        lister: Lister,
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

    def initial(self) -> Offset:
        """Where a new stream starts: before all files, or behind those there (`includeExistingFiles`)."""
        if self._options.flag("cloudFiles.includeExistingFiles"):
            return self._offset(0)
        if self._registry.is_new:
            # Also when there are none: a first start that is repeated must find the same place.
            self._registry.add(_entries(self._new()), taken=self._now(), left_out=True)
        return self._offset(self._registry.first_batch)

    def freeze(self) -> None:
        """`availableNow`: from here on only the files that are there now count (invariant 5)."""
        self.initial()
        self.backlog = Backlog(self._new())
        self._is_frozen = True

    def latest(self, start: Offset, *, limited: bool) -> Offset:
        """Take the next files, durably, and say where they end; `start` itself when there are none."""
        if start["sourceVersion"] > _VERSION:
            raise _newer(start["sourceVersion"])
        forgotten = self._registry.forget_after(start["seqNum"])
        self._expire(start["seqNum"])
        self._fill(forgotten, limited=limited)
        max_files, max_bytes = (self._options.max_files, self._options.max_bytes) if limited else (None, None)
        chosen = self.backlog.peek(max_files=max_files, max_bytes=max_bytes)
        if not chosen:
            return start
        if self._cleaner is not None:
            self._cleaner.step(self._registry, self._lister, self._now())
        last = self._registry.add(_entries(chosen), taken=self._now(), committed=start["seqNum"])
        self.backlog.drop(len(chosen))
        return self._offset(last)

    def files(self, start: Offset, end: Offset) -> list[FileStatus]:
        """The files of a batch, the same ones however often it is asked for."""
        return [self._status(entry) for entry in self._registry.between(start["seqNum"], end["seqNum"])]

    def _fill(self, forgotten: list[Entry], *, limited: bool) -> None:
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
            return self._lister.new(self._registry.knows, changed if self._overwrites else None)
        except FileNotFoundError:
            raise missing_path(self._lister.names.key(self._lister.root)) from None

    def _expire(self, committed: int) -> None:
        """Once a day: the cost is that of the whole history."""
        age: timedelta | None = self._options.value("cloudFiles.maxFileAge")
        if age is None or self._clock() < self._next_expiry:
            return
        self._next_expiry = self._clock() + _DAY
        before = self._now() - int(age.total_seconds() * 1000)
        taken, last = self._registry.oldest
        if not last or taken >= before or last > committed:
            return
        listed = self._listed()
        if not listed:
            # More likely a disk that is not mounted than a source that was emptied.
            return

        def present(key: str) -> bool:
            return key in listed or not self._lister.covers(self._lister.names.local(key))

        frames = self._registry.frames()
        self._registry.replace(thinned(frames, before=before, committed=committed, present=present))

    def _listed(self) -> set[str]:
        try:
            return set(self._lister.keys())
        except FileNotFoundError:
            return set()

    def _status(self, entry: Entry) -> FileStatus:
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


def _entries(files: list[FileStatus]) -> list[Entry]:
    return [Entry(status.key, status.size, status.mtime) for status in files]


def _newer(version: int) -> CloudFilesError:
    return CloudFilesError(
        "CF_STATE_INCORRECT_VERSION",
        f"The checkpoint was written by source version {version}; this one knows up to {_VERSION}.",
        next_step="Use the lakeward that wrote the checkpoint, or start a new checkpoint.",
    )
