"""XML: a row an element named by `rowTag`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from lakeward.autoloader.readers.convert import Formats
from lakeward.autoloader.readers.drift import NewFields, wider
from lakeward.autoloader.readers.files import Contents
from lakeward.autoloader.readers.json_texts import object_text
from lakeward.autoloader.readers.layout import Layout
from lakeward.autoloader.readers.malformed import Malformed
from lakeward.autoloader.readers.xml_records import Broken, Element, XmlText
from lakeward.autoloader.readers.xml_rules import XmlRules
from lakeward.autoloader.readers.xml_values import Taker
from lakeward.autoloader.readers.xsd import Xsd

if TYPE_CHECKING:
    from lakeward.autoloader.discovery import FileStatus

__all__ = ["XmlReader"]

ROWS = 20_000


class XmlReader:
    """Reads the files of one task."""

    def __init__(self, layout: Layout, contents: Contents) -> None:
        self._layout = layout
        self._contents = contents
        self._text = XmlText.of(layout.options)
        self._xsd = Xsd.of(layout.plan)
        self._rules = XmlRules.of(layout.options)
        self._policy = Malformed.of(layout)
        formats = Formats.of(layout.options, layout.plan.time_zone)
        self._take = Taker.of(layout.data, formats, self._rules)
        self._start()

    def _start(self) -> None:
        self._rows: list[dict[str, Any]] = []
        self._sources: list[Element | Broken] = []
        self._rescued: dict[int, dict[str, str]] = {}
        self._misfits: set[int] = set()
        self._files: list[tuple[FileStatus, int]] = []

    def read(self, files: list[FileStatus]) -> Iterator[pa.RecordBatch]:
        """Record batches of many files, or of a part of one."""
        for status in files:
            data = self._contents.of(status)
            if data is None:
                continue
            records = self._text.records(data)
            if self._xsd is not None:
                records = [self._xsd.checked(record) for record in records]
            for first in range(0, len(records), ROWS):
                part = records[first : first + ROWS]
                for record in part:
                    self._add(status, record)
                self._files.append((status, len(part)))
                if len(self._rows) >= ROWS:
                    yield self._flush()
        if self._rows:
            yield self._flush()

    def _add(self, status: FileStatus, record: Element | Broken) -> None:
        row = len(self._rows)
        self._sources.append(record)
        if isinstance(record, Broken):
            self._policy.check(status, record.text, record.reason)
            self._rows.append({})
            if self._policy.rescues_broken:
                self._rescued[row] = self._policy.rescued(record.text)
            return
        taken = self._take(self._rules.fields(record))
        plan = self._layout.plan
        new = {name: taken.rest[name] for name in taken.unknown if name not in plan.partitions}
        if new and plan.mode not in ("none", "rescue"):
            raise NewFields("NEW_FIELDS_IN_RECORD_WITH_FILE_PATH", object_text(new.items()), status.key)
        if taken.misfit:
            self._misfits.add(row)
            for name, problem in taken.rest.items():
                self._widen(status, name, problem)
        if taken.rest:
            self._rescued[row] = taken.rest
        self._rows.append(taken.value)

    def _widen(self, status: FileStatus, name: str, problem: str) -> None:
        dtype, text = self._layout.data.get(name), json.loads(problem)
        if dtype is None or not isinstance(text, str):
            return
        grown = wider(self._layout.plan, name, dtype, text)
        if grown is not None:
            condition = "NEW_FIELDS_AND_WIDENED_TYPES_IN_RECORD_WITH_FILE_PATH"
            raise NewFields(condition, f'{{"{name}":{problem}}}', status.key, {name: grown})

    def _flush(self) -> pa.RecordBatch:
        layout = self._layout
        arrays = {
            name: pa.array([row.get(name) for row in self._rows], layout.arrow.field(name).type)
            for name in layout.data
        }
        broken = {row: record.text for row, record in enumerate(self._sources) if isinstance(record, Broken)}
        misfits = [] if layout.rescues else sorted(self._misfits)
        kept, corrupt = self._policy.apply(len(self._rows), self._files, broken, misfits, self._text_of)
        rescued = layout.rescued_texts(self._rescued, self._files) if layout.rescues else None
        batch = layout.batch(arrays, self._files, rescued, corrupt)
        self._start()
        return batch if kept is None else batch.filter(pa.array(kept))

    def _text_of(self, row: int) -> bytes:
        record = self._sources[row]
        return record.text if isinstance(record, Broken) else record.outer.encode()
