"""From listings to offsets: which files make which batch, exactly once (auto-loader.md §6)."""

from __future__ import annotations

from typing import TypedDict

from lakeward.autoloader.discovery import FileStatus, Lister, missing_path, take
from lakeward.autoloader.options import Options
from lakeward.autoloader.state import Registry
from lakeward.autoloader.state.log import Entry

__all__ = ["Offset", "Tracker"]


class Offset(TypedDict):
    """What Spark's offset log holds for a source; `seqNum` is the number of the last file taken."""

    seqNum: int
    sourceVersion: int
    lastBackfillStartTimeMs: int
    lastBackfillFinishTimeMs: int
    lastInputPath: str


class Tracker:
    """The driver side of one source: knows what was taken, finds what is new."""

    def __init__(self, registry: Registry, lister: Lister, options: Options) -> None:
        self._registry = registry
        self._lister = lister
        self._options = options
        self._overwrites = options.flag("cloudFiles.allowOverwrites")
        self._present: list[FileStatus] | None = None

    def initial(self) -> Offset:
        """Where a new stream starts: before all files, or behind those there (`includeExistingFiles`)."""
        if self._options.flag("cloudFiles.includeExistingFiles"):
            return self._offset(0)
        if self._registry.is_new:
            # Also when there are none: a first start that is repeated must find the same place.
            self._registry.add([Entry(status.key, status.size, status.mtime) for status in self._new()])
        return self._offset(self._registry.first_batch)

    def freeze(self) -> None:
        """`availableNow`: from here on only the files that are there now count (invariant 5)."""
        self.initial()
        self._present = self._new()

    def latest(self, start: Offset, *, limited: bool) -> Offset:
        """Take the next files, durably, and say where they end; `start` itself when there are none."""
        forgotten = self._registry.forget_after(start["seqNum"])
        found = self._new() if self._present is None else self._still_new(self._present, forgotten)
        max_files, max_bytes = (self._options.max_files, self._options.max_bytes) if limited else (None, None)
        chosen = take(found, max_files=max_files, max_bytes=max_bytes)
        if self._present is not None:
            self._present = found[len(chosen) :]
        if not chosen:
            return start
        return self._offset(self._registry.add([Entry(s.key, s.size, s.mtime) for s in chosen]))

    def files(self, start: Offset, end: Offset) -> list[FileStatus]:
        """The files of a batch, the same ones however often it is asked for."""
        local = self._lister.names.local
        entries = self._registry.between(start["seqNum"], end["seqNum"])
        return [FileStatus(entry.key, local(entry.key), entry.size, entry.mtime) for entry in entries]

    def _new(self) -> list[FileStatus]:
        def changed(status: FileStatus) -> bool:
            return self._registry.changed(status.key, status.mtime)

        try:
            return self._lister.new(self._registry.knows, changed if self._overwrites else None)
        except FileNotFoundError:
            raise missing_path(self._lister.names.key(self._lister.root)) from None

    def _still_new(self, present: list[FileStatus], forgotten: list[Entry]) -> list[FileStatus]:
        back = [FileStatus(e.key, self._lister.names.local(e.key), e.size, e.mtime) for e in forgotten]
        return [*back, *present]

    def _offset(self, number: int) -> Offset:
        return Offset(
            seqNum=number,
            sourceVersion=1,
            lastBackfillStartTimeMs=0,
            lastBackfillFinishTimeMs=0,
            lastInputPath=self._lister.names.key(self._lister.source),
        )
