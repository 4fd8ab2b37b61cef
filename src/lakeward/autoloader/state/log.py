"""The log of taken files: append-only frames, on disk before anybody refers to them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from lakeward.autoloader.state.frames import MAGIC, Entry, Frame, read_frame, read_frames
from lakeward.autoloader.state.skips import Skips

__all__ = ["StateLog"]


class StateLog:
    """The log of one source of one checkpoint: `<checkpoint>/sources/<n>/files.log`.

    A torn tail is left out of what is read and is overwritten by what is written next. Every method raises
    the errors of `read_frames`.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / "files.log"
        self.skips = Skips(folder / "skipped")

    def frames(self) -> Iterator[Frame]:
        """All whole frames, one in memory at a time; none of a log that was never written."""
        try:
            stream = self.path.open("rb")
        except FileNotFoundError:
            return
        with stream:
            yield from read_frames(stream, os.fstat(stream.fileno()).st_size)

    def frame_at(self, start: int, end: int) -> Frame:
        """The frame in these bytes."""
        with self.path.open("rb") as stream:
            return read_frame(stream, start, end)

    def between(self, after: int, last: int) -> list[Entry]:
        """The files numbered `after`+1 … `last`, without loading the others."""
        return [
            entry
            for frame in self.frames()
            if frame.is_numbered and frame.first <= last and frame.last > after
            for number, entry in enumerate(frame.entries(), frame.first)
            if after < number <= last
        ]

    def cut(self, at: int) -> None:
        """Drop what stands behind the first `at` bytes."""
        os.truncate(self.path, at)

    def append(self, at: int, frame: bytes) -> tuple[int, int]:
        """Put a frame behind the first `at` bytes, dropping the rest; on disk on return.

        `at` 0 starts the log. Gives where the frame starts and ends.
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
            _sync_folder(self.path.parent)
        return start, end

    def replace(self, frames: Iterable[bytes]) -> None:
        """Put a log of these frames in the place of this one, whole or not at all."""
        draft = self.path.with_suffix(".draft")
        with draft.open("wb") as stream:
            stream.write(MAGIC)
            stream.writelines(frames)
            stream.flush()
            os.fsync(stream.fileno())
        draft.replace(self.path)
        _sync_folder(self.path.parent)


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
