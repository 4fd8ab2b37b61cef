"""Partition columns of the paths of files, with the types of Spark's partition discovery (AL-5.2)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
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
    StructField,
    StructType,
    TimestampType,
)

from lakeward.autoloader.discovery.file_listing import parse_partition_values, partition_value
from lakeward.autoloader.options.option_values import Options
from lakeward.autoloader.schema.number_inference import is_double
from lakeward.errors import CloudFilesError

_INTEGER = re.compile(r"[+-]?[0-9]+")
_NO_NUMBER = re.compile(r"[+-]?(NaN|Infinity)")
_TIMESTAMP = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9])?")
# Digits of the decimals that hold all values of a type.
_DIGITS: dict[type[DataType], int] = {IntegerType: 10, LongType: 20}


def infer_partition_schema(
    below: Sequence[str], options: Options, user_schema: StructType | None
) -> StructType:
    """Return the partition columns of files with these relative paths.

    With a user schema these are its columns that are partition keys, in any case of their names. Files with
    different layouts have none.
    """
    configured = options.value("cloudFiles.partitionColumns")
    if configured is not None:
        names = list(configured)
    elif options.flag("recursiveFileLookup"):
        names = []
    else:
        layouts = {tuple(parse_partition_values(path)) for path in below}
        names = list(layouts.pop()) if len(layouts) == 1 else []
    if user_schema is not None:
        known = {name.lower() for name in user_schema.names}
        if missing := [name for name in configured or () if name.lower() not in known]:
            raise CloudFilesError(
                "CF_MISSING_PARTITION_COLUMN_ERROR",
                f"Partition column {missing[0]} of cloudFiles.partitionColumns is not in the schema: "
                f"{', '.join(user_schema.names)}.",
                next_step="Add it to the schema, or remove it from cloudFiles.partitionColumns.",
            )
        in_paths = {name.lower() for name in names}
        return StructType([field for field in user_schema.fields if field.name.lower() in in_paths])
    return StructType(
        [StructField(name, _infer_type(partition_value(path, name) for path in below)) for name in names]
    )


def _infer_type(values: Iterable[str | None]) -> DataType:
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
