"""Text to typed values: by Arrow's casts where Arrow and Spark agree on every value, else value by value."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Sequence
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation, localcontext
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql.types import (
    BooleanType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    IntegerType,
    LongType,
    StringType,
    TimestampType,
)

from lakeward.autoloader.conversion.text_formats import TextFormats, parse_date, parse_timestamp, parse_zone
from lakeward.autoloader.options.option_values import Options

RANGES = {"byte": 7, "short": 15, "integer": 31, "long": 63}


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


def value_parser(dtype: DataType, formats: TextFormats) -> Callable[[str], Any]:
    """Return a parser from text to value, None for an invalid text; times are integers since 1970."""
    name = dtype.typeName()
    if name in RANGES:
        limit = 1 << RANGES[name]
        return lambda text: _parse_integer(text, limit)
    if name in ("float", "double"):
        words = dict(formats.special)
        return lambda text: words[text] if text in words else _parse_float(text)
    if name == "boolean":
        return lambda text: {"true": True, "false": False}.get(text.lower())
    if name == "timestamp":
        pattern, zone = formats.timestamp, formats.zone
        return lambda text: parse_timestamp(text, zone) if pattern is None else pattern.micros(text, zone)
    if name == "timestamp_ntz":
        ntz = formats.timestamp_ntz
        return lambda text: parse_timestamp(text, None) if ntz is None else ntz.micros(text, None)
    if name == "date":
        days = formats.date
        return lambda text: parse_date(text) if days is None else days.days(text)
    if name == "decimal":
        precision, scale = dtype.precision, dtype.scale  # type: ignore[attr-defined]
        return lambda text: parse_decimal(text, precision, scale)
    if name == "binary":
        return _parse_base64 if formats.json else str.encode
    return lambda _: None


def _parse_integer(text: str, limit: int) -> int | None:
    if not text.isascii() or not text.lstrip("+-").isdigit() or len(text) > 40:
        return None
    value = int(text)
    return value if -limit <= value < limit else None


def _parse_float(text: str) -> float | None:
    if not text.isascii() or "_" in text or text.strip().lower().lstrip("+-") in ("nan", "inf", "infinity"):
        return None
    try:
        # Java accepts the suffixes of its literals.
        return float(text[:-1] if text[-1:] in ("f", "d", "F", "D") else text)
    except ValueError:
        return None


def parse_decimal(text: str, precision: int, scale: int) -> Decimal | None:
    """Parse a decimal, rounded half up to the scale; None if it is invalid or has too many digits."""
    if "_" in text or text != text.strip():
        return None
    try:
        with localcontext() as context:
            context.prec = 100
            value = Decimal(text)
            if not value.is_finite() or value.adjusted() > 60:
                return None
            rounded = value.quantize(Decimal(1).scaleb(-scale), rounding=ROUND_HALF_UP)
    except (InvalidOperation, ValueError):
        return None
    return rounded if rounded.adjusted() < precision - scale or not rounded else None


def _parse_base64(text: str) -> bytes | None:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None


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
    candidates: list[DataType] = [
        DoubleType(),
        *([DateType()] if prefer_date else []),
        TimestampType(),
        BooleanType(),
    ]
    for dtype in candidates:
        if value_parser(dtype, formats)(text) is not None and _has_strict_form(dtype, text):
            return dtype
    return StringType()


def _has_strict_form(dtype: DataType, text: str) -> bool:
    """Return whether a date or timestamp has its strict form: a bare year is a number."""
    if isinstance(dtype, DateType):
        return re.fullmatch(r"\d{4}-\d{2}-\d{2}", text) is not None
    return not isinstance(dtype, TimestampType) or re.match(r"\d{4}-\d{2}-\d{2}[T ]\d{2}:", text) is not None


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
