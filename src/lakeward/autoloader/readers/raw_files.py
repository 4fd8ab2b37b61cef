"""The text and binaryFile readers."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from lakeward.autoloader.readers.batch_builder import BatchBuilder
from lakeward.autoloader.readers.file_contents import FileContents

if TYPE_CHECKING:
    from lakeward.autoloader.discovery.file_listing import FileStatus

TEXT_ROWS = 50_000
TEXT_BYTES = 16 << 20


class TextReader:
    """Reads text files: one row per line, or per file with `wholeText`, into the first data column.

    As in Spark the bytes stay as they are: `encoding` is that of the line separator, and an empty file has no
    row.
    """

    def __init__(self, builder: BatchBuilder, contents: FileContents) -> None:
        self._builder = builder
        self._contents = contents
        options = builder.options
        self._whole = options.flag("wholeText")
        separator, encoding = options.line_separator, options.encoding
        self._separator = None if separator is None else separator.encode(encoding)

    def read(self, files: list[FileStatus]) -> Iterator[pa.RecordBatch]:
        """Yield record batches of many files, or of a part of one."""
        texts: list[bytes] = []
        counts: list[tuple[FileStatus, int]] = []
        size = 0
        for status, data in self._contents.read_all(files):
            rows = self._texts(data)
            for first in range(0, len(rows), TEXT_ROWS):
                part = rows[first : first + TEXT_ROWS]
                texts += part
                counts.append((status, len(part)))
                if len(texts) >= TEXT_ROWS:
                    yield self._batch(texts, counts)
                    texts, counts, size = [], [], 0
            size += len(data)
            if size >= TEXT_BYTES and texts:
                yield self._batch(texts, counts)
                texts, counts, size = [], [], 0
        if texts:
            yield self._batch(texts, counts)

    def _texts(self, data: bytes) -> list[bytes]:
        if self._whole:
            return [data] if data else []
        data = data.removeprefix(codecs.BOM_UTF8)
        if self._separator is None and b"\r" in data:
            data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        lines = data.split(b"\n" if self._separator is None else self._separator)
        # A final line break does not start another line.
        return lines if lines[-1] else lines[:-1]

    def _batch(self, texts: list[bytes], counts: list[tuple[FileStatus, int]]) -> pa.RecordBatch:
        name = next(iter(self._builder.data), None)
        # A view does not check that the bytes are UTF-8, as Spark does not.
        data = {} if name is None else {name: pa.array(texts, pa.binary()).view(pa.string())}
        return self._builder.build(data, counts)


BINARY_FILES = 10_000
BINARY_BYTES = 32 << 20


class BinaryReader:
    """Reads binary files: one row per file that is not empty, as Spark does."""

    def __init__(self, builder: BatchBuilder, contents: FileContents) -> None:
        self._builder = builder
        self._contents = contents

    def read(self, files: list[FileStatus]) -> Iterator[pa.RecordBatch]:
        """Yield record batches of many small files, or of a large one."""
        chosen: list[tuple[FileStatus, bytes]] = []
        size = 0
        for status, data in self._contents.read_all(files):
            if not data:
                continue
            chosen.append((status, data))
            size += len(data)
            if size >= BINARY_BYTES or len(chosen) >= BINARY_FILES:
                yield self._batch(chosen)
                chosen, size = [], 0
        if chosen:
            yield self._batch(chosen)

    def _batch(self, chosen: list[tuple[FileStatus, bytes]]) -> pa.RecordBatch:
        facts: dict[str, list[Any]] = {
            "path": [status.key for status, _ in chosen],
            "modificationTime": [status.mtime // 1000 * 1000 for status, _ in chosen],
            "length": [len(data) for _, data in chosen],
            "content": [data for _, data in chosen],
        }
        arrays = {
            name: pa.array(facts[name], self._builder.arrow.field(name).type)
            for name in self._builder.data
            if name in facts
        }
        return self._builder.build(arrays, [(status, 1) for status, _ in chosen])
