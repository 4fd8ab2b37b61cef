"""Files that carry their types: values are taken when the file has the column's type, rescued otherwise.

Parquet, Avro and ORC differ in how a file becomes Arrow batches; all the rest is here (spec §2.3, §4).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from lakeward.autoloader.readers.arrow_fit import Fitting, plain_type
from lakeward.autoloader.readers.drift import NewFields
from lakeward.autoloader.readers.files import Contents
from lakeward.autoloader.readers.layout import Layout
from lakeward.autoloader.readers.rescued_values import as_json

if TYPE_CHECKING:
    from lakeward.autoloader.discovery import FileStatus

__all__ = ["ROWS", "Columnar", "ColumnarReader", "Opened"]

ROWS = 64_000


@dataclass(frozen=True)
class Columnar:
    """One opened file."""

    schema: pa.Schema
    batches: Iterator[pa.RecordBatch]


# Bytes → the opened file. Raises ValueError or OSError for bytes of another format.
Opened = Callable[[bytes], Columnar]


class ColumnarReader:
    """Reads the files of one task; `opened` is what the format adds."""

    def __init__(self, layout: Layout, contents: Contents, opened: Opened) -> None:
        self._layout = layout
        self._contents = contents
        self._opened = opened
        plan = layout.plan
        is_orc = plan.format == "orc"
        widens = is_orc or plan.mode == "addNewColumnsWithTypeWidening"
        self._fitting = Fitting(plan.case_sensitive, widens, plan.time_zone if is_orc else None)

    def read(self, files: list[FileStatus]) -> Iterator[pa.RecordBatch]:
        """Record batches, a file after the other."""
        for status in files:
            data = self._contents.of(status)
            if data is None:
                continue
            try:
                source = self._opened(data)
                self._check(status, source.schema)
                for batch in source.batches:
                    yield self._batch(status, batch)
            except (ValueError, EOFError, OSError) as error:
                self._contents.leave_out(status, error)

    def _check(self, status: FileStatus, found: pa.Schema) -> None:
        plan, layout = self._layout.plan, self._layout
        if plan.mode in ("none", "rescue"):
            return
        known = {*layout.by_lower_name, *(name.lower() for name in plan.partitions)}
        new = [name for name in found.names if name.lower() not in known]
        if new:
            raise NewFields("NEW_FIELDS_IN_FILE", f"[{','.join(new)}]", status.key)
        if plan.mode == "addNewColumnsWithTypeWidening":
            self._check_types(status, found)

    def _check_types(self, status: FileStatus, found: pa.Schema) -> None:
        from pyspark.sql.pandas.types import from_arrow_type

        from lakeward.autoloader.schema.merge import widened

        for field in found:
            dtype = self._layout.data.get(field.name)
            if dtype is None or field.name.lower() in self._layout.plan.pinned:
                continue
            grown = widened(dtype, from_arrow_type(plain_type(field.type)))
            if grown not in (None, dtype):
                condition = "NEW_FIELDS_AND_WIDENED_TYPES_IN_FILE"
                raise NewFields(condition, f"[{field.name}]", status.key, {field.name: grown})

    def _batch(self, status: FileStatus, batch: pa.RecordBatch) -> pa.RecordBatch:
        arrays: dict[str, pa.Array] = {}
        surplus: dict[str, pa.Array] = {}
        names = list(self._layout.data)
        for name, array in zip(batch.schema.names, batch.columns, strict=True):
            column = self._fitting.place(name, names)
            rest: pa.Array | None = array
            if column is not None:
                kept, rest = self._fitting.split(array, self._layout.arrow.field(column).type)
                if kept is not None:
                    arrays[column] = kept
            if rest is not None and name not in self._layout.plan.partitions:
                surplus[name] = rest
        for name in names:
            if name not in arrays:
                arrays[name] = pa.nulls(batch.num_rows, self._layout.arrow.field(name).type)
        rescued = self._rescued(surplus, batch.num_rows, status) if surplus and self._layout.rescues else None
        return self._layout.batch(arrays, [(status, batch.num_rows)], rescued, None)

    def _rescued(
        self, surplus: dict[str, pa.Array], rows: int, status: FileStatus
    ) -> list[str | None] | None:
        columns = {name: array.to_pylist(maps_as_pydicts="lossy") for name, array in surplus.items()}
        found: dict[int, dict[str, str]] = {}
        for row in range(rows):
            values = {name: as_json(column[row]) for name, column in columns.items()}
            kept = {name: text for name, text in values.items() if text is not None}
            if kept:
                found[row] = kept
        return self._layout.rescued_texts(found, [(status, rows)])
