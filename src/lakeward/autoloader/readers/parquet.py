"""Parquet files as Arrow batches, typed by the rules of Spark's Parquet reader.

Writers such as Polars and PyArrow store a schema of Arrow in addition to Parquet's own. Spark ignores it, and
so does this reader: a text is a STRING, whether Arrow has it as large string, string view or dictionary.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from lakeward.autoloader.conversion.arrow_cast import cast_array, is_list
from lakeward.autoloader.read_plan import NANOS_AS_LONG
from lakeward.autoloader.readers.file_contents import ColumnarFile
from lakeward.errors import CloudFilesError

ROWS = 64_000
_INSTANT = pa.timestamp("us", "UTC")
_PLAIN_TYPES = {
    "BOOLEAN": pa.bool_(),
    "INT32": pa.int32(),
    "INT64": pa.int64(),
    "INT96": _INSTANT,
    "FLOAT": pa.float32(),
    "DOUBLE": pa.float64(),
    "BYTE_ARRAY": pa.binary(),
    "FIXED_LEN_BYTE_ARRAY": pa.binary(),
}
_SIGNED_TYPES = {8: pa.int8(), 16: pa.int16(), 32: pa.int32(), 64: pa.int64()}
_UNSIGNED_TYPES = {8: pa.int16(), 16: pa.int32(), 32: pa.int64(), 64: pa.decimal128(20, 0)}
_NAMED_TYPES = {
    "String": pa.string(),
    "Enum": pa.string(),
    "JSON": pa.string(),
    "Date": pa.date32(),
    "Null": pa.null(),
}
_UNITS = {"milliseconds": "MILLIS", "microseconds": "MICROS", "nanoseconds": "NANOS"}


def illegal_type_error(column: str, type_text: str, file: str = "") -> CloudFilesError:
    """Return Spark's error for a column of a type that it does not read; `file` is shown if it is known."""
    if "NANOS" in type_text:
        advice = "Write the file with microseconds; Pandas and PyArrow do with coerce_timestamps='us'."
        if type_text.startswith("INT64 (TIMESTAMP"):
            advice += f" {NANOS_AS_LONG}=true reads the column as BIGINT."
    else:
        advice = "Write the column with another type."
    return CloudFilesError(
        "PARQUET_TYPE_ILLEGAL",
        f"Illegal Parquet type: {type_text}, of column {column}{file and f' of {file}'}.",
        next_step=advice,
    )


def open_parquet(data: bytes, *, nanos_as_long: bool) -> ColumnarFile:
    """Open a Parquet file; with `nanos_as_long`, timestamps in nanoseconds are integers."""
    import pyarrow.parquet as pq

    file = pq.ParquetFile(pa.BufferReader(data), coerce_int96_timestamp_unit="us")
    found = file.schema_arrow
    leaves = _Leaves([file.schema.column(index) for index in range(file.metadata.num_columns)], nanos_as_long)
    columns = []
    for column in found:
        leaves.column = column.name
        columns.append(column.with_type(leaves.spark_type(column.type)))
    schema = pa.schema(columns)
    batches = file.iter_batches(batch_size=ROWS)
    return ColumnarFile(
        schema,
        batches if schema.equals(found) else (_cast_batch(batch, schema) for batch in batches),
        leaves.illegal,
    )


def _cast_batch(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    arrays = [cast_array(array, column.type) for array, column in zip(batch.columns, schema, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


@dataclass
class _Leaves:
    """The leaves of a file's schema in order, which are consumed column by column.

    Attributes:
        leaves: Columns of PyArrow's `ParquetSchema`.
        nanos_as_long: Whether timestamps in nanoseconds are integers.
        illegal: Top-level columns with a type that Spark does not read, and that type as Spark writes it.
        column: The current top-level column.
    """

    leaves: list[Any]
    nanos_as_long: bool
    illegal: dict[str, str] = field(default_factory=dict)
    column: str = ""
    _next: Iterator[Any] = field(init=False)

    def __post_init__(self) -> None:
        self._next = iter(self.leaves)

    def spark_type(self, found: pa.DataType) -> pa.DataType:
        """Return the type that Spark reads, and consume the leaves of `found`.

        An illegal leaf keeps its type.
        """
        if pa.types.is_struct(found):
            return pa.struct([inner.with_type(self.spark_type(inner.type)) for inner in found])
        if pa.types.is_map(found):
            keys, items = self.spark_type(found.key_type), self.spark_type(found.item_type)
            return pa.map_(found.key_field.with_type(keys), found.item_field.with_type(items))
        if is_list(found):
            return pa.list_(found.value_field.with_type(self.spark_type(found.value_type)))
        leaf = next(self._next)
        logical = json.loads(leaf.logical_type.to_json())
        dtype = leaf_type(leaf, logical)
        if dtype is not None:
            return dtype
        if self.nanos_as_long and logical["Type"] == "Timestamp":
            return pa.int64()
        self.illegal.setdefault(self.column, f"{leaf.physical_type} ({_logical_text(logical)})")
        return found


def leaf_type(leaf: Any, logical: Mapping[str, Any]) -> pa.DataType | None:
    """Return the type that Spark reads for a Parquet type, None for those that it refuses.

    Source: https://spark.apache.org/docs/latest/sql-data-sources-parquet.html (data type mapping)

    Args:
        leaf: A column of PyArrow's `ParquetSchema`.
        logical: Its logical type, from JSON.
    """
    name = logical["Type"]
    if name == "Decimal":
        precision = logical["precision"]
        maker = pa.decimal128 if precision <= 38 else pa.decimal256
        return maker(precision, logical["scale"])
    if name == "Int":
        return (_SIGNED_TYPES if logical["isSigned"] else _UNSIGNED_TYPES)[logical["bitWidth"]]
    if name == "Timestamp":
        zone = "UTC" if logical["isAdjustedToUTC"] else None
        return None if logical["timeUnit"] == "nanoseconds" else pa.timestamp("us", zone)
    if name == "Time":
        return pa.time64("ns") if logical["timeUnit"] == "microseconds" else None
    if name in ("UUID", "Float16", "Interval"):
        return None
    return _NAMED_TYPES.get(name, _PLAIN_TYPES[leaf.physical_type])


def _logical_text(logical: Mapping[str, Any]) -> str:
    unit = logical.get("timeUnit")
    if unit is None:
        return str(logical["Type"]).upper()
    return f"{str(logical['Type']).upper()}({_UNITS[unit]},{str(logical['isAdjustedToUTC']).lower()})"
