"""Malformed records by mode and `badRecordsPath` (AL-4.5, AL-6.3)."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import TYPE_CHECKING

from lakeward.autoloader.discovery.file_listing import FileStatus
from lakeward.autoloader.discovery.file_names import FileNames
from lakeward.autoloader.readers.batch_builder import FileSpan, FileSpans, to_json
from lakeward.errors import CloudFilesError

if TYPE_CHECKING:
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
