"""File contents, decompressed; missing and corrupt files (AL-1.4, AL-6.3)."""

from __future__ import annotations

import bz2
import gzip
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field

from lakeward.autoloader.discovery import FileNames, FileStatus, Storage, open_storage
from lakeward.autoloader.options import Options
from lakeward.autoloader.readers.parse_modes import BadRecordsWriter
from lakeward.autoloader.state import SkippedFiles, SkipReason
from lakeward.errors import CloudFilesError

# Other formats compress internally, or are loaded without decompression.
_COMPRESSED_FORMATS = ("csv", "json", "text", "xml")


@dataclass
class FileContents:
    """Reads whole files; the options decide whether missing and corrupt ones are errors."""

    options: Options
    bad: BadRecordsWriter | None = None
    skips: SkippedFiles | None = None
    _storages: dict[str, Storage] = field(default_factory=dict)

    def of(self, status: FileStatus) -> bytes | None:
        """Return the decompressed content, None if the file is skipped; raise CloudFilesError."""
        scheme = status.path.partition("://")[0] if "://" in status.path else ""
        storage = self._storages.get(scheme)
        if storage is None:
            storage = self._storages.setdefault(scheme, open_storage(status.path))
        try:
            data = storage.read(status.path)
            return _decompress(status.path, data) if self.options.format in _COMPRESSED_FORMATS else data
        except FileNotFoundError:
            if self._set_aside(status, "it is gone") or self.options.flag("ignoreMissingFiles"):
                self._note(status, "SKIPPED_MISSING")
                return None
            raise CloudFilesError(
                "CF_FILE_NOT_FOUND",
                f"The file {FileNames.encode(status.key)} was discovered, but does not exist any more.",
                next_step="Restore it, or set ignoreMissingFiles=true to skip it.",
            ) from None
        except (EOFError, OSError, zlib.error, struct.error, ValueError) as error:
            if self._set_aside(status, str(error)):
                self._note(status, "SKIPPED_CORRUPTED")
            else:
                self.skip_corrupt(status, error)
            return None

    def skip_corrupt(self, status: FileStatus, error: Exception) -> None:
        """Record a corrupt file as skipped; raise CloudFilesError if the options do not allow it."""
        if not self.options.flag("ignoreCorruptFiles"):
            raise corrupt_file_error(status, str(error)) from None
        self._note(status, "SKIPPED_CORRUPTED")

    def _note(self, status: FileStatus, reason: SkipReason) -> None:
        if self.skips is not None:
            self.skips.mark(status.key, reason)

    def _set_aside(self, status: FileStatus, reason: str) -> bool:
        if self.bad is not None:
            self.bad.add_file(status, reason)
        return self.bad is not None


def corrupt_file_error(status: FileStatus, reason: str) -> CloudFilesError:
    """Return the error for a file that cannot be read."""
    return CloudFilesError(
        "CF_CORRUPT_FILE",
        f"The file {FileNames.encode(status.key)} cannot be read: {' '.join(reason.split())}; "
        "no row of its batch was written.",
        next_step="Repair or remove it, or set ignoreCorruptFiles=true to skip it.",
    )


def _decompress(path: str, data: bytes) -> bytes:
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
    """Decompress Hadoop's framing: blocks of known size in chunks of known compressed size."""
    import pyarrow as pa

    codec = pa.Codec("snappy")
    at = 0
    while at < len(data):
        (missing,) = struct.unpack_from(">I", data, at)
        at += 4
        while missing:
            (packed,) = struct.unpack_from(">I", data, at)
            chunk = data[at + 4 : at + 4 + packed]
            size = _read_varint(chunk)
            yield codec.decompress(chunk, decompressed_size=size, asbytes=True)
            missing -= size
            at += 4 + packed


def _read_varint(chunk: bytes) -> int:
    """Return the uncompressed size, which precedes a snappy chunk."""
    size = 0
    for index, byte in enumerate(chunk[:5]):
        size |= (byte & 0x7F) << (7 * index)
        if byte < 0x80:
            return size
    raise ValueError("a snappy chunk without a size")
