"""File contents, decompressed, and what is wrong with them (AL-1.4, AL-3, AL-4.5, AL-6.3).

Corrupt and missing files, malformed records by mode and `badRecordsPath`, fields that the schema lacks.
"""

from __future__ import annotations

import bz2
import gzip
import json
import struct
import uuid
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import TYPE_CHECKING

from lakeward.autoloader.discovery.file_listing import COMPRESSED_SUFFIXES, FileStatus
from lakeward.autoloader.discovery.file_names import FileNames
from lakeward.autoloader.discovery.storage import Storage, open_storage
from lakeward.autoloader.options.option_values import Options
from lakeward.autoloader.readers.batch_builder import FileSpan, FileSpans, to_json
from lakeward.autoloader.state.skipped_files import SkippedFiles, SkipReason
from lakeward.errors import CloudFilesError

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql.types import DataType

    from lakeward.autoloader.read_plan import ReadPlan
    from lakeward.autoloader.readers.batch_builder import BatchBuilder


@dataclass
class BadRecordsWriter:
    """Writes `<dir>/<yyyyMMdd'T'HHmmss>/bad_records/part-…` and `…/bad_files/part-…` as JSON lines.

    As on Databricks the writes are not transactional: a retried task writes them again.
    """

    folder: str
    stamp: str
    _records: list[Mapping[str, str]] = field(default_factory=list)

    @classmethod
    def of(cls, builder: BatchBuilder) -> BadRecordsWriter | None:
        """Create the writer for `badRecordsPath`, None if it is not set."""
        path = builder.options.text("badRecordsPath")
        if not path:
            return None
        return cls(builder.plan.names.local(path), datetime.now(timezone.utc).strftime("%Y%m%dT%H%M%S"))

    def add(self, status: FileStatus, record: bytes, reason: str) -> None:
        """Buffer a record until the next `flush`."""
        text = record.decode("utf-8", "replace")
        self._records.append({"path": FileNames.encode(status.key), "record": text, "reason": reason})

    def add_file(self, status: FileStatus, reason: str) -> None:
        """Write a missing or corrupt file."""
        self._write("bad_files", [{"path": FileNames.encode(status.key), "reason": reason}])

    def flush(self) -> None:
        """Write buffered records."""
        if self._records:
            self._write("bad_records", self._records)
            self._records = []

    def _write(self, kind: str, lines: list[Mapping[str, str]]) -> None:
        from pyarrow.fs import FileSystem, LocalFileSystem

        folder = f"{self.folder.rstrip('/')}/{self.stamp}/{kind}"
        files = LocalFileSystem()
        if "://" in folder:
            files, folder = FileSystem.from_uri(folder.replace("s3a://", "s3://", 1))
        files.create_dir(folder, recursive=True)
        with files.open_output_stream(f"{folder}/part-{uuid.uuid4().hex}") as stream:
            for line in lines:
                stream.write(json.dumps(line, ensure_ascii=False).encode() + b"\n")


_TYPE_MISMATCH = "a value does not have the column's type"


