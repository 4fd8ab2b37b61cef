"""Parquet: values are taken when the file has the column's type, and rescued otherwise (§2.3, §4)."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from datetime import date, datetime, timezone
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from lakeward.autoloader.readers.drift import NewFields
from lakeward.autoloader.readers.files import Contents, broken
from lakeward.autoloader.readers.layout import Layout

if TYPE_CHECKING:
    from pyspark.sql.types import DataType

    from lakeward.autoloader.discovery import FileStatus

__all__ = ["ParquetReader"]

ROWS = 64_000


class ParquetReader:
    """Reads the files of one task."""

    def __init__(self, layout: Layout, contents: Contents) -> None:
        self._layout = layout
        self._contents = contents

    def read(self, files: list[FileStatus]) -> Iterator[pa.RecordBatch]:
        """Record batches, a file after the other."""
        for status in files:
            data = self._contents.of(status)
            if data is None:
                continue
            try:
                source = pq.ParquetFile(pa.BufferReader(data))
                self._check(status, source.schema_arrow)
                for batch in source.iter_batches(batch_size=ROWS):
                    yield self._batch(status, batch)
            except (pa.ArrowInvalid, OSError) as error:
                if self._layout.options.flag("ignoreCorruptFiles"):
                    continue
                raise broken(status, str(error)) from None

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

        from lakeward.autoloader.schema.infer_parquet import plain_type
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
        for name, array in zip(batch.schema.names, batch.columns, strict=True):
            column = name if name in self._layout.data else None
            if column is None and not self._layout.plan.case_sensitive:
                column = self._layout.by_lower_name.get(name.lower())
            fitting = None if column is None else self._fitting(array, column)
            if fitting is None or column is None:
                surplus[name] = array
            else:
                arrays[column] = fitting
        for name in self._layout.data:
            if name not in arrays:
                arrays[name] = pa.nulls(batch.num_rows, self._layout.arrow.field(name).type)
        rescued = self._rescued(surplus, batch.num_rows, status) if surplus and self._layout.rescues else None
        return self._layout.batch(arrays, [(status, batch.num_rows)], rescued, None)

    def _fitting(self, array: pa.Array, column: str) -> pa.Array | None:
        """The column's values, None where the file has another type (a cast would hide that)."""
        wanted, dtype = self._layout.arrow.field(column).type, self._layout.data[column]
        if array.type == wanted:
            return array
        if not self._same(array.type, dtype):
            return None
        try:
            return array.cast(wanted)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            return None

    def _same(self, arrow_type: pa.DataType, dtype: DataType) -> bool:
        """The same type for Spark: other time units, string sizes and encodings are details of the file."""
        from pyspark.errors import PySparkException
        from pyspark.sql.pandas.types import from_arrow_type

        from lakeward.autoloader.schema.infer_parquet import plain_type
        from lakeward.autoloader.schema.merge import widened

        try:
            found = from_arrow_type(plain_type(arrow_type))
        except PySparkException:
            return False
        if self._layout.plan.mode == "addNewColumnsWithTypeWidening" and widened(dtype, found) == dtype:
            return True
        return found.simpleString() == dtype.simpleString()

    def _rescued(self, surplus: dict[str, pa.Array], rows: int, status: FileStatus) -> list[str | None]:
        columns = {name: array.to_pylist() for name, array in surplus.items()}
        texts: list[str | None] = []
        for row in range(rows):
            values = {
                name: _as_json(column[row]) for name, column in columns.items() if column[row] is not None
            }
            texts.append(self._layout.rescued_text(values, status.key) if values else None)
        return texts


def _as_json(value: Any) -> str:
    """Numbers as numbers, times as ISO text with a zone (§4.1 rule 3)."""
    return json.dumps(_plain(value), ensure_ascii=False)


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        zoned = value if value.tzinfo else value.replace(tzinfo=timezone.utc)
        return zoned.astimezone(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    if isinstance(value, date):
        return value.isoformat() + "T00:00:00.000Z"
    if isinstance(value, Decimal):
        return float(value) if value != int(value) else int(value)
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value
