"""binaryFile: a row a file, its bytes as they lie there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from lakeward.autoloader.readers.files import Contents
from lakeward.autoloader.readers.layout import Layout

if TYPE_CHECKING:
    from lakeward.autoloader.discovery import FileStatus

__all__ = ["BinaryReader"]

FILES = 10_000
BYTES = 32 << 20


class BinaryReader:
    """Reads the files of one task."""

    def __init__(self, layout: Layout, contents: Contents) -> None:
        self._layout = layout
        self._contents = contents

    def read(self, files: list[FileStatus]) -> Iterator[pa.RecordBatch]:
        """Record batches of many small files, or of a large one."""
        taken: list[tuple[FileStatus, bytes]] = []
        size = 0
        for status in files:
            data = self._contents.of(status)
            if data is None:
                continue
            taken.append((status, data))
            size += len(data)
            if size >= BYTES or len(taken) >= FILES:
                yield self._batch(taken)
                taken, size = [], 0
        if taken:
            yield self._batch(taken)

    def _batch(self, taken: list[tuple[FileStatus, bytes]]) -> pa.RecordBatch:
        facts: dict[str, list[Any]] = {
            "path": [status.key for status, _ in taken],
            "modificationTime": [status.mtime // 1000 * 1000 for status, _ in taken],
            "length": [len(data) for _, data in taken],
            "content": [data for _, data in taken],
        }
        arrays = {
            name: pa.array(facts[name], self._layout.arrow.field(name).type)
            for name in self._layout.data
            if name in facts
        }
        return self._layout.batch(arrays, [(status, 1) for status, _ in taken], None, None)
