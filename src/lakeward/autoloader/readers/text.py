"""Text: a row a line, or a file with `wholeText`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pyarrow as pa

from lakeward.autoloader.readers.files import Contents
from lakeward.autoloader.readers.layout import Layout

if TYPE_CHECKING:
    from lakeward.autoloader.discovery import FileStatus

__all__ = ["TextReader"]

ROWS = 50_000
BYTES = 16 << 20


class TextReader:
    """Reads the files of one task; the first data column takes the text."""

    def __init__(self, layout: Layout, contents: Contents) -> None:
        self._layout = layout
        self._contents = contents
        options = layout.options
        self._whole = options.flag("wholeText")
        self._separator = options.text("lineSep")
        self._encoding = options.given.get("charset") or str(options.text("encoding"))

    def read(self, files: list[FileStatus]) -> Iterator[pa.RecordBatch]:
        """Record batches of many files, or of a part of one."""
        texts: list[str] = []
        counts: list[tuple[FileStatus, int]] = []
        size = 0
        for status in files:
            data = self._contents.of(status)
            if data is None:
                continue
            found = self._texts(data)
            for first in range(0, len(found), ROWS):
                part = found[first : first + ROWS]
                texts += part
                counts.append((status, len(part)))
                if len(texts) >= ROWS:
                    yield self._batch(texts, counts)
                    texts, counts, size = [], [], 0
            size += len(data)
            if size >= BYTES and texts:
                yield self._batch(texts, counts)
                texts, counts, size = [], [], 0
        if texts:
            yield self._batch(texts, counts)

    def _texts(self, data: bytes) -> list[str]:
        if data.startswith(b"\xef\xbb\xbf"):
            data = data[3:]
        text = data.decode(self._encoding, "replace")
        if self._whole:
            return [text]
        if self._separator is None and "\r" in text:
            text = text.replace("\r\n", "\n").replace("\r", "\n")
        lines = text.split("\n" if self._separator is None else self._separator)
        # What ends the last line begins no other.
        return lines if lines[-1] else lines[:-1]

    def _batch(self, texts: list[str], counts: list[tuple[FileStatus, int]]) -> pa.RecordBatch:
        name = next(iter(self._layout.data), None)
        data = {} if name is None else {name: pa.array(texts, self._layout.arrow.field(name).type)}
        return self._layout.batch(data, counts, None, None)
