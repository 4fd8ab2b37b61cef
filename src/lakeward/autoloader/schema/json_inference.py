"""Schema inference for JSON (AL-2.2): strings by default, Spark's types with `inferColumnTypes`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as at
from pyspark.sql.types import (
    ArrayType,
    BooleanType,
    DataType,
    DecimalType,
    DoubleType,
    LongType,
    NullType,
    StringType,
    StructType,
    TimestampType,
)

from lakeward.autoloader.conversion.text_formats import TextFormats
from lakeward.autoloader.conversion.text_parsing import value_parser
from lakeward.autoloader.conversion.type_merging import add_column, merge_types, sorted_struct, to_table_type
from lakeward.autoloader.options.option_values import Options
from lakeward.autoloader.readers.json_fast_path import MIN_BYTES, parse_records
from lakeward.autoloader.readers.json_text import InvalidJson, JsonText
from lakeward.autoloader.readers.json_values import msgspec_record_type
from lakeward.autoloader.schema.number_inference import decimal_type, number_in_text

# Arrow reads larger whole numbers as double, Spark as decimal.
_LONGS_END = float(1 << 63)


class _AmbiguousType(Exception):
    """Arrow's type does not determine Spark's."""


def infer_types_with_arrow(data: bytes, *, primitives_as_string: bool) -> Mapping[str, DataType] | None:
    """Return member types of a large text of JSON lines, None if values must be checked.

    Arrow's inference is much faster than checking every value, and agrees with Spark on values of one kind.
    """
    table = parse_records(data, None) if len(data) >= MIN_BYTES else None
    if table is None:
        return None
    try:
        struct = _arrow_struct(table.schema.names, table.columns, primitives_as_string)
    except _AmbiguousType:
        return None
    return {field.name: field.dataType for field in struct.fields}


def _arrow_struct(names: list[str], columns: list[pa.ChunkedArray], as_string: bool) -> StructType:
    if len({name.lower() for name in names}) < len(names):
        raise _AmbiguousType
    types = {name: _arrow_column_type(column, as_string) for name, column in zip(names, columns, strict=True)}
    return sorted_struct(types)


def _arrow_column_type(column: pa.ChunkedArray, as_string: bool) -> DataType:
    kind = column.type
    if at.is_null(kind):
        return NullType()
    if at.is_struct(kind):
        names = [kind.field(index).name for index in range(kind.num_fields)]
        return _arrow_struct(names, column.flatten(), as_string)
    if at.is_list(kind):
        return ArrayType(
            _arrow_column_type(
                pa.chunked_array([c.flatten() for c in column.chunks], kind.value_type), as_string
            )
        )
    if as_string or at.is_string(kind) or at.is_timestamp(kind):
        return StringType()
    if at.is_boolean(kind):
        return BooleanType()
    if at.is_int64(kind):
        return LongType()
    if at.is_float64(kind) and (pc.max(pc.abs(column)).as_py() or 0) < _LONGS_END:
        return DoubleType()
    raise _AmbiguousType


# The type of `NaN` and `Infinity` is that of this number: DOUBLE, also where decimals are preferred.
_NUMBER = b"1e99"
# Empty texts have no type, as in Spark.
_NULLS = (b"null", b'""')
# Limits memory: records with a member per day or device have unlimited shapes.
_MAX_SHAPES = 10_000
# Decoding multiplies the size; larger files are decoded line by line.
_MAX_WHOLE_DECODE = 16 << 20


class JsonInference:
    """Infers the schema over several files.

    With `adds_corrupt` the schema of files with malformed records has the column that keeps them, as that of
    Spark's batch reader; without it a rescued column keeps them.
    """

    def __init__(self, options: Options, *, adds_corrupt: bool = False) -> None:
        # Cached: option lookups per value are slow.
        self._typed = options.infer_types
        self._as_string = options.flag("primitivesAsString")
        self._timestamps = options.flag("inferTimestamp")
        formats = TextFormats.of(options, options.text("timeZone") or "UTC")
        self._parse_timestamp = value_parser(TimestampType(), formats)
        text = JsonText.of(options)
        self._text = replace(text, leniency=replace(text.leniency, number=_NUMBER)) if self._typed else text
        self._multi_line = options.flag("multiLine")
        # The precision of a decimal is the number of written digits.
        exact = Decimal if options.flag("prefersDecimal") else None
        self._decimals = exact is not None
        # Without a hook, numbers that are too large for a double are an error.
        self._decode: Callable[[bytes], Any] = msgspec.json.Decoder(float_hook=exact or float).decode
        members: Any = dict[str, Any] if self._typed else dict[str, msgspec.Raw]
        self._record = msgspec.json.Decoder(members, float_hook=exact).decode
        self._drop_null = options.flag("dropFieldIfAllNull")
        is_kept = (
            adds_corrupt and options.value("mode") == "PERMISSIVE" and not options.is_set("badRecordsPath")
        )
        self._corrupt = options.text("columnNameOfCorruptRecord") if is_kept else None
        self._is_corrupt = False
        self._columns: dict[str, DataType] = {}
        self._known: tuple[int, Callable[[bytes], object]] = (0, len)
        # Values of the same shape have the same type, unless it depends on digits or text.
        self._by_shape = exact is None and not self._timestamps
        self._shapes: set[object] = set()

    def add(self, data: bytes) -> None:
        """Add the decompressed content of a file. Malformed lines are ignored."""
        data = self._text.lines(data)
        if self._multi_line:
            self._add_line(data.strip())
            return
        can = self._typed and self._by_shape
        types = infer_types_with_arrow(data, primitives_as_string=self._as_string) if can else None
        if types is not None:
            for key, dtype in types.items():
                add_column(self._columns, key, dtype)
            return
        if not self._has_known_names_only(data):
            for line in data.split(b"\n"):
                self._add_line(line.strip())

    def _has_known_names_only(self, data: bytes) -> bool:
        """Return whether a file has no new members, if only their names matter."""
        if self._typed or not self._columns or len(data) > _MAX_WHOLE_DECODE:
            return False
        if len(self._columns) > self._known[0]:
            record = msgspec_record_type(dict.fromkeys(self._columns, msgspec.Raw))
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
                elif key not in self._columns and (not self._drop_null or bytes(value) not in _NULLS):
                    add_column(self._columns, key, StringType())

    def _add_value(self, key: str, value: object) -> None:
        shape = (key, _shape(value)) if self._by_shape else None
        if shape in self._shapes:
            return
        add_column(self._columns, key, self._type(value))
        if shape is not None:
            if len(self._shapes) >= _MAX_SHAPES:
                self._shapes.clear()
            self._shapes.add(shape)

    def _records_of(self, line: bytes) -> Sequence[Mapping[str, Any]]:
        """Return the records of a line, with raw values if types do not matter."""
        try:
            if _is_utf8(line):
                return [self._record(line)]
        except (msgspec.DecodeError, RecursionError):
            pass
        try:
            records = self._text.members(line)
        except InvalidJson:
            self._is_corrupt = True
            return []
        if not self._typed:
            return records
        return [{key: self._decode(raw) for key, raw in record.items()} for record in records]

    def schema(self) -> StructType:
        """Return columns in alphabetical order (AL-2.2.10)."""
        if self._is_corrupt and self._corrupt and self._columns:
            self._columns.setdefault(self._corrupt, StringType())
        schema = to_table_type(self.types(), drop_null=self._drop_null)
        return schema if isinstance(schema, StructType) else StructType()

    def types(self) -> StructType:
        """Return the columns with NULL as the type of those without a value, to merge with others."""
        return sorted_struct(self._columns)

    def _type(self, value: Any) -> DataType:
        if value is None or value == "":
            return NullType()
        if isinstance(value, dict):
            return sorted_struct({name: self._type(inner) for name, inner in value.items()})
        if isinstance(value, list):
            return ArrayType(self._merge(self._type(item) for item in value))
        if self._as_string:
            return StringType()
        if isinstance(value, bool):
            return BooleanType()
        if isinstance(value, int):
            return _integer_type(value)
        if isinstance(value, Decimal):
            return decimal_type(value)
        if isinstance(value, float):
            return DoubleType()
        number = number_in_text(value) if self._decimals else None
        # Only of numbers Spark counts the zeros after the point: the text 0.01 has more of them than digits.
        if number is not None and len(number.as_tuple().digits) >= -int(number.as_tuple().exponent):
            return decimal_type(number)
        if self._timestamps and self._parse_timestamp(value) is not None:
            return TimestampType()
        return StringType()

    @staticmethod
    def _merge(types: Iterable[DataType]) -> DataType:
        merged: DataType = NullType()
        for dtype in types:
            merged = merge_types(merged, dtype)
        return merged


def _shape(value: object) -> object:
    """Return a value that is equal for values of equal type."""
    if isinstance(value, dict):
        return tuple((key, _shape(inner)) for key, inner in value.items())
    if isinstance(value, list):
        return frozenset(map(_shape, value))
    if type(value) is int and not _is_long(value):
        return len(str(abs(value)))
    return None if value == "" else type(value)


def _is_utf8(data: bytes) -> bool:
    try:
        return data.isascii() or data.decode() is not None
    except UnicodeDecodeError:
        return False


def _is_long(value: int) -> bool:
    return -(1 << 63) <= value < 1 << 63


def _integer_type(value: int) -> DataType:
    if _is_long(value):
        return LongType()
    digits = len(str(abs(value)))
    return DecimalType(digits, 0) if digits <= 38 else DoubleType()
