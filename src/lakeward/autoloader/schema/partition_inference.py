"""Types of partition columns by the values in paths, as Spark's partition discovery infers them (AL-5.2)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import Decimal
from functools import reduce

from pyspark.sql.types import (
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    IntegerType,
    LongType,
    NullType,
    StringType,
    TimestampType,
)

from lakeward.autoloader.schema.number_inference import is_double

_INTEGER = re.compile(r"[+-]?[0-9]+")
_NO_NUMBER = re.compile(r"[+-]?(NaN|Infinity)")
_TIMESTAMP = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9])?")
# Digits of the decimals that hold all values of a type.
_DIGITS: dict[type[DataType], int] = {IntegerType: 10, LongType: 20}


def infer_partition_type(values: Iterable[str | None]) -> DataType:
    """Return the type that holds all values of a partition column; STRING if there are none."""
    no_value: DataType = NullType()
    merged = reduce(_wider_type, map(_value_type, values), no_value)
    return StringType() if isinstance(merged, NullType) else merged


def _value_type(text: str | None) -> DataType:
    if text is None:
        return NullType()
    if is_double(text):
        return _number_type(text)
    # Java parses these as DOUBLE in addition.
    plain = text.strip()
    if _NO_NUMBER.fullmatch(plain) or is_double(plain) or (plain[-1:] in "dDfF" and is_double(plain[:-1])):
        return DoubleType()
    # Imports Arrow, which a stream with a stored schema starts without.
    from lakeward.autoloader.conversion.text_parsing import parse_date

    if len(text) == 10 and parse_date(text) is not None:
        return DateType()
    if _TIMESTAMP.fullmatch(text) and parse_date(text[:10]) is not None and text[11:19] < "24":
        return TimestampType()
    return StringType()


def _number_type(text: str) -> DataType:
    value = Decimal(text)
    if _INTEGER.fullmatch(text):
        if -(1 << 31) <= value < 1 << 31:
            return IntegerType()
        if -(1 << 63) <= value < 1 << 63:
            return LongType()
    _, digits, exponent = value.as_tuple()
    assert isinstance(exponent, int)
    precision = len(digits) + exponent
    return DecimalType(precision, 0) if exponent >= 0 and precision <= 38 else DoubleType()


def _wider_type(left: DataType, right: DataType) -> DataType:
    """Return the type of values of two types. DOUBLE does not hold all of BIGINT and DECIMAL: STRING."""
    if left == right or isinstance(right, NullType):
        return left
    if isinstance(left, NullType):
        return right
    kinds = {type(left), type(right)}
    if kinds == {IntegerType, LongType}:
        return LongType()
    if kinds == {IntegerType, DoubleType}:
        return DoubleType()
    if kinds == {DateType, TimestampType}:
        return TimestampType()
    if DecimalType in kinds and kinds <= {DecimalType, *_DIGITS}:
        return DecimalType(max(map(_digits, (left, right))), 0)
    return StringType()


def _digits(dtype: DataType) -> int:
    return dtype.precision if isinstance(dtype, DecimalType) else _DIGITS[type(dtype)]
