"""JSON lines, and whole documents with `multiLine`.

Most records fit the schema: whole files of them are decoded by msgspec into records. A line that does not
fit (an unknown member, a value of another type, broken text) is taken apart member by member.
"""

from __future__ import annotations

from collections.abc import Iterator
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import msgspec
import pyarrow as pa

from lakeward.autoloader.readers.convert import Formats, from_texts
from lakeward.autoloader.readers.drift import NewFields, wider
from lakeward.autoloader.readers.files import Contents
from lakeward.autoloader.readers.json_lines import JsonText, Malformed, plain_lines
from lakeward.autoloader.readers.json_plain import PlainJson
from lakeward.autoloader.readers.json_shapes import fast_type, record_type
from lakeward.autoloader.readers.json_texts import json_text, object_text
from lakeward.autoloader.readers.json_values import Rules, as_rescued, reader_of
from lakeward.autoloader.readers.layout import Layout
from lakeward.autoloader.readers.malformed import Malformed as Policy
from lakeward.autoloader.readers.raw_texts import texts_of
from lakeward.autoloader.readers.spans import Span, Spans

if TYPE_CHECKING:
    from lakeward.autoloader.discovery import FileStatus

__all__ = ["JsonReader"]

ROWS = 20_000
BYTES = 16 << 20
_TIMES = ("timestamp", "timestamp_ntz", "date")


