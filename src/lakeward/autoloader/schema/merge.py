"""Two types of one column → the type that holds both (auto-loader.md §2.2, §3.4). Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from pyspark.sql.types import (
    ArrayType,
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

__all__ = ["add_column", "appended", "canonical", "inferred", "same_name", "widened"]

_WHOLE: list[type[DataType]] = [ByteType, ShortType, IntegerType, LongType]
_DIGITS: dict[type[DataType], int] = {ByteType: 10, ShortType: 10, IntegerType: 10, LongType: 20}


def same_name(name: str, fields: Iterable[str]) -> str | None:
    """The field that this is: names that differ in case only are one column for inference (§2.2 rule 11)."""
    lower = name.lower()
    return next((field for field in fields if field.lower() == lower), None)


def inferred(a: DataType, b: DataType) -> DataType:
    """As Spark's inference widens: what has nothing in common is a string."""
    if a == b or isinstance(b, NullType):
        return a
    if isinstance(a, NullType):
        return b
    if isinstance(a, StructType) and isinstance(b, StructType):
        return _structs(a, b, inferred, order=sorted)
    if isinstance(a, ArrayType) and isinstance(b, ArrayType):
        return ArrayType(inferred(a.elementType, b.elementType))
    if isinstance(a, MapType) and isinstance(b, MapType) and a.keyType == b.keyType:
        return MapType(a.keyType, inferred(a.valueType, b.valueType))
    number = _number(a, b)
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
    found: DataType,
    merge: Callable[[DataType, DataType], DataType] = inferred,
) -> None:
    """Put a further column among `columns`: into the one that it is, which then holds both."""
    own = name if name in columns else same_name(name, columns) or name
    columns[own] = merge(columns[own], found) if own in columns else found


def widened(stored: DataType, found: DataType) -> DataType | None:
    """The stored type where it may stay or widen to hold `found` (§3.4), None where it may not."""
    if stored == found or isinstance(found, NullType):
        return stored
    if type(stored) in _WHOLE and type(found) in _WHOLE:
        return max(stored, found, key=lambda t: _WHOLE.index(type(t)))
    if type(stored) in _WHOLE and isinstance(found, DecimalType):
        return _decimals(DecimalType(_DIGITS[type(stored)], 0), found)
    if isinstance(stored, DecimalType) and (isinstance(found, DecimalType) or type(found) in _WHOLE):
        other = found if isinstance(found, DecimalType) else DecimalType(_DIGITS[type(found)], 0)
        return _decimals(stored, other)
    if type(stored) in _WHOLE[:3] and isinstance(found, (DoubleType, FloatType)):
        return DoubleType()
    if isinstance(stored, FloatType) and isinstance(found, DoubleType):
        return found
    if isinstance(stored, DoubleType) and (isinstance(found, FloatType) or type(found) in _WHOLE[:3]):
        return stored
    if isinstance(stored, DateType) and isinstance(found, TimestampNTZType):
        return found
    return None


def appended(stored: StructType, found: StructType, *, widen: bool) -> StructType:
    """Stored columns keep place and type, new ones go to the end; nested records likewise (§3.2 rule 5)."""
    fields, names = [], [field.name for field in found.fields]
    for field in stored.fields:
        match = field.name if field.name in names else same_name(field.name, names)
        dtype = field.dataType
        if match is not None:
            dtype = _grown(dtype, found[match].dataType, widen)
        fields.append(StructField(field.name, dtype, field.nullable, field.metadata))
    fields += [field for field in found.fields if same_name(field.name, stored.names) is None]
    return StructType(fields)


def canonical(dtype: DataType, *, drop_null: bool = False) -> DataType | None:
    """A type that tables can have: unknown is a string, records without members do not exist (None).

    With `drop_null` what is only ever null does not exist either.
    """
    if isinstance(dtype, NullType):
        return None if drop_null else StringType()
    if isinstance(dtype, ArrayType):
        element = canonical(dtype.elementType, drop_null=drop_null)
        return None if element is None else ArrayType(element)
    if isinstance(dtype, StructType):
        kept = [(field.name, canonical(field.dataType, drop_null=drop_null)) for field in dtype.fields]
        fields = [StructField(name, inner) for name, inner in kept if inner is not None]
        return StructType(fields) if fields else None
    return dtype


def _grown(stored: DataType, found: DataType, widen: bool) -> DataType:
    if isinstance(stored, StructType) and isinstance(found, StructType):
        return appended(stored, found, widen=widen)
    if isinstance(stored, ArrayType) and isinstance(found, ArrayType):
        return ArrayType(_grown(stored.elementType, found.elementType, widen), stored.containsNull)
    return (widened(stored, found) if widen else None) or stored


def _structs(
    a: StructType,
    b: StructType,
    merge: Callable[[DataType, DataType], DataType],
    order: Callable[[Iterable[str]], Iterable[str]],
) -> StructType:
    types: dict[str, DataType] = {}
    for field in (*a.fields, *b.fields):
        add_column(types, field.name, field.dataType, merge)
    return StructType([StructField(name, types[name]) for name in order(types)])


def _number(a: DataType, b: DataType) -> DataType | None:
    whole = [t for t in (a, b) if type(t) in _WHOLE]
    if len(whole) == 2:
        return max(whole, key=lambda t: _WHOLE.index(type(t)))
    numbers = (*_WHOLE, FloatType, DoubleType, DecimalType)
    if type(a) not in numbers or type(b) not in numbers:
        return None
    if isinstance(a, (DoubleType, FloatType)) or isinstance(b, (DoubleType, FloatType)):
        return DoubleType()
    decimals = [t if isinstance(t, DecimalType) else DecimalType(_DIGITS[type(t)], 0) for t in (a, b)]
    return _decimals(decimals[0], decimals[1]) or DoubleType()


def _decimals(a: DecimalType, b: DecimalType) -> DecimalType | None:
    scale = max(a.scale, b.scale)
    precision = max(a.precision - a.scale, b.precision - b.scale) + scale
    return DecimalType(precision, scale) if precision <= 38 else None
