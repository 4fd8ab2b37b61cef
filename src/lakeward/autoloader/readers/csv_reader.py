"""The CSV reader: values are matched to columns by the header, in any order (AL-1.5, AL-4)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pyarrow as pa

from lakeward.autoloader.conversion.text_columns import cast_text_column, parse_column
from lakeward.autoloader.conversion.text_formats import TextFormats
from lakeward.autoloader.readers.batch_builder import BatchBuilder, FileSpans, to_json
from lakeward.autoloader.readers.csv_dialect import CsvDialect, Row, has_header, header_names, split_lines
from lakeward.autoloader.readers.csv_fast_path import is_regular_dialect, parse_text_columns
from lakeward.autoloader.readers.file_contents import FileContents
from lakeward.autoloader.readers.malformed_records import MalformedRecordPolicy
from lakeward.autoloader.readers.new_fields import NewFieldsError, widen_for_value

if TYPE_CHECKING:
    from lakeward.autoloader.discovery.file_listing import FileStatus

ROWS = 20_000


class CsvReader:
    """Reads the files of one task."""

    def __init__(self, builder: BatchBuilder, contents: FileContents) -> None:
        self._builder = builder
        self._contents = contents
        self._dialect = CsvDialect.of(builder.options)
        self._formats = TextFormats.of(builder.options, builder.plan.time_zone)
        self._policy = MalformedRecordPolicy.of(builder)
        self._is_plain = is_regular_dialect(self._dialect)
        self._header = has_header(
            builder.options.text("header"), has_user_schema=builder.plan.has_user_schema
        )
        # Seen on Databricks: with a schema of the user, a line with values of other columns is malformed.
        self._keeps_surplus = (
            self._header
            and builder.plan.has_user_schema
            and not builder.rescues
            and self._policy.declared
            and self._policy.mode == "PERMISSIVE"
            and self._policy.bad is None
        )
        self._start()

    def _start(self) -> None:
        self._columns: dict[str, Row] = {name: [] for name in self._builder.data}
        self._files: list[tuple[FileStatus, int]] = []
        self._rescued: dict[int, dict[str, str]] = {}
        self._odd: dict[int, bytes] = {}
        self._lines: list[str] = []

    def read(self, files: list[FileStatus]) -> Iterator[pa.RecordBatch]:
        """Yield record batches of many files, or of a part of one."""
        for status, data in self._contents.read_all(files):
            plain = self._plain(status, data)
            if plain is not None:
                yield from plain
                continue
            lines = split_lines(data, self._dialect)
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
        """Read the whole file with Arrow if it is regular, else return None."""
        parsed = parse_text_columns(data, self._dialect) if self._header and self._is_plain else None
        if parsed is None:
            return None
        first, table = parsed
        names = self._names(self._dialect.row(first), status)
        columns = [self._column_of(name) for name in names]
        matched = [column for column in columns if column is not None]
        surplus = [table.column(i) for i, column in enumerate(columns) if column is None]
        if len(set(matched)) < len(matched) or (surplus and self._keeps_surplus):
            return None
        if self._builder.rescues and any(column.null_count < len(column) for column in surplus):
            return None
        batches = []
        for part in table.to_batches(max_chunksize=ROWS * 4):
            arrays = self._arrays({name: part.column(columns.index(name)) for name in matched}, part.num_rows)
            if arrays is None:
                return None
            batches.append(self._builder.build(arrays, [(status, part.num_rows)]))
        return batches

    def _arrays(self, texts: dict[str, pa.Array], rows: int) -> dict[str, pa.Array] | None:
        arrays = {}
        for name, dtype in self._builder.data.items():
            arrow_type = self._builder.arrow.field(name).type
            if name not in texts:
                arrays[name] = pa.nulls(rows, arrow_type)
                continue
            array = cast_text_column(texts[name], dtype, arrow_type, self._formats)
            if array is None:
                return None
            arrays[name] = array
        return arrays

    def _names(self, first: Row, status: FileStatus) -> list[str]:
        """Return the columns of a file; raise NewFieldsError for new ones if the schema evolves."""
        if self._header:
            names = header_names(first)
        elif self._builder.plan.has_user_schema:
            user_columns = list(self._builder.data)
            names = user_columns + [f"_c{i}" for i in range(len(user_columns), len(first))]
        else:
            names = [f"_c{i}" for i in range(len(first))]
        known = {*self._builder.by_lower_name, *(name.lower() for name in self._builder.plan.partitions)}
        new = [name for name in names if name.lower() not in known]
        if new and self._builder.plan.mode not in ("none", "rescue"):
            raise NewFieldsError("NEW_FIELDS_IN_FILE", f"[{','.join(new)}]", status.key)
        return names

    def _add(self, status: FileStatus, names: list[str], lines: list[str]) -> None:
        rows = [self._dialect.row(line) for line in lines]
        # The first row sets the width of a file; if nothing is rescued, the schema does.
        by_file = self._header or self._builder.rescues or not self._builder.plan.has_user_schema
        width = len(names) if by_file else len(self._builder.data)
        before = len(self._lines)
        if any(len(row) != width for row in rows):
            self._even_out(rows, lines, width, before, status)
        values = list(zip(*rows, strict=True)) if rows else []
        for index, name in enumerate(names[: len(values)]):
            column = self._column_of(name)
            if column is not None and len(self._columns[column]) == before:
                self._columns[column] += values[index]
            elif self._builder.rescues:
                self._rescue(name, values[index], before)
        if self._keeps_surplus and any(self._column_of(name) is None for name in names):
            self._odd |= {row: line.encode() for row, line in enumerate(lines, before)}
        for column_values in self._columns.values():
            column_values.extend([None] * (before + len(rows) - len(column_values)))
        self._lines += lines
        self._files.append((status, len(rows)))

    def _column_of(self, name: str) -> str | None:
        if name in self._columns:
            return name
        near = self._builder.by_lower_name.get(name.lower())
        return None if self._builder.plan.case_sensitive else near

    def _rescue(self, name: str, values: tuple[str | None, ...], before: int) -> None:
        for row, value in enumerate(values, before):
            if value is not None:
                self._rescued.setdefault(row, {})[name] = to_json(value)

    def _even_out(
        self, rows: list[Row], lines: list[str], width: int, before: int, status: FileStatus
    ) -> None:
        """Treat rows of another width as malformed: pad with nulls, rescue surplus values as `_c<i>`."""
        for index, row in enumerate(rows):
            if len(row) == width:
                continue
            self._policy.check(status, lines[index].encode(), f"{len(row)} values for {width} columns")
            self._odd[before + index] = lines[index].encode()
            for surplus in range(width, len(row)):
                value = row[surplus]
                if self._builder.rescues and value is not None:
                    rescued = self._rescued.setdefault(before + index, {})
                    rescued[f"_c{surplus}"] = to_json(value)
            rows[index] = row[:width] + [None] * (width - len(row))

    def _flush(self) -> pa.RecordBatch:
        arrays, misfits = {}, set()
        for name, texts in self._columns.items():
            dtype, arrow_type = self._builder.data[name], self._builder.arrow.field(name).type
            arrays[name], bad = parse_column(texts, dtype, arrow_type, self._formats)
            for row in bad:
                text = str(texts[row])
                grown = widen_for_value(self._builder.plan, name, dtype, text)
                if grown is not None:
                    path = FileSpans(self._files).file_at(row).key
                    raise NewFieldsError(
                        "NEW_FIELDS_AND_WIDENED_TYPES_IN_FILE", f"[{name}]", path, {name: grown}
                    )
                if self._builder.rescues:
                    self._rescued.setdefault(row, {})[name] = to_json(text)
                else:
                    misfits.add(row)
        kept, corrupt = self._policy.apply(
            len(self._lines), self._files, self._odd, sorted(misfits), lambda row: self._lines[row].encode()
        )
        rescued = self._builder.rescued_column_values(self._rescued, self._files)
        batch = self._builder.build(arrays, self._files, rescued, corrupt, kept)
        self._start()
        return batch
