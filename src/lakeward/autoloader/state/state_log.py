"""The state log of a source on disk, and the expiry of its entries."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from lakeward.autoloader.state.frames import (
    MAGIC,
    FileEntry,
    Frame,
    encode_cleaned,
    encode_frame,
    read_frame,
    read_frames,
)
from lakeward.autoloader.state.skipped_files import SkippedFiles


class StateLog:
    """The log of one source of a checkpoint: `<checkpoint>/sources/<n>/files.log`.

    A torn tail is ignored by readers and overwritten by the next write. All methods raise the errors of
    `read_frames`.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / "files.log"
        self.skips = SkippedFiles(folder / "skipped")

    def frames(self) -> Iterator[Frame]:
        """Yield all valid frames, one in memory at a time; none if the log does not exist."""
        try:
            stream = self.path.open("rb")
        except FileNotFoundError:
            return
        with stream:
            yield from read_frames(stream, os.fstat(stream.fileno()).st_size)

    def frame_at(self, start: int, end: int) -> Frame:
        """Return the frame in a byte range."""
        with self.path.open("rb") as stream:
            return read_frame(stream, start, end)

    def between(self, after: int, last: int) -> list[FileEntry]:
        """Return files numbered `after`+1 … `last` without loading the others."""
        return [
            entry
            for frame in self.frames()
            if frame.is_numbered and frame.first <= last and frame.last > after
            for number, entry in enumerate(frame.entries(), frame.first)
            if after < number <= last
        ]

    def truncate(self, at: int) -> None:
        """Truncate the log to `at` bytes."""
        os.truncate(self.path, at)

    def append(self, at: int, frame: bytes) -> tuple[int, int]:
        """Write a frame at byte `at`, dropping the rest, and return its byte range. Durable on return.

        With `at` 0 the log starts again.
        """
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("r+b" if at else "wb") as stream:
            stream.truncate(at)
            stream.seek(at)
            if not at:
                stream.write(MAGIC)
            start = stream.tell()
            stream.write(frame)
            end = stream.tell()
            stream.flush()
            os.fsync(stream.fileno())
        if not at:
            _fsync_directory(self.path.parent)
        return start, end

    def replace(self, frames: Iterable[bytes]) -> None:
        """Replace the log with these frames atomically."""
        draft = self.path.with_suffix(".draft")
        with draft.open("wb") as stream:
            stream.write(MAGIC)
            stream.writelines(frames)
            stream.flush()
            os.fsync(stream.fileno())
        draft.replace(self.path)
        _fsync_directory(self.path.parent)


def _fsync_directory(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def commit_times(frames: Sequence[Frame]) -> dict[int, int]:
    """Return commit times in milliseconds by frame start, for frames known to be committed."""
    out: dict[int, int] = {}
    waiting: list[Frame] = []
    for frame in frames:
        if frame.kind in "KL":
            out[frame.start] = frame.committed
        if not frame.is_numbered:
            continue
        done = [earlier for earlier in waiting if earlier.last <= frame.committed]
        out.update((earlier.start, frame.assigned_at) for earlier in done)
        waiting = [earlier for earlier in waiting if earlier.last > frame.committed]
        waiting.append(frame)
    return out


_EXPIRED_KIND = {"F": "K", "B": "L", "K": "K", "L": "L"}


def expire_entries(
    frames: Iterable[Frame], *, before: int, committed: int, present: Callable[[str], bool]
) -> Iterator[bytes]:
    """Yield the log without expired files.

    Files that still exist in the source are kept regardless of age; otherwise they would be read twice.

    Args:
        frames: The frames of the log.
        before: Files assigned earlier expire, in milliseconds.
        committed: Number of the last committed file; later files are kept.
        present: Returns whether a key still exists in the source.
    """
    everything = list(frames)
    done = commit_times(everything)
    young = next(
        (
            index
            for index, frame in enumerate(everything)
            if frame.is_numbered and (frame.assigned_at >= before or frame.last > committed)
        ),
        len(everything),
    )
    following = everything[young].first if young < len(everything) else everything[-1].last + 1
    # Required even if nothing is kept: the frame holds the next number.
    yield encode_frame(following, [], kind="K")
    for frame in everything[:young]:
        if frame.kind == "A":
            kept = [file for file in frame.cleaned() if present(file.key)]
            if kept:
                yield encode_cleaned(following, kept, assigned_at=frame.assigned_at)
            continue
        entries = [entry for entry in frame.entries() if present(entry.key)]
        if entries:
            kind, when = _EXPIRED_KIND[frame.kind], done.get(frame.start, 0)
            yield encode_frame(following, entries, kind=kind, assigned_at=frame.assigned_at, committed=when)
    yield from (frame.encode() for frame in everything[young:])
