"""The JSON reader: JSON lines, and whole documents with `multiLine`.

Arrow parses large files whose records all match the schema; msgspec decodes smaller ones as a whole, and
records with members that the schema lacks, once one of them has named these. A line that does not match
(value of another type, malformed text) is parsed member by member, and so are texts that Arrow and Spark read
differently: `NaN`, several records in a line, records across lines.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import msgspec
import pyarrow as pa

from lakeward.autoloader.conversion.text_columns import parse_column
from lakeward.autoloader.conversion.text_formats import TextFormats
from lakeward.autoloader.readers.batch_builder import BatchBuilder, FileSpans, join_json_object, to_json
from lakeward.autoloader.readers.file_contents import FileContents
from lakeward.autoloader.readers.json_fast_path import TIMES, JsonFastPath
from lakeward.autoloader.readers.json_rows import RowBuffer
from lakeward.autoloader.readers.json_text import (
    InvalidJson,
    JsonText,
    count_object_lines,
    parts_of_lines,
    raw_members,
)
from lakeward.autoloader.readers.json_values import (
    MatchRules,
    json_value_reader,
    msgspec_record_type,
    msgspec_type,
    raw_strings,
    rescued_json_value,
)
from lakeward.autoloader.readers.malformed_records import MalformedRecordPolicy
from lakeward.autoloader.readers.new_fields import NewFieldsError, widen_for_value

if TYPE_CHECKING:
    from lakeward.autoloader.discovery.file_listing import FileStatus


ROWS = 20_000
BYTES = 16 << 20
# Names of members without a column that one task decodes with its records.
_MAX_UNKNOWN = 50


class JsonReader:
    """Reads the files of one task."""

    def __init__(self, builder: BatchBuilder, contents: FileContents) -> None:
        self._builder = builder
        self._contents = contents
        self._text = JsonText.of(builder.options)
        self._multi_line = builder.options.flag("multiLine")
        self._formats = TextFormats.of(builder.options, builder.plan.time_zone)
        self._policy = MalformedRecordPolicy.of(builder)
        self._plain = JsonFastPath(builder, self._formats)
        self._names = list(builder.data)
        self._attribute = {name: f"f{i}" for i, name in enumerate(self._names)}
        self._raw: set[str] = set()
        self._unknown: list[str] = []
        rules = MatchRules(builder.plan.case_sensitive, report_unknown=builder.rescues)
        self._reads = {
            name: json_value_reader(dtype, self._formats, rules) for name, dtype in builder.data.items()
        }
        self._shape()
        self._rows = RowBuffer()

    def _shape(self) -> None:
        kinds: dict[str, Any] = {}
        for name, dtype in self._builder.data.items():
            kind = str | None if dtype.typeName() in TIMES else msgspec_type(dtype)
            if kind is None or name in self._raw:
                self._raw.add(name)
                kind = msgspec.Raw
            kinds[name] = kind
        self._type = msgspec_record_type(kinds, self._unknown)
        self._decoder = msgspec.json.Decoder(self._type)

    def read(self, files: list[FileStatus]) -> Iterator[pa.RecordBatch]:
        """Yield record batches of many files, or of a part of one.

        Lines of a large file are read in parts: the values of a line need many times its memory.
        """
        for status, data in self._contents.read_all(files):
            lines = self._text.lines(data)
            for part in [lines] if self._multi_line else parts_of_lines(lines, BYTES):
                plain = None if self._multi_line else self._plain.batches(status, part)
                if plain is not None:
                    yield from plain
                    continue
                self._add(status, part)
                if len(self._rows.records) >= ROWS or self._rows.size >= BYTES:
                    yield self._flush()
        if self._rows.records:
            yield self._flush()

    def read_values(self, status: FileStatus, texts: Sequence[bytes]) -> pa.RecordBatch:
        """Return a row for each text, which is one object or malformed; `status` is for messages."""
        for text in texts:
            self._add_slowly(status, text)
            if len(self._rows.records) == self._rows.ended:
                # Comments without a value.
                self._rows.records.append(self._type())
            self._rows.end_text(status, text)
        return self._flush()

    def _add(self, status: FileStatus, data: bytes) -> None:
        if self._multi_line:
            if data.strip():
                self._add_slowly(status, data)
        else:
            records = self._all_of(data)
            if records is None:
                self._add_lines(status, data)
            else:
                self._rows.records += records
        self._rows.end_text(status, data)

    def _all_of(self, data: bytes) -> list[Any] | None:
        """Return the records of a text with one record per line, None for any other text."""
        lines = count_object_lines(data)
        try:
            records = None if lines is None else self._decoder.decode_lines(data)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return None
        return None if records is None or len(records) != lines else records

    def _add_lines(self, status: FileStatus, data: bytes) -> None:
        decode, before, unknown = self._decoder.decode, len(self._rows.slow), len(self._unknown)
        for text in data.split(b"\n"):
            if not text.strip(b" \t\r"):
                continue
            try:
                record = decode(text)
            except (msgspec.DecodeError, UnicodeDecodeError):
                # Unchanged, with trailing blanks: a truncated line is kept verbatim.
                self._add_slowly(status, text)
                if len(self._unknown) > unknown:
                    self._shape()
                    decode, unknown = self._decoder.decode, len(self._unknown)
            else:
                self._rows.add(record, self._rows.lines, text)
        if len(self._rows.slow) > before:
            self._loosen(list(self._rows.slow)[before:])

    def _loosen(self, rows: list[int]) -> None:
        """Read string columns with other values raw from now on, so that numbers keep their spelling."""
        strings = {
            n for n, t in self._builder.data.items() if t.typeName() == "string" and n not in self._raw
        }
        loosened = {
            name
            for name in strings
            for row in rows
            if (value := getattr(self._rows.records[row], self._attribute[name])) is not None
            and bytes(value)[:1] not in (b'"', b"n")
        }
        if loosened:
            self._raw |= loosened
            self._shape()

    def _add_slowly(self, status: FileStatus, line: bytes) -> None:
        try:
            records = self._text.members(line)
        except InvalidJson as error:
            self._policy.check(status, line, str(error))
            self._rows.add(self._type(), self._rows.broken, line)
            return
        for members in records:
            self._rows.add(self._record(status, members), self._rows.slow, line)

    def _record(self, status: FileStatus, members: dict[str, bytes]) -> Any:
        """Return a record of raw values; members without a column are rescued or fail the stream."""
        builder, values, unknown = self._builder, {}, {}
        for key, raw in members.items():
            name = key
            if key not in self._attribute:
                near = builder.by_lower_name.get(key.lower())
                if near is None or builder.plan.case_sensitive:
                    if near is None and key not in builder.plan.partitions:
                        unknown[key] = raw
                    if raw != b"null":
                        self._rows.rescue(len(self._rows.records), key, rescued_json_value(raw))
                    if key not in self._unknown and len(self._unknown) < _MAX_UNKNOWN:
                        self._unknown.append(key)
                    continue
                name = near
            values[self._attribute[name]] = msgspec.Raw(raw)
        if unknown and builder.plan.mode not in ("none", "rescue"):
            shown = join_json_object((key, raw.decode()) for key, raw in unknown.items())
            raise NewFieldsError("NEW_FIELDS_IN_RECORD_WITH_FILE_PATH", shown, status.key)
        return self._type(**values)

    def _rescue_unknown(self) -> None:
        """Rescue the members without a column that were decoded with their records."""
        attributes = [(name, f"u{i}") for i, name in enumerate(self._unknown)]
        # Such members often have few values.
        texts: dict[bytes, str] = {}
        for row, record in enumerate(self._rows.records):
            # A record that was decoded before its name was known has no such attribute.
            found = {
                name: bytes(raw) for name, a in attributes if (raw := getattr(record, a, None)) is not None
            }
            if len(found) > 1:
                found = {name: found[name] for name in raw_members(self._rows.line_of(row)) if name in found}
            for name, raw in found.items():
                if raw != b"null":
                    if raw not in texts:
                        texts[raw] = rescued_json_value(raw)
                    self._rows.rescue(row, name, texts[raw])

    def _flush(self) -> pa.RecordBatch:
        if self._unknown:
            self._rescue_unknown()
        columns = {name: self._column(name) for name in self._names}
        rows, self._rows = self._rows, RowBuffer()
        files = rows.files
        if self._policy.rescues_malformed:
            rows.rescued.update((row, self._policy.rescued(line)) for row, line in rows.broken.items())
        rescued = self._builder.rescued_column_values(rows.rescued, files) if self._builder.rescues else None
        kept, corrupt = self._policy.apply(
            len(rows.records), files, rows.broken, sorted(rows.misfits), rows.line_of
        )
        return self._builder.build(columns, files, rescued, corrupt, kept)

    def _column(self, name: str) -> pa.Array:
        attribute, dtype = self._attribute[name], self._builder.data[name]
        arrow_type = self._builder.arrow.field(name).type
        values = list(map(attrgetter(attribute), self._rows.records))
        if name in self._raw and dtype.typeName() == "string":
            texts = raw_strings(values)
            if texts is not None:
                return texts
        read = self._reads[name]
        for row in range(len(values)) if name in self._raw else self._rows.slow:
            raw = values[row]
            if isinstance(raw, msgspec.Raw):
                values[row], problem = read(bytes(raw))
                if problem is not None:
                    self._mark(row, name, problem)
        if dtype.typeName() in TIMES:
            return self._times(name, values, arrow_type)
        if dtype.typeName() in ("struct", "array"):
            values = msgspec.to_builtins(values, builtin_types=(bytes,)) if name not in self._raw else values
        return pa.array(values, arrow_type)

    def _times(self, name: str, values: list[Any], arrow_type: pa.DataType) -> pa.Array:
        if any(isinstance(value, int) for value in values):
            texts = [value if isinstance(value, str) else None for value in values]
        else:
            texts = values
        column, bad = parse_column(texts, self._builder.data[name], arrow_type, self._formats)
        for row in bad:
            self._mark(row, name, to_json(values[row]))
        if texts is values:
            return column
        whole = column.cast(pa.int32() if arrow_type == pa.date32() else pa.int64()).to_pylist()
        return pa.array(
            [value if isinstance(value, int) else known for value, known in zip(values, whole, strict=True)],
            arrow_type,
        )

    def _mark(self, row: int, name: str, problem: str) -> None:
        grown = widen_for_value(self._builder.plan, name, self._builder.data[name], problem)
        if grown is not None:
            condition = "NEW_FIELDS_AND_WIDENED_TYPES_IN_RECORD_WITH_FILE_PATH"
            raise NewFieldsError(
                condition,
                f'{{"{name}":{problem}}}',
                FileSpans(self._rows.files).file_at(row).key,
                {name: grown},
            )
        if self._builder.rescues:
            self._rows.rescue(row, name, problem)
        else:
            self._rows.misfits.add(row)
