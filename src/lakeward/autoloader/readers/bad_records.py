"""`badRecordsPath` (auto-loader.md §4.5 rule 5): what cannot be read goes to files instead of the result."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import TYPE_CHECKING

from lakeward.autoloader.discovery import FileStatus, Names

if TYPE_CHECKING:
    from lakeward.autoloader.readers.layout import Layout

__all__ = ["BadRecords"]


@dataclass
class BadRecords:
    """`<folder>/<yyyyMMdd'T'HHmmss>/bad_records/part-…` and `…/bad_files/part-…`, JSON lines each.

    As on Databricks no transaction covers them: a task that is run again writes them again.
    """

    folder: str
    stamp: str
    _records: list[Mapping[str, str]] = field(default_factory=list)

    @classmethod
    def of(cls, layout: Layout) -> BadRecords | None:
        """As the option says; None without it."""
        path = layout.options.text("badRecordsPath")
        if not path:
            return None
        return cls(layout.plan.names.local(path), datetime.now(timezone.utc).strftime("%Y%m%dT%H%M%S"))

    def add(self, status: FileStatus, record: bytes, reason: str) -> None:
        """A record; it is written with the next `flush`."""
        text = record.decode("utf-8", "replace")
        self._records.append({"path": Names.shown(status.key), "record": text, "reason": reason})

    def add_file(self, status: FileStatus, reason: str) -> None:
        """A file that is gone or cannot be unpacked."""
        self._write("bad_files", [{"path": Names.shown(status.key), "reason": reason}])

    def flush(self) -> None:
        """Write what was added, if anything."""
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