@dataclass(frozen=True)
class MalformedRecordPolicy:
    """How a stream handles malformed records.

    `column` is the name of the corrupt-record column, `declared` whether the schema has it.
    """

    mode: str
    column: str
    declared: bool
    rescues: bool
    bad: BadRecordsWriter | None = None

    @classmethod
    def of(cls, builder: BatchBuilder) -> MalformedRecordPolicy:
        """Create the policy from options and schema."""
        column = str(builder.options.text("columnNameOfCorruptRecord"))
        mode = str(builder.options.value("mode"))
        declared = builder.plan.corrupt is not None
        return cls(mode, column, declared, builder.rescues, BadRecordsWriter.of(builder))

    @property
    def rescues_malformed(self) -> bool:
        """Return whether malformed records go to the rescued column (assumed).

        They do if the schema has no corrupt-record column, so that nothing is lost.
        """
        return self.mode == "PERMISSIVE" and self.rescues and not self.declared and self.bad is None

    def rescued(self, record: bytes) -> dict[str, str]:
        """Return a malformed record as fields of the rescued column."""
        return {self.column: to_json(record.decode("utf-8", "replace"))}

    def check(self, status: FileStatus, text: bytes, reason: str) -> None:
        """Raise for a malformed record in mode FAILFAST."""
        if self.mode != "FAILFAST" or self.bad is not None:
            return
        shown = " ".join(text[:200].decode("utf-8", "replace").split())
        raise CloudFilesError(
            "MALFORMED_RECORD_IN_PARSING",
            f"A malformed record in {FileNames.encode(status.key) or 'a JSON text'}: {reason}: {shown}",
            next_step="Repair the file, or set mode=PERMISSIVE to keep malformed records in a column.",
        )

    def apply(
        self,
        rows: int,
        files: Sequence[FileSpan],
        broken: Mapping[int, bytes],
        misfits: Iterable[int],
        text_of: Callable[[int], bytes],
    ) -> tuple[list[bool] | None, list[str | None] | None]:
        """Return the rows to keep (None: all) and the corrupt-record column (None: all null).

        Args:
            rows: Number of rows of the batch.
            files: Number of rows per file.
            broken: Text of malformed records by row.
            misfits: Rows with a value of another type.
            text_of: Returns the text of a row.
        """
        bad = {**dict.fromkeys(misfits), **broken}
        if not bad:
            return None, None
        spans = FileSpans(files)
        if self.bad is not None:
            for row in sorted(bad):
                text = bad[row]
                reason = _TYPE_MISMATCH if text is None else "it is malformed"
                self.bad.add(spans.file_at(row), text_of(row) if text is None else text, reason)
            self.bad.flush()
        if self.mode == "DROPMALFORMED" or self.bad is not None:
            return [row not in bad for row in range(rows)], None
        if self.mode == "FAILFAST":
            row = min(bad)
            self.check(spans.file_at(row), text_of(row), _TYPE_MISMATCH)
        if not self.declared:
            return None, None
        corrupt: list[str | None] = [None] * rows
        for row, text in bad.items():
            corrupt[row] = (text if text is not None else text_of(row)).decode("utf-8", "replace")
        return None, corrupt


class NewFieldsError(Exception):
    """Fields that the schema lacks, or `types` to which columns must widen. `detail` is for the message."""

    def __init__(
        self, condition: str, detail: str, path: str, types: dict[str, DataType] | None = None
    ) -> None:
        super().__init__(detail)
        self.types = types or {}
        self.condition = condition
        self.detail = detail
        self.path = path


def widen_for_value(plan: ReadPlan, name: str, dtype: DataType, text: str) -> DataType | None:
    """Return the type to which a column widens to hold a value (AL-3.4), None if it cannot.

    A hint pins the type of a column (AL-2.3.7).

    Args:
        plan: The read plan.
        name: Name of the column.
        dtype: Type of the column.
        text: The value.
    """
    if plan.mode != "addNewColumnsWithTypeWidening" or name.lower() in plan.pinned:
        return None
    from lakeward.autoloader.conversion.type_merging import infer_text_type, widen_type

    grown = widen_type(dtype, infer_text_type(text))
    return None if grown == dtype else grown


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
            return _decompress(status.path, data) if self.options.format in _COMPRESSED_FORMATS else data
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


def _decompress(path: str, data: bytes) -> bytes:
    if not path.endswith(COMPRESSED_SUFFIXES):
        return data
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
    return b"".join(_snappy_blocks(data))


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


@dataclass(frozen=True)
class ColumnarFile:
    """An opened file of a format with types."""

    schema: pa.Schema
    batches: Iterator[pa.RecordBatch]


# Opens the content of a file. Raises ValueError or OSError if the content has another format.
FileOpener = Callable[[bytes], ColumnarFile]
