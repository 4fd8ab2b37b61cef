r"""The state log: which files a stream has processed, as append-only frames in its checkpoint.

    lakeward auto loader state 2
    <kind> <first> <count> <bytes> <assigned_at> <committed> <crc32>
    <mtime>\t<size>\t<key>        `count` lines, `bytes` bytes

`F` frames hold files assigned to a batch. Files are numbered from 1 in the order of assignment, so that an
offset is one number. `assigned_at` is the time of assignment in milliseconds. `committed` is the number of
the last file that the sink had committed by then; it dates the commit of the frames before it.
`B` frames hold files that existed at the first start and are excluded (`includeExistingFiles=false`).
`K` and `L` frames are what expiry keeps of `F` and `B` frames; their files have no numbers any more (all are
below `first`), and `committed` is the time of the commit.
`A` frames hold cleaned files, `<mode>\t<location>\t<key>`. The log is plain text for inspection.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import BinaryIO, NamedTuple

from lakeward.errors import CloudFilesError

MAGIC = b"lakeward auto loader state 2\n"
_ESCAPES = str.maketrans({"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"})
_UNESCAPED = {"n": "\n", "r": "\r", "t": "\t"}
# Longer lines are not headers.
_MAX_HEADER = 200
_CHUNK = 1 << 20


class FileEntry(NamedTuple):
    """A processed file."""

    key: str
    size: int
    mtime: int


class CleanedFile(NamedTuple):
    """A file that was deleted, or moved to `location`."""

    key: str
    mode: str
    location: str


@dataclass(frozen=True)
class Frame:
    """One record of the log and its byte range."""

    kind: str
    first: int
    count: int
    assigned_at: int
    committed: int
    start: int
    end: int
    payload: bytes

    @property
    def last(self) -> int:
        """Return the number of the last file of this frame."""
        return self.first + self.count - 1 if self.is_numbered else self.first - 1

    @property
    def is_numbered(self) -> bool:
        """Return whether the files of this frame still have numbers."""
        return self.kind in "FB"

    def encode(self) -> bytes:
        """Return the frame as it is in the log."""
        numbers = f"{self.count} {len(self.payload)} {self.assigned_at} {self.committed}"
        head = f"{self.kind} {self.first} {numbers}"
        return f"{head} {_checksum(head, self.payload):08x}\n".encode() + self.payload

    def entries(self) -> Iterator[FileEntry]:
        """Yield the files in order."""
        for fields in self._pieces():
            yield from (
                FileEntry(key, int(size), int(mtime))
                for mtime, size, key in zip(fields[0::3], fields[1::3], fields[2::3], strict=True)
            )

    def key_lists(self) -> Iterator[list[str]]:
        """Yield the keys of the files in lists; much faster than `entries`."""
        return (fields[2::3] for fields in self._pieces())

    def mtimes(self) -> Iterator[tuple[str, int]]:
        """Yield keys and modification times."""
        for fields in self._pieces():
            yield from zip(fields[2::3], map(int, fields[0::3]), strict=True)

    def cleaned(self) -> Iterator[CleanedFile]:
        """Yield the files of an `A` frame."""
        for fields in self._pieces():
            for mode, location, key in zip(fields[0::3], fields[1::3], fields[2::3], strict=True):
                yield CleanedFile(key, mode, location)

    def _pieces(self) -> Iterator[list[str]]:
        """Yield the fields of all lines as flat lists, one list per chunk of the payload."""
        at = 0
        while at < len(self.payload):
            end = self.payload.find(b"\n", min(at + _CHUNK, len(self.payload) - 1)) + 1
            text = self.payload[at : end - 1].decode("utf-8", "surrogateescape")
            fields = text.replace("\t", "\n").split("\n")
            yield [_unescape(field) for field in fields] if "\\" in text else fields
            at = end


def encode_frame(
    first: int, entries: Iterable[FileEntry], *, assigned_at: int = 0, committed: int = 0, kind: str = "F"
) -> bytes:
    """Encode a frame of files.

    Args:
        first: Number of the first file.
        entries: The files.
        assigned_at: Time of assignment in milliseconds.
        committed: See the module.
        kind: See the module.
    """
    lines = [f"{e.mtime}\t{e.size}\t{e.key.translate(_ESCAPES)}\n" for e in entries]
    return _encode(kind, first, lines, assigned_at, committed)


def encode_cleaned(first: int, files: Iterable[CleanedFile], *, assigned_at: int) -> bytes:
    """Encode a frame of cleaned files."""
    lines = [f"{f.mode}\t{f.location.translate(_ESCAPES)}\t{f.key.translate(_ESCAPES)}\n" for f in files]
    return _encode("A", first, lines, assigned_at, 0)


def _encode(kind: str, first: int, lines: list[str], assigned_at: int, committed: int) -> bytes:
    payload = "".join(lines).encode("utf-8", "surrogateescape")
    return Frame(kind, first, len(lines), assigned_at, committed, 0, 0, payload).encode()


def read_frames(stream: BinaryIO, size: int) -> Iterator[Frame]:
    """Yield the valid frames of a log of `size` bytes, up to a torn tail.

    A crash can only tear the last frame. Raises CF_LOG_FILE_MALFORMED for an invalid frame before the end and
    for a frame that does not continue its predecessor, CF_UNSUPPORTED_LOG_VERSION for another format or
    version.
    """
    magic = stream.read(len(MAGIC))
    if magic != MAGIC:
        if MAGIC.startswith(magic):
            return
        raise _incorrect_version(magic)
    at, expected = len(MAGIC), 0
    while at < size:
        header = stream.readline(_MAX_HEADER)
        frame, claimed = _frame(header, stream, at, size)
        if frame is None:
            if at + claimed < size:
                raise _corrupted_state(at)
            return
        if expected and frame.first != expected:
            raise _corrupted_state(at)
        yield frame
        at, expected = frame.end, frame.last + 1


def read_frame(stream: BinaryIO, start: int, end: int) -> Frame:
    """Return the frame in a byte range; raise CF_LOG_FILE_MALFORMED if it is invalid."""
    stream.seek(start)
    frame, _ = _frame(stream.readline(_MAX_HEADER), stream, start, end)
    if frame is None or frame.end != end:
        raise _corrupted_state(start)
    return frame


def _frame(header: bytes, stream: BinaryIO, at: int, size: int) -> tuple[Frame | None, int]:
    """Return the frame that starts with `header`, or None and the claimed length of the invalid frame."""
    if not header.endswith(b"\n"):
        # After a power failure the file may end in zeros: allocated but never written.
        is_torn = len(header) < _MAX_HEADER or not header.strip(b"\0")
        return None, size if is_torn else len(header)
    fields = header.split()
    try:
        kind = fields[0].decode()
        first, count, length, assigned_at, committed = map(int, fields[1:6])
        checksum = int(fields[6], 16)
    except (ValueError, IndexError):
        return None, len(header)
    end = at + len(header) + length
    if end > size:
        return None, size
    payload = stream.read(length)
    if _checksum(header[: header.rfind(b" ")].decode(), payload) != checksum:
        return None, len(header) + length
    return Frame(kind, first, count, assigned_at, committed, at, end, payload), 0


def _checksum(head: str, payload: bytes) -> int:
    return zlib.crc32(payload, zlib.crc32(head.encode()))


def _unescape(field: str) -> str:
    if "\\" not in field:
        return field
    first, *rest = field.split("\\")
    parts = iter(rest)
    return first + "".join(
        _UNESCAPED[part[0]] + part[1:] if part else "\\" + next(parts, "") for part in parts
    )


def _corrupted_state(at: int) -> CloudFilesError:
    return CloudFilesError(
        "CF_LOG_FILE_MALFORMED",
        f"The log of processed files is corrupted at byte {at}.",
        next_step="Restore the checkpoint from a copy, or start a new checkpoint.",
    )


def _incorrect_version(magic: bytes) -> CloudFilesError:
    known, _, mine = MAGIC.decode().strip().rpartition(" ")
    text = magic.decode("utf-8", "replace").strip()
    there = f"version {text.removeprefix(known).strip()}" if text.startswith(known) else "an unknown format"
    return CloudFilesError(
        "CF_UNSUPPORTED_LOG_VERSION" if text.startswith(known) else "CF_LOG_FILE_MALFORMED",
        f"The state log of the checkpoint has {there}; this release reads version {mine}.",
        next_step="Use the lakeward that wrote the checkpoint, or start a new checkpoint.",
    )
