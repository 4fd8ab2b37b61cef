"""Text to typed values: numbers, and dates and timestamps in Spark's ISO formats or Java date patterns."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable
from datetime import date, datetime, timezone, tzinfo
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation, localcontext
from typing import Any

from pyspark.sql.types import DataType

from lakeward.autoloader.conversion.date_patterns import EPOCH, parse_zone, to_micros
from lakeward.autoloader.conversion.text_formats import TextFormats

_INTEGER = re.compile(r"[+-]?[0-9]+")
# A zone follows seconds only.
_CLOCK = r"(\d{1,2})(?::(\d{1,2})(?::(\d{1,2})(?:\.(\d{0,9}))?(\D.*)?)?)?"
_ISO = re.compile(rf"\s*([+-]?\d{{4,6}})(?:-(\d{{1,2}})(?:-(\d{{1,2}})(?:[ T]{_CLOCK})?)?)?\s*", re.DOTALL)
_TIME = re.compile(rf"\s*(?:T|(?=\d{{1,2}}:))({_CLOCK})\s*", re.DOTALL)
_DATE = re.compile(r"\s*([+-]?\d{4,7})(?:-(\d{1,2})(?:-(\d{1,2})(?:[ T].*)?)?)?\s*", re.DOTALL)


def parse_timestamp(text: str, zone: tzinfo | None) -> int | None:
    """Return microseconds since 1970 as Spark casts to TIMESTAMP (zone None: TIMESTAMP_NTZ), or None.

    A time without a date is one of the current day.
    """
    match = _ISO.fullmatch(text)
    if match is None:
        time = _TIME.fullmatch(text) if zone is not None else None
        return parse_timestamp(f"{datetime.now(zone):%Y-%m-%d} {time[1]}", zone) if time else None
    year, month, day, hour, minute, second, fraction, rest = match.groups()
    own: tzinfo | None = None
    if rest and rest.strip():
        own = parse_zone(rest)
        if own is None or zone is None:
            return None
    try:
        moment = datetime(
            int(year), int(month or 1), int(day or 1), int(hour or 0), int(minute or 0), int(second or 0),
            int((fraction or "0").ljust(6, "0")[:6]), tzinfo=timezone.utc if zone is None else own or zone,
        )  # fmt: skip
    except ValueError:
        return None
    return to_micros(moment)


def parse_date(text: str) -> int | None:
    """Return days since 1970 as Spark casts to DATE, or None."""
    match = _DATE.fullmatch(text)
    if match is None:
        return None
    try:
        return date(int(match[1]), int(match[2] or 1), int(match[3] or 1)).toordinal() - EPOCH.toordinal()
    except ValueError:
        return None


RANGES = {"byte": 7, "short": 15, "integer": 31, "long": 63}


def value_parser(dtype: DataType, formats: TextFormats) -> Callable[[str], Any]:
    """Return a parser from text to value, None for an invalid text; times are integers since 1970."""
    name = dtype.typeName()
    if name in RANGES:
        limit = 1 << RANGES[name]
        return lambda text: _parse_integer(text, limit)
    if name in ("float", "double"):
        words = dict(formats.special)
        parse = _parse_grouped_float if formats.grouped_doubles else _parse_float
        return lambda text: words[text] if text in words else parse(text)
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
        return _parse_base64 if formats.base64_binary else str.encode
    return lambda _: None


def _parse_integer(text: str, limit: int) -> int | None:
    if len(text) > 40 or _INTEGER.fullmatch(text) is None:
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


def _parse_grouped_float(text: str) -> float | None:
    return _parse_float(text.replace(",", ""))


def parse_decimal(text: str, precision: int, scale: int) -> Decimal | None:
    """Parse a decimal, rounded half up to the scale; None if it is invalid or has too many digits.

    As in Spark, commas group digits.
    """
    text = text.replace(",", "")
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
