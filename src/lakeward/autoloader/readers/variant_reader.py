"""`singleVariantColumn`: each JSON or XML record as one VARIANT value (AL-1.5)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from lakeward.autoloader.readers.batch_builder import BatchBuilder, to_json
from lakeward.autoloader.readers.file_contents import FileContents
from lakeward.autoloader.readers.json_text import InvalidJson, JsonText
from lakeward.autoloader.readers.malformed_records import MalformedRecordPolicy
from lakeward.autoloader.readers.xml_records import BrokenRecord, XmlText
from lakeward.autoloader.readers.xml_values import XmlRules, to_plain_values

if TYPE_CHECKING:
    from lakeward.autoloader.discovery.file_listing import FileStatus

ROWS = 5_000


class VariantReader:
    """Reads the files of one task."""

    def __init__(self, builder: BatchBuilder, contents: FileContents) -> None:
        self._builder = builder
        self._contents = contents
        self._policy = MalformedRecordPolicy.of(builder)
        self._column = str(builder.options.text("singleVariantColumn"))

    def read(self, files: list[FileStatus]) -> Iterator[pa.RecordBatch]:
        """Yield record batches, file by file."""
        for status, data in self._contents.read_all(files):
            records = self._texts(data)
            while part := [record for _, record in zip(range(ROWS), records, strict=False)]:
                yield self._batch(status, part)

    def _texts(self, data: bytes) -> Iterator[tuple[bytes, str | None]]:
        """Yield each record verbatim and as JSON, None for a malformed one."""
        if self._builder.options.format == "xml":
            rules = XmlRules.of(self._builder.options)
            for record in XmlText.of(self._builder.options).records(data):
                if isinstance(record, BrokenRecord):
                    yield record.text, None
                else:
                    yield record.outer.encode(), to_json(to_plain_values(record, rules))
            return
        text = JsonText.of(self._builder.options)
        data = text.lines(data)
        for line in [data] if self._builder.options.flag("multiLine") else data.split(b"\n"):
            if line.strip():
                try:
                    yield line, text.value(line).decode()
                except InvalidJson:
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
                self._policy.check(status, source, "it is not a valid VARIANT")
                broken[row] = source
            values.append(None if value is None else {"value": value[0], "metadata": value[1]})
        files = [(status, len(records))]
        kept, corrupt = self._policy.apply(len(records), files, broken, (), lambda row: records[row][0])
        column = pa.array(values, self._builder.arrow.field(self._column).type)
        kept_whole = broken if self._policy.rescues_malformed else {}
        rescued = self._builder.rescued_column_values(
            {row: self._policy.rescued(source) for row, source in kept_whole.items()}, files
        )
        return self._builder.build({self._column: column}, files, rescued, corrupt, kept)
