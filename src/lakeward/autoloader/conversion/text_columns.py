"""Columns of texts to typed columns.

Arrow casts whole columns where it and Spark agree on every value; other columns are parsed value by value.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql.types import DataType

from lakeward.autoloader.conversion.date_patterns import parse_zone
from lakeward.autoloader.conversion.text_formats import TextFormats
from lakeward.autoloader.conversion.text_parsing import value_parser


def parse_column(
    texts: Sequence[str | None], dtype: DataType, arrow_type: pa.DataType, formats: TextFormats
) -> tuple[pa.Array, list[int]]:
    """Return the typed column and the indexes of texts that are not of the type (null there).

    Args:
        texts: The texts, None for null.
        dtype: The Spark type.
        arrow_type: The Arrow type of the column.
        formats: Date and timestamp formats.
    """
    name = dtype.typeName()
    if name in ("string", "varchar", "char"):
        return pa.array(texts, arrow_type), []
    whole = cast_text_column(pa.array(texts, pa.string()), dtype, arrow_type, formats)
    if whole is not None:
        return whole, []
    parse = value_parser(dtype, formats)
    values, bad = [], []
    for index, text in enumerate(texts):
        value = None if text is None else parse(text)
        if value is None and text is not None:
            bad.append(index)
        values.append(value)
    if name in ("timestamp", "timestamp_ntz"):
        return pa.array(values, pa.int64()).cast(arrow_type), bad
    if name == "date":
        return pa.array(values, pa.int32()).cast(arrow_type), bad
    return pa.array(values, arrow_type), bad


_DIGITS = bytes.maketrans(b"123456789", b"000000000")


def has_only_characters(column: pa.StringArray, characters: bytes) -> bool:
    """Return whether the texts consist of these ASCII characters."""
    return not _text_bytes(column).translate(None, characters)


def common_shape(column: pa.StringArray) -> str | None:
    """Return the shape of all texts, with 0 for each digit; None if they differ or are empty."""
    lengths = pc.min_max(pc.binary_length(column))
    width = lengths["min"].as_py()
    if not width or lengths["max"].as_py() != width:
        return None
    forms = _text_bytes(column).translate(_DIGITS)
    form = forms[:width]
    return form.decode() if form.isascii() and forms == form * (len(forms) // width) else None


def _text_bytes(column: pa.StringArray) -> bytes:
    """Return all texts, concatenated."""
    _, offsets, content = column.buffers()
    if content is None or not len(column):
        return b""
    ends = memoryview(offsets).cast("i")
    return bytes(memoryview(content)[ends[column.offset] : ends[column.offset + len(column)]])


# For texts of these characters Arrow rejects what is not a number or is out of range. For others it accepts
# blanks and hexadecimal numbers.
_NUMERALS = {
    **dict.fromkeys(("byte", "short", "integer", "long"), b"0123456789-"),
    **dict.fromkeys(("float", "double"), b"0123456789-+.eE"),
    "decimal": b"0123456789-.",
}
_LOCAL_TIMESTAMP = "[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]{1,6})?"
_ZONED_TIMESTAMP = _LOCAL_TIMESTAMP + "(Z|[+-](0[0-9]|1[0-7]):[0-5][0-9])"


def cast_text_column(
    column: pa.StringArray, dtype: DataType, arrow_type: pa.DataType, formats: TextFormats
) -> pa.Array | None:
    """Return the typed column, None if values must be parsed one by one.

    Args:
        column: The texts.
        dtype: The Spark type.
        arrow_type: The Arrow type of the column.
        formats: Date and timestamp formats.
    """
    name = dtype.typeName()
    try:
        if name in ("string", "varchar", "char"):
            return column.cast(arrow_type)
        if name == "boolean":
            words = pc.utf8_lower(column)
            known = pc.or_(pc.is_in(words, pa.array(["true", "false"])), pc.is_null(words))
            return pc.equal(words, "true") if pc.all(known).as_py() is not False else None
        if name in _NUMERALS:
            return column.cast(arrow_type) if has_only_characters(column, _NUMERALS[name]) else None
        if column.null_count == len(column):
            return pa.nulls(len(column), arrow_type)
        if name == "date" and formats.date is None:
            return column.cast(arrow_type) if common_shape(column) == "0000-00-00" else None
        if name == "timestamp" and formats.timestamp is None:
            return _cast_timestamps(column, arrow_type, formats)
    except pa.ArrowInvalid:
        return None
    return None


def _cast_timestamps(
    column: pa.StringArray, arrow_type: pa.DataType, formats: TextFormats
) -> pa.Array | None:
    if _all_match(column, _ZONED_TIMESTAMP):
        return column.cast(arrow_type)
    if formats.zone == parse_zone("UTC") and _all_match(column, _LOCAL_TIMESTAMP):
        return column.cast(pa.timestamp("us")).cast(pa.int64()).cast(arrow_type)
    return None


def _all_match(column: pa.StringArray, pattern: str) -> bool:
    form = common_shape(column)
    # Offsets have a limited range, so their digits must be checked.
    if form is None or form[-6:-5] in ("+", "-"):
        return bool(pc.all(pc.match_substring_regex(column, f"^{pattern}$")).as_py())
    return re.fullmatch(pattern, form) is not None
