"""The bytes of a file, unpacked; what happens when it is gone or broken (auto-loader.md §1.4, §6.3)."""

from __future__ import annotations

import bz2
import gzip
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field

from lakeward.autoloader.discovery import FileStatus, Names, Storage, storage_of
from lakeward.autoloader.options import Options
from lakeward.autoloader.readers.bad_records import BadRecords
from lakeward.autoloader.state import Skip, Skips
from lakeward.errors import CloudFilesError

__all__ = ["Contents", "broken"]

# The others compress inside of the file, or are to come out as they are.
_PACKED = ("csv", "json", "text", "xml")


@dataclass
class Contents:
    """Reads whole files; the options say whether missing and corrupt ones are errors."""

    options: Options
    bad: BadRecords | None = None
    skips: Skips | None = None
    _storages: dict[str, Storage] = field(default_factory=dict)

    def of(self, status: FileStatus) -> bytes | None:
        """The unpacked bytes; None for a file that the options allow to skip. Raises CloudFilesError."""
        scheme = status.path.partition("://")[0] if "://" in status.path else ""
        storage = self._storages.get(scheme)
        if storage is None:
            storage = self._storages.setdefault(scheme, storage_of(status.path))
        try:
            data = storage.read(status.path)
            return _unpacked(status.path, data) if self.options.format in _PACKED else data
        except FileNotFoundError:
            if self._set_aside(status, "it is gone") or self.options.flag("ignoreMissingFiles"):
                self._note(status, "SKIPPED_MISSING")
                return None
            raise CloudFilesError(
                "CF_FILE_NOT_FOUND",
                f"The file {Names.shown(status.key)} was discovered and is gone.",
                next_step="Put it back, or set ignoreMissingFiles=true to go on without it.",
            ) from None
        except (EOFError, OSError, zlib.error, struct.error, ValueError) as error:
            if self._set_aside(status, str(error)):
                self._note(status, "SKIPPED_CORRUPTED")
            else:
                self.leave_out(status, error)
            return None

    def leave_out(self, status: FileStatus, error: Exception) -> None:
        """Note a corrupt file as skipped. Raises CloudFilesError where the options do not allow that."""
        if not self.options.flag("ignoreCorruptFiles"):
            raise broken(status, str(error)) from None
        self._note(status, "SKIPPED_CORRUPTED")

    def _note(self, status: FileStatus, reason: Skip) -> None:
        if self.skips is not None:
            self.skips.note(status.key, reason)

    def _set_aside(self, status: FileStatus, reason: str) -> bool:
        if self.bad is not None:
            self.bad.add_file(status, reason)
        return self.bad is not None


def broken(status: FileStatus, reason: str) -> CloudFilesError:
    """The error for a file that cannot be read."""
    return CloudFilesError(
        "CF_CORRUPT_FILE",
        f"The file {Names.shown(status.key)} cannot be read: {' '.join(reason.split())}; "
        "nothing of its batch was written.",
        next_step="Repair or remove it, or set ignoreCorruptFiles=true to go on without it.",
    )


def _unpacked(path: str, data: bytes) -> bytes:
    if path.endswith(".gz"):
        return gzip.decompress(data)
    if path.endswith(".bz2"):
        return bz2.decompress(data)
    if path.endswith((".zst", ".zstd")):
        import pyarrow as pa

        with pa.CompressedInputStream(pa.BufferReader(data), "zstd") as stream:
            return bytes(stream.read())
    if path.endswith(".deflate"):
        return zlib.decompress(data)
    if path.endswith(".snappy"):
        return b"".join(_snappy_blocks(data))
    return data


def _snappy_blocks(data: bytes) -> Iterator[bytes]:
    """Hadoop's framing: blocks of a known unpacked size, each in chunks of a known packed size."""
    import pyarrow as pa

    codec = pa.Codec("snappy")
    at = 0
    while at < len(data):
        (missing,) = struct.unpack_from(">I", data, at)
        at += 4
        while missing:
            (packed,) = struct.unpack_from(">I", data, at)
            chunk = data[at + 4 : at + 4 + packed]
            size = _varint(chunk)
            yield codec.decompress(chunk, decompressed_size=size, asbytes=True)
            missing -= size
            at += 4 + packed


def _varint(chunk: bytes) -> int:
    """The unpacked size, with which a snappy chunk begins."""
    size = 0
    for index, byte in enumerate(chunk[:5]):
        size |= (byte & 0x7F) << (7 * index)
        if byte < 0x80:
            return size
    raise ValueError("a snappy chunk without a size")
