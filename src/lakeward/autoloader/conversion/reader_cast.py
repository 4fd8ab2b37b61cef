"""Columns of typed files as Spark's own readers return them, for rows without a rescued data column.

Where nothing keeps a value that does not fit, Spark converts the column or refuses the file. A file's columns
and fields that the schema lacks are left out.
"""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from lakeward.autoloader.conversion.arrow_cast import (
    ColumnCast,
    build_record,
    cast_array,
    is_list,
    record_fields,
)


class TypeMismatchError(Exception):
    """Spark's reader does not convert the type of a column.

    Attributes:
        path: Names of the column and of the field within.
        found: Type of the file.
    """

    def __init__(self, path: tuple[str, ...], found: pa.DataType) -> None:
        self.path, self.found = path, found
        super().__init__(".".join(path))


@dataclass(frozen=True)
class ReaderCast:
    """Converts columns of a format's files to types of the schema."""

    format: str
    columns: ColumnCast

    def convert(self, array: pa.Array, target: pa.DataType, path: tuple[str, ...]) -> pa.Array:
        """Return the values as `target`; raise TypeMismatchError."""
        if pa.types.is_struct(array.type) and pa.types.is_struct(target) and array.type != target:
            fields, _ = self.columns.split_fields(
                record_fields(array),
                target,
                lambda child, field: (self.convert(child, field.type, (*path, field.name)), None),
            )
            return build_record(array, target, fields)
        array = self.columns.adopt_names(array, target)
        kept, _ = self.columns.split(array, target)
        if kept is not None:
            return kept
        self._require_convertible(array.type, target, path)
        try:
            return cast_array(array, target)
        except pa.ArrowInvalid:
            # A number that the narrower type does not hold; Spark returns its last bits.
            raise TypeMismatchError(path, array.type) from None

    def _require_convertible(self, found: pa.DataType, target: pa.DataType, path: tuple[str, ...]) -> None:
        if is_list(found) and is_list(target):
            self._require_convertible(found.value_type, target.value_type, (*path, "element"))
        elif pa.types.is_map(found) and pa.types.is_map(target):
            self._require_convertible(found.key_type, target.key_type, (*path, "key"))
            self._require_convertible(found.item_type, target.item_type, (*path, "value"))
        elif pa.types.is_struct(found) and pa.types.is_struct(target):
            types = {field.name: field.type for field in found}
            for field in target:
                if field.name in types:
                    self._require_convertible(types[field.name], field.type, (*path, field.name))
        elif not (self.columns.fits(found, target) or _is_converted(self.format, found, target)):
            raise TypeMismatchError(path, found)


def _is_converted(form: str, found: pa.DataType, target: pa.DataType) -> bool:
    """Return whether Spark's reader of a format converts a type to another one without a loss.

    Conversions of Spark that reinterpret a number (INT to DATE, DECIMAL to its digits) are not among them.
    """
    kinds = pa.types
    if found == target:
        return True
    if kinds.is_floating(found):
        return bool(kinds.is_float64(target))
    if kinds.is_decimal(found):
        return kinds.is_decimal(target) and _has_digits(target, found.precision, found.scale)
    if kinds.is_integer(found):
        return _is_integer_converted(form, found, target)
    if kinds.is_date(found):
        return form != "orc" and kinds.is_timestamp(target) and target.tz is None
    if form != "parquet":
        return False
    texts = (kinds.is_string, kinds.is_binary)
    return any(
        all(any(check(dtype) for check in checks) for dtype in (found, target))
        for checks in (texts, (kinds.is_timestamp,))
    )


def _is_integer_converted(form: str, found: pa.DataType, target: pa.DataType) -> bool:
    kinds = pa.types
    if kinds.is_integer(target):
        return target.bit_width > found.bit_width or (form != "avro" and found.bit_width <= 32)
    if form == "orc":
        return bool(kinds.is_floating(target) or kinds.is_string(target))
    if kinds.is_float64(target):
        return bool(found.bit_width <= 32)
    digits = 10 if found.bit_width <= 32 else 20
    return form == "parquet" and kinds.is_decimal(target) and _has_digits(target, digits, 0)


def _has_digits(target: pa.DataType, precision: int, scale: int) -> bool:
    """Return whether a decimal type holds numbers with so many digits."""
    return bool(target.scale >= scale and target.precision - target.scale >= precision - scale)
