"""The bytes of a file, unpacked; what happens when it is gone or broken (auto-loader.md §1.4, §6.3)."""

from __future__ import annotations

import bz2
import gzip
import zlib
from dataclasses import dataclass, field

from lakeward.autoloader.discovery import FileStatus, Names, Storage, storage_of
from lakeward.autoloader.options import Options
from lakeward.errors import CloudFilesError

__all__ = ["Contents", "broken"]


@dataclass
class Contents:
    """Reads whole files; the options say whether missing and corrupt ones are errors."""

    options: Options
    _storages: dict[str, Storage] = field(default_factory=dict)

    def of(self, status: FileStatus) -> bytes | None:
        """The unpacked bytes; None for a file that the options allow to skip. Raises CloudFilesError."""
        scheme = status.path.partition("://")[0] if "://" in status.path else ""
        storage = self._storages.get(scheme)
        if storage is None:
            storage = self._storages.setdefault(scheme, storage_of(status.path))
        try:
            return _unpacked(status.path, storage.read(status.path))
        except FileNotFoundError:
            if self.options.flag("ignoreMissingFiles"):
                return None
            raise CloudFilesError(
                "CF_FILE_NOT_FOUND",
                f"The file {Names.shown(status.key)} was discovered and is gone.",
                next_step="Put it back, or set ignoreMissingFiles=true to go on without it.",
            ) from None
        except (EOFError, OSError, zlib.error, ValueError) as error:
            if self.options.flag("ignoreCorruptFiles"):
                return None
            raise broken(status, str(error)) from None


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
    return data
