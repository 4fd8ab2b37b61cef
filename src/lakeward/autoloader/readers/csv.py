"""CSV by name: the header says which value belongs to which column, in any order (§1.5, §4)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pyarrow as pa

from lakeward.autoloader.readers.convert import Formats, from_texts
from lakeward.autoloader.readers.csv_lines import Dialect, Row, header_names, lines_of
from lakeward.autoloader.readers.csv_plain import is_plain, plain_columns
from lakeward.autoloader.readers.drift import NewFields, wider
from lakeward.autoloader.readers.files import Contents
from lakeward.autoloader.readers.json_texts import json_text
from lakeward.autoloader.readers.layout import Layout
from lakeward.autoloader.readers.malformed import Malformed
from lakeward.autoloader.readers.spans import Spans
from lakeward.autoloader.readers.whole_columns import whole_column

if TYPE_CHECKING:
    from lakeward.autoloader.discovery import FileStatus

__all__ = ["CsvReader", "has_header"]

ROWS = 20_000


def has_header(text: str | None, *, given_schema: bool) -> bool:
    """`header`; without it, inferred schemas assume one (§1.5)."""
    return not given_schema if text is None else text.strip().lower() == "true"


class CsvReader:
    """Reads the files of one task."""

    def __init__(self, layout: Layout, contents: Contents) -> None:
        self._layout = layout
        self._contents = contents
        self._dialect = Dialect.of(layout.options)
        self._formats = Formats.of(layout.options, layout.plan.time_zone)
        self._policy = Malformed.of(layout)
        self._is_plain = is_plain(self._dialect)
        self._header = has_header(layout.options.text("header"), given_schema=layout.plan.given_schema)
        self._start()

    def _start(self) -> None:
        self._columns: dict[str, Row] = {name: [] for name in self._layout.data}
        self._files: list[tuple[FileStatus, int]] = []
        self._rescued: dict[int, dict[str, str]] = {}
        self._odd: dict[int, bytes] = {}
        self._lines: list[str] = []

    def read(self, files: list[FileStatus]) -> Iterator[pa.RecordBatch]:
        """Record batches of many files, or of a part of one."""
        for status in files:
            data = self._contents.of(status)
            if data is None:
                continue
            plain = self._plain(status, data)
            if plain is not None:
                yield from plain
                continue
            lines = lines_of(data, self._dialect)
            names = self._names(self._dialect.row(lines[0]), status) if lines else []
            if self._header:
                del lines[:1]
            for first in range(0, len(lines), ROWS):
                self._add(status, names, lines[first : first + ROWS])
                if len(self._lines) >= ROWS:
                    yield self._flush()
        if self._lines:
            yield self._flush()

    def _plain(self, status: FileStatus, data: bytes) -> list[pa.RecordBatch] | None:
        """The whole file at once where nothing in it is odd, None otherwise."""
        found = plain_columns(data, self._dialect) if self._header and self._is_plain else None
        if found is None:
            return None
        first, table = found
        names = self._names(self._dialect.row(first), status)
        columns = [self._column_of(name) for name in names]
        taken = [column for column in columns if column is not None]
        surplus = [table.column(i) for i, column in enumerate(columns) if column is None]
        if len(set(taken)) < len(taken):
            return None
        if self._layout.rescues and any(column.null_count < len(column) for column in surplus):
            return None
        batches = []
        for part in table.to_batches(max_chunksize=ROWS * 4):
            arrays = self._arrays({name: part.column(columns.index(name)) for name in taken}, part.num_rows)
            if arrays is None:
                return None
            batches.append(self._layout.batch(arrays, [(status, part.num_rows)], None, None))
        return batches

    def _arrays(self, texts: dict[str, pa.Array], rows: int) -> dict[str, pa.Array] | None:
        arrays = {}
        for name, dtype in self._layout.data.items():
            arrow_type = self._layout.arrow.field(name).type
            if name not in texts:
                arrays[name] = pa.nulls(rows, arrow_type)
                continue
            array = whole_column(texts[name], dtype, arrow_type, self._formats)
            if array is None:
                return None
            arrays[name] = array
        return arrays

    def _names(self, first: Row, status: FileStatus) -> list[str]:
        """The columns of a file with this first line. New ones stop a stream that evolves."""
        if self._header:
            names = header_names(first)
        elif self._layout.plan.given_schema:
            given = list(self._layout.data)
            names = given + [f"_c{i}" for i in range(len(given), len(first))]
        else:
            names = [f"_c{i}" for i in range(len(first))]
        known = {*self._layout.by_lower_name, *(name.lower() for name in self._layout.plan.partitions)}
        new = [name for name in names if name.lower() not in known]
        if new and self._layout.plan.mode not in ("none", "rescue"):
            raise NewFields("NEW_FIELDS_IN_FILE", f"[{','.join(new)}]", status.key)
        return names

    def _add(self, status: FileStatus, names: list[str], lines: list[str]) -> None:
        rows = [self._dialect.row(line) for line in lines]
        # A file's first row says how wide the others are; the schema does where nothing is rescued.
        by_file = self._header or self._layout.rescues or not self._layout.plan.given_schema
        width = len(names) if by_file else len(self._layout.data)
        before = len(self._lines)
        if any(len(row) != width for row in rows):
            self._even_out(rows, lines, width, before, status)
        values = list(zip(*rows, strict=True)) if rows else []
        for index, name in enumerate(names[: len(values)]):
            column = self._column_of(name)
            if column is not None and len(self._columns[column]) == before:
                self._columns[column] += values[index]
            elif self._layout.rescues:
                self._rescue(name, values[index], before)
        for column_values in self._columns.values():
            column_values.extend([None] * (before + len(rows) - len(column_values)))
        self._lines += lines
        self._files.append((status, len(rows)))

    def _column_of(self, name: str) -> str | None:
        if name in self._columns:
            return name
        near = self._layout.by_lower_name.get(name.lower())
        return None if self._layout.plan.case_sensitive else near

    def _rescue(self, name: str, values: tuple[str | None, ...], before: int) -> None:
        for row, value in enumerate(values, before):
            if value is not None:
                self._rescued.setdefault(row, {})[name] = json_text(value)

    def _even_out(
        self, rows: list[Row], lines: list[str], width: int, before: int, status: FileStatus
    ) -> None:
        """Rows of another width are malformed: missing values are null, surplus ones rescued as `_c<i>`."""
        for index, row in enumerate(rows):
            if len(row) == width:
                continue
            self._policy.check(
                status, lines[index].encode(), f"{len(row)} values where there are {width} columns"
            )
            self._odd[before + index] = lines[index].encode()
            for surplus in range(width, len(row)):
                value = row[surplus]
                if self._layout.rescues and value is not None:
                    found = self._rescued.setdefault(before + index, {})
                    found[f"_c{surplus}"] = json_text(value)
            rows[index] = row[:width] + [None] * (width - len(row))

    def _flush(self) -> pa.RecordBatch:
        arrays, misfits = {}, set()
        for name, texts in self._columns.items():
            dtype, arrow_type = self._layout.data[name], self._layout.arrow.field(name).type
            arrays[name], bad = from_texts(texts, dtype, arrow_type, self._formats)
            for row in bad:
                text = str(texts[row])
                found = wider(self._layout.plan, name, dtype, text)
                if found is not None:
                    path = Spans(self._files).file_of(row).key
                    raise NewFields("NEW_FIELDS_AND_WIDENED_TYPES_IN_FILE", f"[{name}]", path, {name: found})
                if self._layout.rescues:
                    self._rescued.setdefault(row, {})[name] = json_text(text)
                else:
                    misfits.add(row)
        kept, corrupt = self._policy.apply(
            len(self._lines), self._files, self._odd, sorted(misfits), lambda row: self._lines[row].encode()
        )
        rescued = self._layout.rescued_texts(self._rescued, self._files)
        batch = self._layout.batch(arrays, self._files, rescued, corrupt)
        self._start()
        return batch if kept is None else batch.filter(pa.array(kept))
