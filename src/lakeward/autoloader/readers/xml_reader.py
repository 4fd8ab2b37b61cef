"""The XML reader: one row per `rowTag` element, validated by `rowValidationXSDPath` (AL-1.5)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from lakeward.autoloader.conversion.text_formats import TextFormats
from lakeward.autoloader.read_plan import ReadPlan
from lakeward.autoloader.readers.batch_builder import BatchBuilder, join_json_object
from lakeward.autoloader.readers.file_contents import FileContents
from lakeward.autoloader.readers.malformed_records import MalformedRecordPolicy
from lakeward.autoloader.readers.new_fields import NewFieldsError, widen_for_value
from lakeward.autoloader.readers.xml_records import BrokenRecord, Element, XmlText
from lakeward.autoloader.readers.xml_values import XmlRules, XmlValueReader
from lakeward.errors import CloudFilesError

if TYPE_CHECKING:
    from lakeward.autoloader.discovery.file_listing import FileStatus


@dataclass(frozen=True)
class Xsd:
    """The XSD that every record must conform to."""

    path: str

    @classmethod
    def of(cls, plan: ReadPlan) -> Xsd | None:
        """Create it from `rowValidationXSDPath`, None if not set; raise CF_INVALID_OPTION_VALUE."""
        path = plan.user_options.text("rowValidationXSDPath")
        if not path:
            return None
        local = plan.names.local(path)
        try:
            _schema(local)
        except Exception as error:  # noqa: BLE001  # the library raises many types
            raise CloudFilesError(
                "CF_INVALID_OPTION_VALUE",
                f"Option rowValidationXSDPath is {path!r}, which is not a valid XSD file: "
                f"{' '.join(str(error).split())[:300]}.",
                next_step="Set it to a readable XSD file.",
            ) from None
        return cls(local)

    def checked(self, record: Element | BrokenRecord) -> Element | BrokenRecord:
        """Return the record, as a BrokenRecord if it does not conform."""
        if isinstance(record, BrokenRecord):
            return record
        error = next(self._errors(record.outer), None)
        if error is None:
            return record
        return BrokenRecord(
            record.outer.encode(), f"it does not conform to the XSD: {' '.join(str(error).split())}"
        )

    def _errors(self, text: str) -> Any:
        from xmlschema import XMLSchemaException

        try:
            for error in _schema(self.path).iter_errors(text):
                yield error.reason
        except (XMLSchemaException, SyntaxError) as error:
            yield error


@cache
def _schema(path: str) -> Any:
    from xmlschema import XMLSchema

    return XMLSchema(Path(path).read_text(encoding="utf-8"), base_url=str(Path(path).parent))


ROWS = 20_000


class XmlReader:
    """Reads the files of one task."""

    def __init__(self, builder: BatchBuilder, contents: FileContents) -> None:
        self._builder = builder
        self._contents = contents
        self._text = XmlText.of(builder.options)
        self._xsd = Xsd.of(builder.plan)
        self._rules = XmlRules.of(builder.options)
        self._policy = MalformedRecordPolicy.of(builder)
        formats = TextFormats.of(builder.options, builder.plan.time_zone)
        self._take = XmlValueReader.of(builder.data, formats, self._rules)
        self._start()

    def _start(self) -> None:
        self._rows: list[dict[str, Any]] = []
        self._sources: list[Element | BrokenRecord] = []
        self._rescued: dict[int, dict[str, str]] = {}
        self._misfits: set[int] = set()
        self._files: list[tuple[FileStatus, int]] = []

    def read(self, files: list[FileStatus]) -> Iterator[pa.RecordBatch]:
        """Yield record batches of many files, or of a part of one."""
        for status, data in self._contents.read_all(files):
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

    def _add(self, status: FileStatus, record: Element | BrokenRecord) -> None:
        row = len(self._rows)
        self._sources.append(record)
        if isinstance(record, BrokenRecord):
            self._policy.check(status, record.text, record.reason)
            self._rows.append({})
            if self._policy.rescues_malformed:
                self._rescued[row] = self._policy.rescued(record.text)
            return
        result = self._take(self._rules.fields(record))
        plan = self._builder.plan
        new = {name: result.rest[name] for name in result.unknown if name not in plan.partitions}
        if new and plan.mode not in ("none", "rescue"):
            raise NewFieldsError(
                "NEW_FIELDS_IN_RECORD_WITH_FILE_PATH", join_json_object(new.items()), status.key
            )
        if result.misfit:
            self._misfits.add(row)
            for name, problem in result.rest.items():
                self._widen(status, name, problem)
        if result.rest:
            self._rescued[row] = result.rest
        self._rows.append(result.value)

    def _widen(self, status: FileStatus, name: str, problem: str) -> None:
        dtype, text = self._builder.data.get(name), json.loads(problem)
        if dtype is None or not isinstance(text, str):
            return
        grown = widen_for_value(self._builder.plan, name, dtype, text)
        if grown is not None:
            condition = "NEW_FIELDS_AND_WIDENED_TYPES_IN_RECORD_WITH_FILE_PATH"
            raise NewFieldsError(condition, f'{{"{name}":{problem}}}', status.key, {name: grown})

    def _flush(self) -> pa.RecordBatch:
        builder = self._builder
        arrays = {
            name: pa.array([row.get(name) for row in self._rows], builder.arrow.field(name).type)
            for name in builder.data
        }
        broken = {
            row: record.text for row, record in enumerate(self._sources) if isinstance(record, BrokenRecord)
        }
        misfits = [] if builder.rescues else sorted(self._misfits)
        kept, corrupt = self._policy.apply(len(self._rows), self._files, broken, misfits, self._text_of)
        rescued = builder.rescued_column_values(self._rescued, self._files) if builder.rescues else None
        batch = builder.build(arrays, self._files, rescued, corrupt, kept)
        self._start()
        return batch

    def _text_of(self, row: int) -> bytes:
        record = self._sources[row]
        return record.text if isinstance(record, BrokenRecord) else record.outer.encode()
