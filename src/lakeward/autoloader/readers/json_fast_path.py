"""JSON lines that Arrow parses: large files whose records all match the schema."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.json as pj

from lakeward.autoloader.conversion.text_columns import cast_text_column, parse_column
from lakeward.autoloader.conversion.text_formats import TextFormats
from lakeward.autoloader.readers.batch_builder import BatchBuilder
from lakeward.autoloader.readers.json_text import count_object_lines

if TYPE_CHECKING:
    from pyspark.sql.types import DataType

    from lakeward.autoloader.discovery.file_listing import FileStatus

TIMES = ("timestamp", "timestamp_ntz", "date")
"""Types that Arrow reads as strings."""

# Arrow does not pay off for shorter texts; many of them share one record batch.
MIN_BYTES = 256 << 10
# Arrow rejects lines longer than its block size.
_BLOCK = 16 << 20
_ARROW_TYPES = {
    "string": pa.string(),
    "byte": pa.int8(),
    "short": pa.int16(),
    "integer": pa.int32(),
    "long": pa.int64(),
    "double": pa.float64(),
    "boolean": pa.bool_(),
}
# After this many unsuitable files the rest of a task is assumed to be unsuitable, too.
_MAX_FAILURES = 3


class JsonFastPath:
    """Reads whole files of one task if all records match the schema."""

    def __init__(self, builder: BatchBuilder, formats: TextFormats) -> None:
        self._builder = builder
        self._formats = formats
        types = {
            name: pa.string() if dtype.typeName() in TIMES else arrow_json_type(dtype)
            for name, dtype in builder.data.items()
        }
        known = [(name, arrow_type) for name, arrow_type in types.items() if arrow_type is not None]
        # Surplus members are dropped if nothing is rescued and names are case-sensitive.
        self._surplus = builder.plan.mode == "none" and not builder.rescues
        can = len(known) == len(types) and (builder.plan.case_sensitive or not self._surplus)
        self._schema = pa.schema(known)
        self._chances = _MAX_FAILURES if can and types else 0

    def batches(self, status: FileStatus, data: bytes) -> list[pa.RecordBatch] | None:
        """Return all rows of a file, None if they must be read one by one."""
        if not self._chances or len(data) < MIN_BYTES:
            return None
        batches = self._batches(status, data)
        self._chances = _MAX_FAILURES if batches is not None else self._chances - 1
        return batches

    def _batches(self, status: FileStatus, data: bytes) -> list[pa.RecordBatch] | None:
        table = parse_records(data, self._schema, surplus=self._surplus)
        batches = []
        for part in () if table is None else table.to_batches():
            columns = {name: self._column(name, part.column(name)) for name in self._builder.data}
            arrays = {name: column for name, column in columns.items() if column is not None}
            if len(arrays) < len(columns):
                return None
            batches.append(self._builder.build(arrays, [(status, part.num_rows)]))
        return batches if table is not None else None

    def _column(self, name: str, read: pa.Array) -> pa.Array | None:
        dtype, arrow_type = self._builder.data[name], self._builder.arrow.field(name).type
        if dtype.typeName() not in TIMES:
            return read.cast(arrow_type)
        whole = cast_text_column(read, dtype, arrow_type, self._formats)
        if whole is not None:
            return whole
        column, bad = parse_column(read.to_pylist(), dtype, arrow_type, self._formats)
        return None if bad else column


def arrow_json_type(dtype: DataType) -> pa.DataType | None:
    """Return the type with which Arrow reads a column, None if it differs from Spark."""
    name = dtype.typeName()
    if name == "array":
        item = arrow_json_type(dtype.elementType)  # type: ignore[attr-defined]
        return None if item is None else pa.list_(item)
    if name == "struct":
        members = [(field.name, arrow_json_type(field.dataType)) for field in dtype.fields]  # type: ignore[attr-defined]
        return pa.struct(members) if members and all(member for _, member in members) else None
    return _ARROW_TYPES.get(name)


def parse_records(data: bytes, schema: pa.Schema | None, *, surplus: bool = False) -> pa.Table | None:
    """Return the records of a text with one record per line, None if one does not match.

    Args:
        data: The text.
        schema: The expected columns, None to infer them.
        surplus: Whether members that the schema lacks are dropped; otherwise they do not match.
    """
    lines = count_object_lines(data)
    # Arrow accepts NaN and Infinity as numbers, and hangs on a line that is only `null`.
    if lines is None or b"NaN" in data or b"Inf" in data:
        return None
    unexpected = "infer" if schema is None else "ignore" if surplus else "error"
    try:
        data.isascii() or data.decode()
        table = pj.read_json(
            pa.BufferReader(data),
            pj.ReadOptions(use_threads=False, block_size=_BLOCK),
            pj.ParseOptions(explicit_schema=schema, unexpected_field_behavior=unexpected),
        )
    except (pa.ArrowInvalid, UnicodeDecodeError):
        return None
    return table if table.num_rows == lines else None
