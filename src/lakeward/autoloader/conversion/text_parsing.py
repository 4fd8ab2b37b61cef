"""Text to typed values: numbers, and dates and timestamps in Spark's ISO formats or Java date patterns.

Arrow casts whole columns where it and Spark agree on every value; other columns are parsed value by value.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timezone, tzinfo
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation, localcontext
from functools import cache
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql.types import DataType

from lakeward.autoloader.conversion.date_patterns import EPOCH, DatePattern, parse_zone, to_micros
from lakeward.autoloader.options.option_values import Options
from lakeward.errors import CloudFilesError

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


_SPECIAL = {
    "NaN": float("nan"),
    **dict.fromkeys(("+INF", "Infinity", "+Infinity"), float("inf")),
    **dict.fromkeys(("-INF", "-Infinity"), float("-inf")),
}


@dataclass(frozen=True)
class TextFormats:
    """Formats of timestamps and dates, the spelling of special floating-point numbers, whether BINARY is
    base64, and whether commas group the digits of floating-point numbers."""

    zone: tzinfo
    timestamp: DatePattern | None = None
    timestamp_ntz: DatePattern | None = None
    date: DatePattern | None = None
    special: tuple[tuple[str, float], ...] = tuple(_SPECIAL.items())
    base64_binary: bool = True
    grouped_doubles: bool = False

    @classmethod
    def of(cls, options: Options, zone: str) -> TextFormats:
        """Return the formats that the options set."""
        # Of CSV and XML, which have no types: options name the words, and BINARY is the text itself.
        is_plain_text = options.format in ("csv", "xml")
        words = _SPECIAL if not is_plain_text else {
            "NaN": float("nan"),
            str(options.text("nanValue")): float("nan"),
            str(options.text("positiveInf")): float("inf"),
            str(options.text("negativeInf")): float("-inf"),
            **dict.fromkeys(("Infinity", "+Infinity"), float("inf")),
            "-Infinity": float("-inf"),
        }  # fmt: skip
        named = options.text("timeZone")
        if named and parse_zone(named) is None:
            raise CloudFilesError(
                "INVALID_TIMEZONE",
                f"Option timeZone is set to {named!r}, which is no time zone.",
                next_step="Set a region such as Europe/Paris, or an offset such as +02:00.",
            )
        return cls(
            parse_zone(zone) or parse_zone("UTC"),  # type: ignore[arg-type]
            _date_pattern(options, "timestampFormat"),
            _date_pattern(options, "timestampNTZFormat"),
            _date_pattern(options, "dateFormat") or _default_date_pattern(options),
            tuple(words.items()),
            not is_plain_text,
            options.format == "xml",
        )


# What neither Java's patterns nor Spark's have.
_ILLEGAL_LETTERS = "AbBCfgiIjJlnNoprPRtTU"


@cache
def _compile_pattern(text: str) -> DatePattern:
    return DatePattern(text)


def _date_pattern(options: Options, key: str) -> DatePattern | None:
    text = options.text(key)
    if text is None:
        return None
    try:
        return _compile_pattern(text)
    except ValueError as error:
        raise CloudFilesError(
            _pattern_condition(text),
            f"Option {key} is set to {text!r}; expected {error}.",
            next_step="Correct the pattern, or read the column as text and convert it with to_timestamp.",
        ) from None


def _default_date_pattern(options: Options) -> DatePattern | None:
    """Return the default of Spark's XML reader; without a pattern, dates are read in more forms."""
    has_default = options.format == "xml" and options.flag("preferDate")
    return _compile_pattern("yyyy-MM-dd") if has_default else None


def _pattern_condition(text: str) -> str:
    """Return the condition of a pattern with a letter that is none of Java's, or that lacks a parser here."""
    letters = set(re.sub(r"'[^']*'", "", text))
    is_illegal = not letters.isdisjoint(_ILLEGAL_LETTERS)
    return "INVALID_DATETIME_PATTERN.ILLEGAL_CHARACTER" if is_illegal else "CF_INVALID_OPTION_VALUE"


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
