"""Types of texts, and merging and widening of column types (AL-2.2, AL-3.4). Pure functions."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping

from pyspark.sql.types import (
    ArrayType,
    BooleanType,
    ByteType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    MapType,
    NullType,
    ShortType,
    StringType,
    StructField,
    StructType,
    TimestampNTZType,
    TimestampType,
)

from lakeward.autoloader.conversion.text_formats import TextFormats
from lakeward.autoloader.conversion.text_parsing import value_parser
from lakeward.autoloader.options.option_values import Options

_INTEGER_TYPES: list[type[DataType]] = [ByteType, ShortType, IntegerType, LongType]
_DECIMAL_PRECISION: dict[type[DataType], int] = {ByteType: 10, ShortType: 10, IntegerType: 10, LongType: 20}


def find_same_column(name: str, fields: Iterable[str]) -> str | None:
    """Return the field with this name; inference ignores the case of names (AL-2.2.11)."""
    lower = name.lower()
    return next((field for field in fields if field.lower() == lower), None)


def merge_types(a: DataType, b: DataType) -> DataType:
    """Return the type that holds both, as Spark's inference does: a string if they are incompatible."""
    if a == b or isinstance(b, NullType):
        return a
    if isinstance(a, NullType):
        return b
    if isinstance(a, StructType) and isinstance(b, StructType):
        return _merge_structs(a, b)
    if isinstance(a, ArrayType) and isinstance(b, ArrayType):
        return ArrayType(merge_types(a.elementType, b.elementType))
    if isinstance(a, MapType) and isinstance(b, MapType) and a.keyType == b.keyType:
        return MapType(a.keyType, merge_types(a.valueType, b.valueType))
    number = _merge_numbers(a, b)
    if number is not None:
        return number
    kinds = {type(a), type(b)}
    if kinds in ({DateType, TimestampType}, {TimestampNTZType, TimestampType}):
        return TimestampType()
    if kinds == {DateType, TimestampNTZType}:
        return TimestampNTZType()
    return StringType()


def add_column(
    columns: dict[str, DataType],
    name: str,
    dtype: DataType,
    merge: Callable[[DataType, DataType], DataType] = merge_types,
) -> None:
    """Add a column to `columns`, or merge its type into the column of the same name.

    Args:
        columns: Types by name; modified in place.
        name: Name of the column.
        dtype: Type of the column.
        merge: Merges two types.
    """
    own = name if name in columns else find_same_column(name, columns) or name
    columns[own] = merge(columns[own], dtype) if own in columns else dtype


def sorted_struct(types: Mapping[str, DataType]) -> StructType:
    """Return the fields in alphabetical order, as Spark's inference does (AL-2.2.10)."""
    return StructType([StructField(name, types[name]) for name in sorted(types)])


def widen_type(stored: DataType, other: DataType) -> DataType | None:
    """Return the stored type, widened if necessary to hold `other` (AL-3.4), or None if not allowed."""
    if stored == other or isinstance(other, NullType):
        return stored
    if type(stored) in _INTEGER_TYPES and type(other) in _INTEGER_TYPES:
        return max(stored, other, key=lambda t: _INTEGER_TYPES.index(type(t)))
    if type(stored) in _INTEGER_TYPES and isinstance(other, DecimalType):
        return _merge_decimals(DecimalType(_DECIMAL_PRECISION[type(stored)], 0), other)
    if isinstance(stored, DecimalType) and (isinstance(other, DecimalType) or type(other) in _INTEGER_TYPES):
        other = other if isinstance(other, DecimalType) else DecimalType(_DECIMAL_PRECISION[type(other)], 0)
        return _merge_decimals(stored, other)
    if type(stored) in _INTEGER_TYPES[:3] and isinstance(other, (DoubleType, FloatType)):
        return DoubleType()
    if isinstance(stored, FloatType) and isinstance(other, DoubleType):
        return other
    if isinstance(stored, DoubleType) and (isinstance(other, FloatType) or type(other) in _INTEGER_TYPES[:3]):
        return stored
    if isinstance(stored, DateType) and isinstance(other, TimestampNTZType):
        return other
    return None


