"""Texts → typed Arrow columns: by Arrow where the forms are plain, value by value otherwise."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation, localcontext
from functools import cache
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from lakeward.autoloader.options import Options
from lakeward.autoloader.readers.times import Pattern, parse_date, parse_timestamp, zone_of
from lakeward.autoloader.readers.whole_columns import whole_column

if TYPE_CHECKING:
    from pyspark.sql.types import DataType

__all__ = ["RANGES", "Formats", "decimal_of", "from_texts", "parser_of"]

RANGES = {"byte": 7, "short": 15, "integer": 31, "long": 63}
_SPECIAL = {
    "NaN": float("nan"),
    **dict.fromkeys(("+INF", "Infinity", "+Infinity"), float("inf")),
    **dict.fromkeys(("-INF", "-Infinity"), float("-inf")),
}


@dataclass(frozen=True)
class Formats:
    """How times are written in the files, and the words of floating-point numbers."""

    zone: tzinfo
    timestamp: Pattern | None = None
    timestamp_ntz: Pattern | None = None
    date: Pattern | None = None
    special: tuple[tuple[str, float], ...] = tuple(_SPECIAL.items())
    json: bool = True

    @classmethod
    def of(cls, options: Options, zone: str) -> Formats:
        """As the options say."""
        is_csv = options.format in ("csv", "xml")
        words = _SPECIAL if not is_csv else {
            "NaN": float("nan"),
            str(options.text("nanValue")): float("nan"),
            str(options.text("positiveInf")): float("inf"),
            str(options.text("negativeInf")): float("-inf"),
            "Infinity": float("inf"),
            "-Infinity": float("-inf"),
        }  # fmt: skip
        return cls(
            zone_of(zone) or zone_of("UTC"),  # type: ignore[arg-type]
            _pattern(options, "timestampFormat"),
            _pattern(options, "timestampNTZFormat"),
            _pattern(options, "dateFormat"),
            tuple(words.items()),
            not is_csv,
        )


@cache
def _compiled(text: str) -> Pattern:
    return Pattern(text)


def _pattern(options: Options, key: str) -> Pattern | None:
    text = options.text(key)
    return None if text is None else _compiled(text)


def from_texts(
    texts: Sequence[str | None], dtype: DataType, arrow_type: pa.DataType, formats: Formats
) -> tuple[pa.Array, list[int]]:
    """The column, and the places of texts that are not of the type (null there)."""
    name = dtype.typeName()
    if name in ("string", "varchar", "char"):
        return pa.array(texts, arrow_type), []
    whole = whole_column(pa.array(texts, pa.string()), dtype, arrow_type, formats)
    if whole is not None:
        return whole, []
    parse = parser_of(dtype, formats)
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


def parser_of(dtype: DataType, formats: Formats) -> Callable[[str], Any]:
    """Text → value, None for a text that is not of the type; times as whole numbers since 1970."""
    name = dtype.typeName()
    if name in RANGES:
        limit = 1 << RANGES[name]
        return lambda text: _integer(text, limit)
    if name in ("float", "double"):
        words = dict(formats.special)
        return lambda text: words[text] if text in words else _float(text)
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
        return lambda text: decimal_of(text, precision, scale)
    if name == "binary":
        return _base64 if formats.json else str.encode
    return lambda _: None


def _integer(text: str, limit: int) -> int | None:
    if not text.isascii() or not text.lstrip("+-").isdigit() or len(text) > 40:
        return None
    value = int(text)
    return value if -limit <= value < limit else None


def _float(text: str) -> float | None:
    if not text.isascii() or "_" in text or text.strip().lower().lstrip("+-") in ("nan", "inf", "infinity"):
        return None
    try:
        # Java takes the suffixes of its literals.
        return float(text[:-1] if text[-1:] in ("f", "d", "F", "D") else text)
    except ValueError:
        return None


def decimal_of(text: str, precision: int, scale: int) -> Decimal | None:
    """Rounded half up to the scale; None when it is no number or needs more digits."""
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


def _base64(text: str) -> bytes | None:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
