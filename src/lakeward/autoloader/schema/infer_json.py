"""The schema of JSON records (§2.2): strings by default, Spark's types with `inferColumnTypes`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any

import msgspec
from pyspark.sql.types import (
    ArrayType,
    BooleanType,
    DataType,
    DecimalType,
    DoubleType,
    LongType,
    NullType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

from lakeward.autoloader.options import Options
from lakeward.autoloader.readers.json_lines import JsonText, Malformed
from lakeward.autoloader.readers.json_shapes import record_type
from lakeward.autoloader.readers.times import parse_timestamp, zone_of
from lakeward.autoloader.schema.infer_json_plain import plain_types
from lakeward.autoloader.schema.merge import add_column, canonical, inferred

__all__ = ["JsonInference", "decimal_type"]

# Records with a member for each day or device have ever new shapes.
_SHAPES = 10_000
# Decoded at once, a file is several times as large; the lines of a larger one are decoded one by one.
_AT_ONCE = 16 << 20


class JsonInference:
    """Takes one file after the other; `schema` is what they have in common so far."""

    def __init__(self, options: Options) -> None:
        # Asked for each value, and each answer of the options is a search in their table.
        self._typed = options.infer_types
        self._as_string = options.flag("primitivesAsString")
        self._timestamps = options.flag("inferTimestamp")
        self._text = JsonText.of(options)
        self._multi_line = options.flag("multiLine")
        # Digits as they were written say how many a decimal has.
        exact = Decimal if options.flag("prefersDecimal") else None
        self._decode: Callable[[bytes], Any] = msgspec.json.Decoder(float_hook=exact).decode
        members: Any = dict[str, Any] if self._typed else dict[str, msgspec.Raw]
        self._record = msgspec.json.Decoder(members, float_hook=exact).decode
        self._drop_null = options.flag("dropFieldIfAllNull")
        self._columns: dict[str, DataType] = {}
        self._known: tuple[int, Callable[[bytes], object]] = (0, len)
        # Values of one shape have one type, unless their digits or letters decide.
        self._by_shape = exact is None and not self._timestamps
        self._shapes: set[object] = set()

    def add(self, data: bytes) -> None:
        """A file's bytes, unpacked. Lines that cannot be read say nothing."""
        data = self._text.lines(data)
        if self._multi_line:
            self._add_line(data.strip())
            return
        can = self._typed and self._by_shape
        types = plain_types(data, primitives_as_string=self._as_string) if can else None
        if types is not None:
            for key, found in types.items():
                add_column(self._columns, key, found)
            return
        if not self._has_known_names_only(data):
            for line in data.split(b"\n"):
                self._add_line(line.strip())

    def _has_known_names_only(self, data: bytes) -> bool:
        """Whether the records of a file are like those before, where nothing but their names matters."""
        if self._typed or not self._columns or len(data) > _AT_ONCE:
            return False
        if len(self._columns) > self._known[0]:
            record = record_type(dict.fromkeys(self._columns, msgspec.Raw))
            self._known = len(self._columns), msgspec.json.Decoder(record).decode_lines
        try:
            self._known[1](data)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return False
        return True

    def _add_line(self, line: bytes) -> None:
        for record in self._records_of(line) if line else ():
            for key, value in record.items():
                if self._typed:
                    self._add_value(key, value)
                elif key not in self._columns and (not self._drop_null or bytes(value) != b"null"):
                    add_column(self._columns, key, StringType())

    def _add_value(self, key: str, value: Any) -> None:
        shape = (key, _shape(value)) if self._by_shape else None
        if shape in self._shapes:
            return
        add_column(self._columns, key, self._type(value))
        if shape is not None:
            if len(self._shapes) >= _SHAPES:
                self._shapes.clear()
            self._shapes.add(shape)

    def _records_of(self, line: bytes) -> Sequence[Mapping[str, Any]]:
        """Member → value for each record of a line; where types do not matter, the value's text."""
        try:
            if _is_utf8(line):
                return [self._record(line)]
        except (msgspec.DecodeError, RecursionError):
            pass
        try:
            records = self._text.members(line)
        except Malformed:
            return []
        if not self._typed:
            return records
        return [{key: self._decode(raw) for key, raw in record.items()} for record in records]

    def schema(self) -> StructType:
        """Columns in alphabetical order (§2.2 rule 10)."""
        types = self._columns
        found = [(name, canonical(types[name], drop_null=self._drop_null)) for name in sorted(types)]
        return StructType([StructField(name, dtype) for name, dtype in found if dtype is not None])

    def _type(self, value: Any) -> DataType:
        if value is None:
            return NullType()
        if isinstance(value, dict):
            return StructType([StructField(name, self._type(value[name])) for name in sorted(value)])
        if isinstance(value, list):
            return ArrayType(self._merged(self._type(item) for item in value))
        if self._as_string:
            return StringType()
        if isinstance(value, bool):
            return BooleanType()
        if isinstance(value, int):
            return _whole(value)
        if isinstance(value, Decimal):
            return decimal_type(value)
        if isinstance(value, float):
            return DoubleType()
        if self._timestamps and parse_timestamp(value, zone_of("UTC")) is not None:
            return TimestampType()
        return StringType()

    @staticmethod
    def _merged(types: Iterable[DataType]) -> DataType:
        merged: DataType = NullType()
        for dtype in types:
            merged = inferred(merged, dtype)
        return merged


def _shape(value: Any) -> object:
    """Equal for values of equal type."""
    if isinstance(value, dict):
        return tuple((key, _shape(inner)) for key, inner in value.items())
    if isinstance(value, list):
        return frozenset(map(_shape, value))
    if type(value) is int and not _is_long(value):
        return len(str(abs(value)))
    return type(value)


def _is_utf8(data: bytes) -> bool:
    try:
        return data.isascii() or data.decode() is not None
    except UnicodeDecodeError:
        return False


def decimal_type(value: Decimal) -> DataType:
    """The type that holds the number as it was written; a double where there are too many digits."""
    scale = -int(value.as_tuple().exponent)
    precision = max(len(value.as_tuple().digits), scale)
    return DecimalType(precision, scale) if scale >= 0 and precision <= 38 else DoubleType()


def _is_long(value: int) -> bool:
    return -(1 << 63) <= value < 1 << 63


def _whole(value: int) -> DataType:
    if _is_long(value):
        return LongType()
    digits = len(str(abs(value)))
    return DecimalType(digits, 0) if digits <= 38 else DoubleType()
