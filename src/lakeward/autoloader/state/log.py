"""The log of taken files: append-only frames with length and checksum, on disk before anybody refers to them.

    lakeward auto loader state 1
    F <first> <count> <bytes> <crc32>
    <mtime>\t<size>\t<key>        `count` lines, `bytes` bytes

Files are numbered from 1 in the order in which they were taken, so that an offset is one number. A crash can
tear the last frame only, and nobody refers to a frame that was not synced: opening cuts a torn tail off. The
text is plain so that it can be looked at.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from lakeward.errors import CloudFilesError

__all__ = ["Entry", "Frame", "StateLog", "encode_frame", "frames"]

MAGIC = b"lakeward auto loader state 1\n"
_ESCAPES = str.maketrans({"\\": "\\\\", "\n": "\\n", "\r": "\\r"})


class Entry(NamedTuple):
    """A taken file."""

    key: str
    size: int
    mtime: int


class Frame(NamedTuple):
    """One admitted batch of files: the number of its first, how many, and where it ends in the log."""

    first: int
    length: int
    start: int
    end: int
    payload: bytes

    def entries(self) -> Iterator[Entry]:
        """Its files, in order."""
        for line in self.payload.decode("utf-8", "surrogateescape").split("\n")[:-1]:
            mtime, size, key = line.split("\t", 2)
            yield Entry(_plain(key), int(size), int(mtime))


def encode_frame(first: int, entries: Iterable[Entry]) -> bytes:
    """The bytes of a frame."""
    lines = [f"{e.mtime}\t{e.size}\t{e.key.translate(_ESCAPES)}\n" for e in entries]
    payload = "".join(lines).encode("utf-8", "surrogateescape")
    return (
        b"F %d %d %d %08x\n" % (first, len(lines), len(payload), _checksum(first, len(lines), payload))
        + payload
    )


def frames(data: bytes) -> Iterator[Frame]:
    """The whole frames of a log up to the first that is torn or does not follow its predecessor."""
    if not data.startswith(MAGIC):
        return
    at, expected = len(MAGIC), 1
    while at < len(data):
        payload_at = data.find(b"\n", at) + 1
        frame = _frame(data[at:payload_at], data[payload_at : payload_at + _size(data[at:payload_at])], at)
        if frame is None or frame.first != expected:
            return
        yield frame
        at, expected = frame.end, frame.first + frame.length


def _size(header: bytes) -> int:
    fields = header.split(b" ")
    return int(fields[3]) if len(fields) == 5 and fields[3].isdigit() else 0


def _frame(header: bytes, payload: bytes, at: int) -> Frame | None:
    """The frame of a header and a payload; None unless both are whole."""
    fields = header.split(b" ")
    if len(fields) != 5 or fields[0] != b"F" or not header.endswith(b"\n"):
        return None
    try:
        first, count, size, checksum = int(fields[1]), int(fields[2]), int(fields[3]), int(fields[4], 16)
    except ValueError:
        return None
    if len(payload) != size or _checksum(first, count, payload) != checksum:
        return None
    return Frame(first, count, at, at + len(header) + size, payload)


def _checksum(first: int, count: int, payload: bytes) -> int:
    return zlib.crc32(payload, zlib.crc32(b"%d %d" % (first, count)))


def _plain(key: str) -> str:
    if "\\" not in key:
        return key
    parts = key.split("\\\\")
    return "\\".join(part.replace("\\n", "\n").replace("\\r", "\r") for part in parts)


class StateLog:
    """The log of one source of one checkpoint: `<checkpoint>/sources/<n>/files.log`."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "files.log"

    def read(self) -> list[Frame]:
        """All whole frames, a torn tail left out; [] for a log that was never written. Changes nothing.

        Raises CF_STATE_INCORRECT_VERSION for a file that is not such a log.
        """
        try:
            data = self.path.read_bytes()
        except FileNotFoundError:
            return []
        if not data.startswith(MAGIC) and not MAGIC.startswith(data):
            raise CloudFilesError(
                "CF_STATE_INCORRECT_VERSION",
                f"{self.path} is not a state log of this version.",
                next_step="Use the version that wrote the checkpoint, or start a new checkpoint.",
            )
        return list(frames(data))

    def frame_at(self, start: int, end: int) -> Frame:
        """The frame in these bytes. Raises CF_STATE_CORRUPTED when it is no longer whole."""
        with self.path.open("rb") as stream:
            stream.seek(start)
            data = stream.read(end - start)
        header = data[: data.find(b"\n") + 1]
        frame = _frame(header, data[len(header) :], start)
        if frame is None:
            raise CloudFilesError(
                "CF_STATE_CORRUPTED",
                f"{self.path} was damaged at byte {start}.",
                next_step="Restore the checkpoint from a copy, or start a new checkpoint.",
            )
        return frame

    def append(self, at: int, first: int, entries: Iterable[Entry]) -> tuple[int, int]:
        """Put a frame behind the first `at` bytes, which drops a torn or forgotten tail; on disk on return.

        `at` 0 starts the log. Gives where the frame starts and ends.
        """
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("r+b" if at else "wb") as stream:
            stream.truncate(at)
            stream.seek(at)
            if not at:
                stream.write(MAGIC)
            start = stream.tell()
            stream.write(encode_frame(first, entries))
            end = stream.tell()
            stream.flush()
            os.fsync(stream.fileno())
        if not at:
            _sync_folder(self.path.parent)
        return start, end


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