class JsonReader:
    """Reads the files of one task."""

    def __init__(self, layout: Layout, contents: Contents) -> None:
        self._layout = layout
        self._contents = contents
        self._text = JsonText.of(layout.options)
        self._multi_line = layout.options.flag("multiLine")
        self._formats = Formats.of(layout.options, layout.plan.time_zone)
        self._policy = Policy.of(layout)
        self._plain = PlainJson(layout, self._formats)
        self._names = list(layout.data)
        self._attribute = {name: f"f{i}" for i, name in enumerate(self._names)}
        self._raw: set[str] = set()
        rules = Rules(layout.plan.case_sensitive, report_unknown=layout.rescues)
        self._reads = {name: reader_of(dtype, self._formats, rules) for name, dtype in layout.data.items()}
        self._shape()
        self._start()

    def _shape(self) -> None:
        kinds: dict[str, Any] = {}
        for name, dtype in self._layout.data.items():
            kind = str | None if dtype.typeName() in _TIMES else fast_type(dtype)
            if kind is None or name in self._raw:
                self._raw.add(name)
                kind = msgspec.Raw
            kinds[name] = kind
        self._type = record_type(kinds)
        self._decoder = msgspec.json.Decoder(self._type)

    def _start(self) -> None:
        self._rows: list[Any] = []
        self._slow: dict[int, bytes] = {}
        self._rescued: dict[int, dict[str, str]] = {}
        self._broken: dict[int, bytes] = {}
        self._spans: list[tuple[FileStatus, int, bytes]] = []
        self._size = 0

    def read(self, files: list[FileStatus]) -> Iterator[pa.RecordBatch]:
        """Record batches of many files, or of a part of one."""
        for status in files:
            data = self._contents.of(status)
            if data is None:
                continue
            plain = None if self._multi_line else self._plain.batches(status, self._text.lines(data))
            if plain is not None:
                yield from plain
                continue
            self._add(status, data)
            self._size += len(data)
            if len(self._rows) >= ROWS or self._size >= BYTES:
                yield self._flush()
        if self._rows:
            yield self._flush()

    def _add(self, status: FileStatus, data: bytes) -> None:
        before = len(self._rows)
        data = self._text.lines(data)
        if self._multi_line:
            if data.strip():
                self._add_slowly(status, data)
        else:
            records = self._all_of(data)
            if records is None:
                self._add_lines(status, data)
            else:
                self._rows += records
        self._spans.append((status, len(self._rows) - before, data))

    def _all_of(self, data: bytes) -> list[Any] | None:
        """The records of a text with one in each line; None where a line is anything else."""
        lines = plain_lines(data)
        try:
            records = None if lines is None else self._decoder.decode_lines(data)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return None
        return None if records is None or len(records) != lines else records

    def _add_lines(self, status: FileStatus, data: bytes) -> None:
        decode, before = self._decoder.decode, len(self._slow)
        for text in data.split(b"\n"):
            if not text.strip(b" \t\r"):
                continue
            try:
                self._rows.append(decode(text))
            except (msgspec.DecodeError, UnicodeDecodeError):
                # As delivered, blanks at the end included: a cut-off line is kept to the letter.
                self._add_slowly(status, text)
        if len(self._slow) > before:
            self._loosen(list(self._slow)[before:])

    def _loosen(self, rows: list[int]) -> None:
        """String columns that hold other values are read one by one from here on: numbers stay as written."""
        strings = {n for n, t in self._layout.data.items() if t.typeName() == "string" and n not in self._raw}
        found = {
            name
            for name in strings
            for row in rows
            if (value := getattr(self._rows[row], self._attribute[name])) is not None
            and bytes(value)[:1] not in (b'"', b"n")
        }
        if found:
            self._raw |= found
            self._shape()

    def _add_slowly(self, status: FileStatus, line: bytes) -> None:
        try:
            records = self._text.members(line)
        except Malformed as error:
            self._policy.check(status, line, str(error))
            self._broken[len(self._rows)] = line
            self._rows.append(self._type())
            return
        for members in records:
            self._slow[len(self._rows)] = line
            self._rows.append(self._record(status, members))

    def _record(self, status: FileStatus, members: dict[str, bytes]) -> Any:
        """A record of raw values; members without a column are rescued, or stop the stream."""
        layout, values, unknown = self._layout, {}, {}
        for key, raw in members.items():
            name = key
            if key not in self._attribute:
                near = layout.by_lower_name.get(key.lower())
                if near is None or layout.plan.case_sensitive:
                    if near is None and key not in layout.plan.partitions:
                        unknown[key] = raw
                    if raw != b"null":
                        self._rescued.setdefault(len(self._rows), {})[key] = as_rescued(raw)
                    continue
                name = near
            values[self._attribute[name]] = msgspec.Raw(raw)
        if unknown and layout.plan.mode not in ("none", "rescue"):
            shown = object_text((key, raw.decode()) for key, raw in unknown.items())
            raise NewFields("NEW_FIELDS_IN_RECORD_WITH_FILE_PATH", shown, status.key)
        return self._type(**values)

    def _flush(self) -> pa.RecordBatch:
        columns = {name: self._column(name) for name in self._names}
        files = self._files
        if self._policy.rescues_broken:
            self._rescued.update((row, self._policy.rescued(line)) for row, line in self._broken.items())
        rescued = self._layout.rescued_texts(self._rescued, files) if self._layout.rescues else None
        kept, corrupt = self._policy.apply(len(self._rows), files, self._broken, self._misfits, self._line_of)
        batch = self._layout.batch(columns, files, rescued, corrupt)
        self._start()
        return batch if kept is None else batch.filter(pa.array(kept))

    @property
    def _misfits(self) -> list[int]:
        """Rows with a value of another type, where no column rescues it: they count as malformed."""
        return sorted(row for row, found in self._rescued.items() if "" in found)

    def _column(self, name: str) -> pa.Array:
        attribute, dtype = self._attribute[name], self._layout.data[name]
        arrow_type = self._layout.arrow.field(name).type
        values = list(map(attrgetter(attribute), self._rows))
        if name in self._raw and dtype.typeName() == "string":
            texts = texts_of(values)
            if texts is not None:
                return texts
        read = self._reads[name]
        for row in range(len(values)) if name in self._raw else self._slow:
            raw = values[row]
            if isinstance(raw, msgspec.Raw):
                values[row], problem = read(bytes(raw))
                if problem is not None:
                    self._mark(row, name, problem)
        if dtype.typeName() in _TIMES:
            return self._times(name, values, arrow_type)
        if dtype.typeName() in ("struct", "array"):
            values = msgspec.to_builtins(values, builtin_types=(bytes,)) if name not in self._raw else values
        return pa.array(values, arrow_type)

    def _times(self, name: str, values: list[Any], arrow_type: pa.DataType) -> pa.Array:
        if any(isinstance(value, int) for value in values):
            texts = [value if isinstance(value, str) else None for value in values]
        else:
            texts = values
        column, bad = from_texts(texts, self._layout.data[name], arrow_type, self._formats)
        for row in bad:
            self._mark(row, name, json_text(values[row]))
        if texts is values:
            return column
        whole = column.cast(pa.int32() if arrow_type == pa.date32() else pa.int64()).to_pylist()
        return pa.array(
            [value if isinstance(value, int) else known for value, known in zip(values, whole, strict=True)],
            arrow_type,
        )

    def _mark(self, row: int, name: str, problem: str) -> None:
        grown = wider(self._layout.plan, name, self._layout.data[name], problem)
        if grown is not None:
            condition = "NEW_FIELDS_AND_WIDENED_TYPES_IN_RECORD_WITH_FILE_PATH"
            raise NewFields(
                condition, f'{{"{name}":{problem}}}', Spans(self._files).file_of(row).key, {name: grown}
            )
        found = self._rescued.setdefault(row, {})
        found[name] = problem
        if not self._layout.rescues:
            found[""] = ""

    @property
    def _files(self) -> list[Span]:
        return [(status, count) for status, count, _ in self._spans]

    def _line_of(self, row: int) -> bytes:
        if row in self._slow:
            return self._slow[row]
        first = 0
        for _, count, data in self._spans:
            if row < first + count:
                return [line for line in data.split(b"\n") if line.strip()][row - first]
            first += count
        raise IndexError(row)