def merge_new_fields(stored: StructType, other: StructType, *, widen: bool = False) -> StructType:
    """Append new columns; stored ones keep position, also in nested records (AL-3.2.5), and their type.

    With `widen` nested fields get the type that holds the values of both.
    """
    fields, names = [], [field.name for field in other.fields]
    for field in stored.fields:
        match = field.name if field.name in names else find_same_column(field.name, names)
        dtype = field.dataType
        if match is not None:
            dtype = _merge_nested(dtype, other[match].dataType, widen)
        fields.append(StructField(field.name, dtype, field.nullable, field.metadata))
    fields += [field for field in other.fields if find_same_column(field.name, stored.names) is None]
    return StructType(fields)


def to_table_type(dtype: DataType, *, drop_null: bool = False) -> DataType | None:
    """Return a type that tables support: strings for unknown types, None for records without fields.

    With `drop_null` a type that is always null is None, too.
    """
    if isinstance(dtype, NullType):
        return None if drop_null else StringType()
    if isinstance(dtype, ArrayType):
        element = to_table_type(dtype.elementType, drop_null=drop_null)
        return None if element is None else ArrayType(element)
    if isinstance(dtype, StructType):
        kept = [(field.name, to_table_type(field.dataType, drop_null=drop_null)) for field in dtype.fields]
        fields = [StructField(name, inner) for name, inner in kept if inner is not None]
        return StructType(fields) if fields else None
    return dtype


def _merge_nested(stored: DataType, other: DataType, widen: bool) -> DataType:
    if isinstance(stored, StructType) and isinstance(other, StructType):
        return merge_new_fields(stored, other, widen=widen)
    if isinstance(stored, ArrayType) and isinstance(other, ArrayType):
        return ArrayType(_merge_nested(stored.elementType, other.elementType, widen), stored.containsNull)
    if isinstance(stored, MapType) and isinstance(other, MapType):
        key = _merge_nested(stored.keyType, other.keyType, widen)
        return MapType(key, _merge_nested(stored.valueType, other.valueType, widen), stored.valueContainsNull)
    return (widen_type(stored, other) if widen else None) or stored


def _merge_structs(a: StructType, b: StructType) -> StructType:
    types: dict[str, DataType] = {}
    for field in (*a.fields, *b.fields):
        add_column(types, field.name, field.dataType)
    return sorted_struct(types)


def _merge_numbers(a: DataType, b: DataType) -> DataType | None:
    whole = [t for t in (a, b) if type(t) in _INTEGER_TYPES]
    if len(whole) == 2:
        return max(whole, key=lambda t: _INTEGER_TYPES.index(type(t)))
    numbers = (*_INTEGER_TYPES, FloatType, DoubleType, DecimalType)
    if type(a) not in numbers or type(b) not in numbers:
        return None
    if isinstance(a, (DoubleType, FloatType)) or isinstance(b, (DoubleType, FloatType)):
        return DoubleType()
    decimals = [
        t if isinstance(t, DecimalType) else DecimalType(_DECIMAL_PRECISION[type(t)], 0) for t in (a, b)
    ]
    return _merge_decimals(decimals[0], decimals[1]) or DoubleType()


def _merge_decimals(a: DecimalType, b: DecimalType) -> DecimalType | None:
    scale = max(a.scale, b.scale)
    precision = max(a.precision - a.scale, b.precision - b.scale) + scale
    return DecimalType(precision, scale) if precision <= 38 else None


_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_CSV_FORMATS = TextFormats.of(Options.of({"cloudFiles.format": "csv"}), "UTC")
_WHOLE = re.compile(r"[+-]?\d+")


def infer_text_type(text: str, formats: TextFormats = _CSV_FORMATS, *, prefer_date: bool = True) -> DataType:
    """Return the narrowest type of a text, in Spark's order."""
    if _WHOLE.fullmatch(text) and text.isascii():
        value = int(text)
        if -(1 << 31) <= value < 1 << 31:
            return IntegerType()
        if -(1 << 63) <= value < 1 << 63:
            return LongType()
        digits = len(text.lstrip("+-"))
        return DecimalType(digits, 0) if digits <= 38 else DoubleType()
    if text.endswith(".") and _WHOLE.fullmatch(text[:-1]) and len(text.strip("+-.")) <= 38:
        return DecimalType(len(text.strip("+-.")), 0)
    candidates: list[DataType] = [
        DoubleType(),
        *([DateType()] if prefer_date else []),
        TimestampType(),
        BooleanType(),
    ]
    for dtype in candidates:
        if value_parser(dtype, formats)(text) is None:
            continue
        # Without a pattern, values are read in more forms than dates are inferred from.
        if not isinstance(dtype, DateType) or formats.date is not None or _DATE.fullmatch(text):
            return dtype
    return StringType()
