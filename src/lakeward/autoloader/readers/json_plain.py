"""Large JSON files in which every record fits the schema, by Arrow's parser: several times faster than ours.

Arrow and Spark read such files alike; what they read differently (words for numbers, several records in a
line, records over several lines) is looked for first. Everything else is left to `json`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.json as pj

from lakeward.autoloader.readers.convert import Formats, from_texts
from lakeward.autoloader.readers.json_lines import plain_lines
from lakeward.autoloader.readers.whole_columns import whole_column

if TYPE_CHECKING:
    from pyspark.sql.types import DataType

    from lakeward.autoloader.discovery import FileStatus
    from lakeward.autoloader.readers.layout import Layout

__all__ = ["PlainJson", "plain_records", "plain_type"]

# A shorter text is not worth the way over Arrow, and many of them share one record batch.
SMALLEST = 256 << 10
# Arrow takes no longer line than a block.
_BLOCK = 16 << 20
_SIMPLE = {
    "string": pa.string(),
    "byte": pa.int8(),
    "short": pa.int16(),
    "integer": pa.int32(),
    "long": pa.int64(),
    "double": pa.float64(),
    "boolean": pa.bool_(),
}


# Arrow reads them as texts.
_TIMES = ("timestamp", "timestamp_ntz", "date")
# After so many large files that are not plain, the others of a task are hardly so either.
_CHANCES = 3


class PlainJson:
    """Reads whole files of one task, where nothing in them is odd."""

    def __init__(self, layout: Layout, formats: Formats) -> None:
        self._layout = layout
        self._formats = formats
        types = {
            name: pa.string() if dtype.typeName() in _TIMES else plain_type(dtype)
            for name, dtype in layout.data.items()
        }
        known = [(name, found) for name, found in types.items() if found is not None]
        # Members without a column are left out where nobody rescues them, and none is meant by another case.
        self._surplus = layout.plan.mode == "none" and not layout.rescues
        can = len(known) == len(types) and (layout.plan.case_sensitive or not self._surplus)
        self._schema = pa.schema(known)
        self._chances = _CHANCES if can and types else 0

    def batches(self, status: FileStatus, data: bytes) -> list[pa.RecordBatch] | None:
        """All rows of a file's lines; None where they have to be read one by one."""
        if not self._chances or len(data) < SMALLEST:
            return None
        batches = self._batches(status, data)
        self._chances = _CHANCES if batches is not None else self._chances - 1
        return batches

    def _batches(self, status: FileStatus, data: bytes) -> list[pa.RecordBatch] | None:
        table = plain_records(data, self._schema, surplus=self._surplus)
        batches = []
        for part in () if table is None else table.to_batches():
            columns = {name: self._column(name, part.column(name)) for name in self._layout.data}
            arrays = {name: column for name, column in columns.items() if column is not None}
            if len(arrays) < len(columns):
                return None
            batches.append(self._layout.batch(arrays, [(status, part.num_rows)], None, None))
        return batches if table is not None else None

    def _column(self, name: str, read: pa.Array) -> pa.Array | None:
        dtype, arrow_type = self._layout.data[name], self._layout.arrow.field(name).type
        if dtype.typeName() not in _TIMES:
            return read.cast(arrow_type)
        whole = whole_column(read, dtype, arrow_type, self._formats)
        if whole is not None:
            return whole
        column, bad = from_texts(read.to_pylist(), dtype, arrow_type, self._formats)
        return None if bad else column


def plain_type(dtype: DataType) -> pa.DataType | None:
    """How Arrow reads such a column; None for types that it reads otherwise than Spark does."""
    name = dtype.typeName()
    if name == "array":
        item = plain_type(dtype.elementType)  # type: ignore[attr-defined]
        return None if item is None else pa.list_(item)
    if name == "struct":
        members = [(field.name, plain_type(field.dataType)) for field in dtype.fields]  # type: ignore[attr-defined]
        return pa.struct(members) if members and all(member for _, member in members) else None
    return _SIMPLE.get(name)


def plain_records(data: bytes, schema: pa.Schema | None, *, surplus: bool = False) -> pa.Table | None:
    """The records of a text, a line each; None where one does not fit.

    With `surplus`, members that the schema lacks are left out; without, they do not fit. Without a schema the
    columns are what Arrow makes of all records.
    """
    lines = plain_lines(data)
    # Arrow's parser takes words for numbers, and does not come back from a line with null alone.
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
