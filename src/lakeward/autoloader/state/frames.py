"""The frames of a state log, to bytes and back.

    lakeward auto loader state 2
    <kind> <first> <count> <bytes> <taken> <committed> <crc32>
    <mtime>\t<size>\t<key>        `count` lines, `bytes` bytes

`F` frames hold taken files, numbered from 1 in the order in which they were taken, so that an offset is one
number. `taken` is when, in milliseconds, `committed` the number of the last file that the sink had committed
by then: a frame says of those before it when they were done. `B` frames are the same for files that were
there at the first start and are left out. Expiry thins frames: `K` and `L` frames keep what is still of use
of `F` and `B` ones that are numbered below `first`, and their `committed` is the time of the commit.
An `A` frame holds files that were cleaned away, `<mode>\t<location>\t<key>`. The text is plain so that it can
be looked at.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import BinaryIO, NamedTuple

from lakeward.errors import CloudFilesError

__all__ = [
    "MAGIC",
    "Cleaned",
    "Entry",
    "Frame",
    "encode_cleaned",
    "encode_frame",
    "read_frame",
    "read_frames",
]

MAGIC = b"lakeward auto loader state 2\n"
_ESCAPES = str.maketrans({"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"})
_PLAIN = {"n": "\n", "r": "\r", "t": "\t"}
# A line longer than this is no header.
_HEADER = 200
_CHUNK = 1 << 20


class Entry(NamedTuple):
    """A taken file."""

    key: str
    size: int
    mtime: int


class Cleaned(NamedTuple):
    """A file that was deleted, or moved to `location`."""

    key: str
    mode: str
    location: str


@dataclass(frozen=True)
class Frame:
    """One record of the log, and where it stands there."""

    kind: str
    first: int
    count: int
    taken: int
    committed: int
    start: int
    end: int
    payload: bytes

    @property
    def last(self) -> int:
        """The number of the last file at the end of this frame."""
        return self.first + self.count - 1 if self.is_numbered else self.first - 1

    @property
    def is_numbered(self) -> bool:
        """Whether its files have numbers still."""
        return self.kind in "FB"

    def entries(self) -> Iterator[Entry]:
        """Its files, in order."""
        for fields in self._pieces():
            yield from (
                Entry(key, int(size), int(mtime))
                for mtime, size, key in zip(fields[0::3], fields[1::3], fields[2::3], strict=True)
            )

    def key_lists(self) -> Iterator[list[str]]:
        """The keys of its files, in lists: many times faster than entries."""
        return (fields[2::3] for fields in self._pieces())

    def mtimes(self) -> Iterator[tuple[str, int]]:
        """Keys and modification times."""
        for fields in self._pieces():
            yield from zip(fields[2::3], map(int, fields[0::3]), strict=True)

    def cleaned(self) -> Iterator[Cleaned]:
        """The files of an `A` frame."""
        for fields in self._pieces():
            for mode, location, key in zip(fields[0::3], fields[1::3], fields[2::3], strict=True):
                yield Cleaned(key, mode, location)

    def _pieces(self) -> Iterator[list[str]]:
        """All fields of all lines one behind the other, some megabytes at a time."""
        at = 0
        while at < len(self.payload):
            end = self.payload.find(b"\n", min(at + _CHUNK, len(self.payload) - 1)) + 1
            text = self.payload[at : end - 1].decode("utf-8", "surrogateescape")
            fields = text.replace("\t", "\n").split("\n")
            yield [_plain(field) for field in fields] if "\\" in text else fields
            at = end


def encode_frame(
    first: int, entries: Iterable[Entry], *, taken: int = 0, committed: int = 0, kind: str = "F"
) -> bytes:
    """The bytes of a frame of files."""
    lines = [f"{e.mtime}\t{e.size}\t{e.key.translate(_ESCAPES)}\n" for e in entries]
    return _encode(kind, first, lines, taken, committed)


def encode_cleaned(first: int, files: Iterable[Cleaned], *, taken: int) -> bytes:
    """The bytes of a frame of cleaned files."""
    lines = [f"{f.mode}\t{f.location.translate(_ESCAPES)}\t{f.key.translate(_ESCAPES)}\n" for f in files]
    return _encode("A", first, lines, taken, 0)


def _encode(kind: str, first: int, lines: list[str], taken: int, committed: int) -> bytes:
    payload = "".join(lines).encode("utf-8", "surrogateescape")
    head = f"{kind} {first} {len(lines)} {len(payload)} {taken} {committed}"
    return f"{head} {_checksum(head, payload):08x}\n".encode() + payload


def read_frames(stream: BinaryIO, size: int) -> Iterator[Frame]:
    """The whole frames from the start of a log of `size` bytes up to a torn tail.

    A crash can tear the last frame only. Raises CF_STATE_CORRUPTED for a broken one with others behind it,
    and for one that does not follow its predecessor; CF_STATE_INCORRECT_VERSION for anything but a log of
    this version.
    """
    magic = stream.read(len(MAGIC))
    if magic != MAGIC:
        if MAGIC.startswith(magic):
            return
        raise _foreign(magic)
    at, expected = len(MAGIC), 0
    while at < size:
        header = stream.readline(_HEADER)
        frame, claimed = _frame(header, stream, at, size)
        if frame is None:
            if at + claimed < size:
                raise _damaged(at)
            return
        if expected and frame.first != expected:
            raise _damaged(at)
        yield frame
        at, expected = frame.end, frame.last + 1


def read_frame(stream: BinaryIO, start: int, end: int) -> Frame:
    """The frame in these bytes. Raises CF_STATE_CORRUPTED when it is no longer whole."""
    stream.seek(start)
    frame, _ = _frame(stream.readline(_HEADER), stream, start, end)
    if frame is None or frame.end != end:
        raise _damaged(start)
    return frame


def _frame(header: bytes, stream: BinaryIO, at: int, size: int) -> tuple[Frame | None, int]:
    """The frame that starts with `header`, and how many bytes a broken one would have had."""
    if not header.endswith(b"\n"):
        # A disk may have made room for a frame and not have filled it before the power went.
        is_torn = len(header) < _HEADER or not header.strip(b"\0")
        return None, size if is_torn else len(header)
    fields = header.split()
    try:
        kind = fields[0].decode()
        first, count, length, taken, committed = map(int, fields[1:6])
        checksum = int(fields[6], 16)
    except (ValueError, IndexError):
        return None, len(header)
    end = at + len(header) + length
    if end > size:
        return None, size
    payload = stream.read(length)
    if _checksum(header[: header.rfind(b" ")].decode(), payload) != checksum:
        return None, len(header) + length
    return Frame(kind, first, count, taken, committed, at, end, payload), 0


def _checksum(head: str, payload: bytes) -> int:
    return zlib.crc32(payload, zlib.crc32(head.encode()))


def _plain(field: str) -> str:
    if "\\" not in field:
        return field
    first, *rest = field.split("\\")
    parts = iter(rest)
    return first + "".join(_PLAIN[part[0]] + part[1:] if part else "\\" + next(parts, "") for part in parts)


def _damaged(at: int) -> CloudFilesError:
    return CloudFilesError(
        "CF_STATE_CORRUPTED",
        f"The log of the files that the stream has taken is damaged at byte {at}.",
        next_step="Restore the checkpoint from a copy, or start a new checkpoint.",
    )


def _foreign(magic: bytes) -> CloudFilesError:
    known, _, mine = MAGIC.decode().strip().rpartition(" ")
    text = magic.decode("utf-8", "replace").strip()
    there = f"version {text.removeprefix(known).strip()}" if text.startswith(known) else "something else"
    return CloudFilesError(
        "CF_STATE_INCORRECT_VERSION",
        f"A log of taken files of version {mine} was asked for; the checkpoint holds {there}.",
        next_step="Use the lakeward that wrote the checkpoint, or start a new checkpoint.",
    )
