"""Text to typed values: vectorized where possible, otherwise value by value; and the type of a text."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Sequence
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation, localcontext
from typing import Any

import pyarrow as pa
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

from lakeward.autoloader.conversion.text_formats import TextFormats, parse_date, parse_timestamp
from lakeward.autoloader.conversion.vectorized_casts import cast_text_column
from lakeward.autoloader.options import Options

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
