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

import hashlib
import os
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Literal, NamedTuple

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
    head = f"{kind} {first} {len(lines)} {len(payload)} {assigned_at} {committed}"
    return f"{head} {_checksum(head, payload):08x}\n".encode() + payload


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
    for frame in everything[young:]:
        if frame.kind == "A":
            yield encode_cleaned(frame.first, frame.cleaned(), assigned_at=frame.assigned_at)
        else:
            entries = list(frame.entries())
            yield encode_frame(
                frame.first,
                entries,
                kind=frame.kind,
                assigned_at=frame.assigned_at,
                committed=frame.committed,
            )


SkipReason = Literal["SKIPPED_CORRUPTED", "SKIPPED_MISSING"]


@dataclass(frozen=True)
class SkippedFiles:
    """Markers of the files that workers skipped, in one directory, which is created with the first marker.

    One marker per file, because many workers write concurrently. The log has a single writer, the driver.
    """

    folder: Path

    def mark(self, key: str, reason: SkipReason) -> None:
        """Record that a file was skipped, replacing an earlier marker."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self._marker(key).write_text(
            f"{reason}\n{key}", encoding="utf-8", errors="surrogateescape", newline=""
        )

    def unmark(self, keys: Iterable[str]) -> None:
        """Remove markers of files that are read again, after a failed batch or an overwrite."""
        if self.folder.is_dir():
            for key in keys:
                self._marker(key).unlink(missing_ok=True)

    def reasons(self) -> dict[str, str]:
        """Return the reason per skipped file key."""
        reasons: dict[str, str] = {}
        for marker in self.folder.glob("*.note"):
            with marker.open(encoding="utf-8", errors="surrogateescape", newline="") as note:
                reason, _, key = note.read().partition("\n")
            reasons[key] = reason
        return reasons

    def _marker(self, key: str) -> Path:
        name = hashlib.sha256(key.encode(errors="surrogateescape")).hexdigest()
        return self.folder / f"{name}.note"
