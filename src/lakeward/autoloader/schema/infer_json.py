"""The schema of JSON records (§2.2): strings by default, Spark's types with `inferColumnTypes`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
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
from lakeward.autoloader.readers.times import parse_timestamp, zone_of
from lakeward.autoloader.schema.merge import canonical, inferred, same_name

__all__ = ["JsonInference", "decimal_type"]


class JsonInference:
    """Takes one file after the other; `schema` is what they have in common so far."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._text = JsonText.of(options)
        self._multi_line = options.flag("multiLine")
        # Digits as they were written say how many a decimal has.
        exact = Decimal if options.flag("prefersDecimal") else None
        self._decode: Callable[[bytes], Any] = msgspec.json.Decoder(float_hook=exact).decode
        self._drop_null = options.flag("dropFieldIfAllNull")
        self._columns: dict[str, DataType] = {}

    def add(self, data: bytes) -> None:
        """A file's bytes, unpacked. Lines that cannot be read say nothing."""
        data = self._text.lines(data)
        for line in [data] if self._multi_line else data.split(b"\n"):
            if line.strip():
                self._add_line(line.strip())

    def _add_line(self, line: bytes) -> None:
        try:
            records = self._text.members(line)
        except Malformed:
            return
        for members in records:
            for key, raw in members.items():
                name = key if key in self._columns else same_name(key, self._columns) or key
                if self._options.infer_types:
                    found = self._type(self._decode(raw))
                    known = self._columns.get(name)
                    self._columns[name] = found if known is None else inferred(known, found)
                elif raw != b"null" or not self._drop_null:
                    self._columns[name] = StringType()

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
        if self._options.flag("primitivesAsString"):
            return StringType()
        if isinstance(value, bool):
            return BooleanType()
        if isinstance(value, int):
            return _whole(value)
        if isinstance(value, Decimal):
            return decimal_type(value)
        if isinstance(value, float):
            return DoubleType()
        if self._options.flag("inferTimestamp") and parse_timestamp(value, zone_of("UTC")) is not None:
            return TimestampType()
        return StringType()

    @staticmethod
    def _merged(types: Iterable[DataType]) -> DataType:
        merged: DataType = NullType()
        for dtype in types:
            merged = inferred(merged, dtype)
        return merged


def decimal_type(value: Decimal) -> DataType:
    """The type that holds the number as it was written; a double where there are too many digits."""
    scale = -int(value.as_tuple().exponent)
    precision = max(len(value.as_tuple().digits), scale)
    return DecimalType(precision, scale) if scale >= 0 and precision <= 38 else DoubleType()


def _whole(value: int) -> DataType:
    if -(1 << 63) <= value < 1 << 63:
        return LongType()
    digits = len(str(abs(value)))
    return DecimalType(digits, 0) if digits <= 38 else DoubleType()
