"""File contents, decompressed; corrupt and missing files are skipped or errors (AL-1.4, AL-6.3)."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from lakeward.autoloader.discovery.file_listing import FileStatus
from lakeward.autoloader.discovery.file_names import FileNames
from lakeward.autoloader.discovery.storage import Storage, open_storage
from lakeward.autoloader.options.option_values import Options
from lakeward.autoloader.readers.decompression import decompress
from lakeward.autoloader.readers.malformed_records import BadRecordsWriter
from lakeward.autoloader.state.skipped_files import SkippedFiles, SkipReason
from lakeward.errors import CloudFilesError

if TYPE_CHECKING:
    import pyarrow as pa


# Other formats compress internally, or are loaded without decompression.
_COMPRESSED_FORMATS = ("csv", "json", "text", "xml")


@dataclass
class FileContents:
    """Reads whole files; the options decide whether missing and corrupt ones are errors."""

    options: Options
    bad: BadRecordsWriter | None = None
    skips: SkippedFiles | None = None
    _storages: dict[str, Storage] = field(default_factory=dict)

    def read_all(self, files: Iterable[FileStatus]) -> Iterator[tuple[FileStatus, bytes]]:
        """Yield the files that are not skipped with their contents, each when it is needed; raise as `of`."""
        for status in files:
            data = self.of(status)
            if data is not None:
                yield status, data

    def of(self, status: FileStatus) -> bytes | None:
        """Return the decompressed content, None if the file is skipped; raise CloudFilesError."""
        scheme = status.path.partition("://")[0] if "://" in status.path else ""
        storage = self._storages.get(scheme)
        if storage is None:
            storage = self._storages.setdefault(scheme, open_storage(status.path))
        try:
            if status.part is not None:
                return _read_part(storage, status)
            data = storage.read(status.path)
            return decompress(status.path, data) if self.options.format in _COMPRESSED_FORMATS else data
        except FileNotFoundError:
            if self._set_aside(status, "it is gone") or self.options.flag("ignoreMissingFiles"):
                self._note(status, "SKIPPED_MISSING")
                return None
            raise missing_file_error(FileNames.encode(status.key)) from None
        except (EOFError, OSError, zlib.error, struct.error, ValueError) as error:
            self.skip_corrupt(status, error)
            return None

    def skip_corrupt(self, status: FileStatus, error: Exception) -> None:
        """Record a corrupt file as skipped; raise CloudFilesError if the options do not allow it."""
        if not (self._set_aside(status, str(error)) or self.options.flag("ignoreCorruptFiles")):
            raise corrupt_file_error(FileNames.encode(status.key), str(error)) from None
        self._note(status, "SKIPPED_CORRUPTED")

    def _note(self, status: FileStatus, reason: SkipReason) -> None:
        if self.skips is not None:
            self.skips.mark(status.key, reason)

    def _set_aside(self, status: FileStatus, reason: str) -> bool:
        if self.bad is not None:
            self.bad.add_file(status, reason)
        return self.bad is not None


def _read_part(storage: Storage, status: FileStatus) -> bytes:
    """Return the lines of a part; raise CloudFilesError if the file is not the one that was divided."""
    data = storage.read(status.path, status.part)
    if storage.stat(status.path, fresh=True) != (status.size, status.mtime):
        raise changed_file_error(FileNames.encode(status.key))
    return data


def missing_file_error(shown: str) -> CloudFilesError:
    """Return the error for a file that was deleted after its discovery; `shown` is its name in messages."""
    return CloudFilesError(
        "FAILED_READ_FILE.FILE_NOT_EXIST",
        f"The file {shown} was discovered, but does not exist any more.",
        next_step="Restore it, or set ignoreMissingFiles=true to skip it.",
    )


def corrupt_file_error(shown: str, reason: str) -> CloudFilesError:
    """Return the error for a file that cannot be read."""
    return CloudFilesError(
        "FAILED_READ_FILE.NO_HINT",
        f"The file {shown} cannot be read: {' '.join(reason.split())}; no row of its batch was written.",
        next_step="Repair or remove it, or set ignoreCorruptFiles=true to skip it.",
    )


def changed_file_error(shown: str) -> CloudFilesError:
    """Return the error for a file that is no longer the one for which the batch was planned."""
    return CloudFilesError(
        "CF_FILE_CHANGED",
        f"The file {shown} was changed while its batch was read; no row of the batch was written.",
        next_step="Start the stream again; it reads the file as it is then.",
    )


@dataclass(frozen=True)
class ColumnarFile:
    """An opened file of a format with types.

    Attributes:
        schema: The columns, typed as Spark reads them.
        batches: The rows.
        illegal: Columns with a type that Spark's Parquet reader refuses, and that type.
    """

    schema: pa.Schema
    batches: Iterator[pa.RecordBatch]
    illegal: Mapping[str, str] = field(default_factory=dict)


# Opens the content of a file. Raises ValueError or OSError if the content has another format.
FileOpener = Callable[[bytes], ColumnarFile]
