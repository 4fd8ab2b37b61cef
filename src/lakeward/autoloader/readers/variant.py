"""`singleVariantColumn`: whole records of JSON or XML as one VARIANT each (auto-loader.md §1.5)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from lakeward.autoloader.readers import json_lines
from lakeward.autoloader.readers.files import Contents
from lakeward.autoloader.readers.json_lines import JsonText
from lakeward.autoloader.readers.json_texts import json_text
from lakeward.autoloader.readers.layout import Layout
from lakeward.autoloader.readers.malformed import Malformed
from lakeward.autoloader.readers.xml_records import Broken, XmlText
from lakeward.autoloader.readers.xml_rules import XmlRules, as_plain

if TYPE_CHECKING:
    from lakeward.autoloader.discovery import FileStatus

__all__ = ["VariantReader"]

ROWS = 5_000


class VariantReader:
    """Reads the files of one task."""

    def __init__(self, layout: Layout, contents: Contents) -> None:
        self._layout = layout
        self._contents = contents
        self._policy = Malformed.of(layout)
        self._column = str(layout.options.text("singleVariantColumn"))

    def read(self, files: list[FileStatus]) -> Iterator[pa.RecordBatch]:
        """Record batches, a file after the other."""
        for status in files:
            data = self._contents.of(status)
            if data is None:
                continue
            records = self._texts(data)
            while part := [record for _, record in zip(range(ROWS), records, strict=False)]:
                yield self._batch(status, part)

    def _texts(self, data: bytes) -> Iterator[tuple[bytes, str | None]]:
        """Every record as it stands and as JSON, None for a broken one."""
        if self._layout.options.format == "xml":
            rules = XmlRules.of(self._layout.options)
            for record in XmlText.of(self._layout.options).records(data):
                if isinstance(record, Broken):
                    yield record.text, None
                else:
                    yield record.outer.encode(), json_text(as_plain(record, rules))
            return
        text = JsonText.of(self._layout.options)
        data = text.lines(data)
        for line in [data] if self._layout.options.flag("multiLine") else data.split(b"\n"):
            if line.strip():
                try:
                    yield line, text.value(line).decode()
                except json_lines.Malformed:
                    yield line, None

    def _batch(self, status: FileStatus, records: list[tuple[bytes, str | None]]) -> pa.RecordBatch:
        from pyspark.errors import PySparkException
        from pyspark.sql.variant_utils import VariantUtils

        values: list[Any] = []
        broken: dict[int, bytes] = {}
        for row, (source, text) in enumerate(records):
            try:
                value = None if text is None else VariantUtils.parse_json(text)
            except (PySparkException, ValueError):
                value = None
            if value is None:
                self._policy.check(status, source, "it is not a VARIANT")
                broken[row] = source
            values.append(None if value is None else {"value": value[0], "metadata": value[1]})
        files = [(status, len(records))]
        kept, corrupt = self._policy.apply(len(records), files, broken, (), lambda row: records[row][0])
        column = pa.array(values, self._layout.arrow.field(self._column).type)
        kept_whole = broken if self._policy.rescues_broken else {}
        rescued = self._layout.rescued_texts(
            {row: self._policy.rescued(source) for row, source in kept_whole.items()}, files
        )
        batch = self._layout.batch({self._column: column}, files, rescued, corrupt)
        return batch if kept is None else batch.filter(pa.array(kept))
