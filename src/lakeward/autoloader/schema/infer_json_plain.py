"""The types of a JSON file's members from Arrow's own inference: many times faster than value by value.

Arrow and Spark agree on values that are all of one kind. Where they do not, and where it cannot be told from
what Arrow says, there is no answer, and every value is looked at.
"""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as at
from pyspark.sql.types import (
    ArrayType,
    BooleanType,
    DataType,
    DoubleType,
    LongType,
    NullType,
    StringType,
    StructField,
    StructType,
)

from lakeward.autoloader.readers.json_plain import SMALLEST, plain_records

__all__ = ["plain_types"]

# Arrow makes a double of a whole number that is no LONG; for Spark it is a decimal.
_LONGS_END = float(1 << 63)


class _Unclear(Exception):
    """What Arrow says of a column does not tell what Spark would."""


def plain_types(data: bytes, *, primitives_as_string: bool) -> Mapping[str, DataType] | None:
    """Member → type of a large text of JSON lines; None where the values have to be looked at."""
    table = plain_records(data, None) if len(data) >= SMALLEST else None
    if table is None:
        return None
    try:
        struct = _struct(table.schema.names, table.columns, primitives_as_string)
    except _Unclear:
        return None
    return {field.name: field.dataType for field in struct.fields}


def _struct(names: list[str], columns: list[pa.ChunkedArray], as_string: bool) -> StructType:
    if len({name.lower() for name in names}) < len(names):
        raise _Unclear
    found = {name: _type(column, as_string) for name, column in zip(names, columns, strict=True)}
    return StructType([StructField(name, found[name]) for name in sorted(found)])


def _type(column: pa.ChunkedArray, as_string: bool) -> DataType:
    kind = column.type
    if at.is_null(kind):
        return NullType()
    if at.is_struct(kind):
        names = [kind.field(index).name for index in range(kind.num_fields)]
        return _struct(names, column.flatten(), as_string)
    if at.is_list(kind):
        return ArrayType(
            _type(pa.chunked_array([c.flatten() for c in column.chunks], kind.value_type), as_string)
        )
    if as_string or at.is_string(kind) or at.is_timestamp(kind):
        return StringType()
    if at.is_boolean(kind):
        return BooleanType()
    if at.is_int64(kind):
        return LongType()
    if at.is_float64(kind) and (pc.max(pc.abs(column)).as_py() or 0) < _LONGS_END:
        return DoubleType()
    raise _Unclear
