"""Dates and timestamps in text: Spark's lenient ISO formats and Java date patterns."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime, timedelta, timezone, tzinfo
from functools import cache
from zoneinfo import ZoneInfo

from lakeward.autoloader.options.option_values import Options

EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_ISO = re.compile(
    r"\s*([+-]?\d{4,6})(?:-(\d{1,2})(?:-(\d{1,2})"
    r"(?:[ T](?:(\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:\.(\d{0,9}))?)?)?(.*))?)?)?\s*",
    re.DOTALL,
)
_DATE = re.compile(r"\s*([+-]?\d{4,7})(?:-(\d{1,2})(?:-(\d{1,2})(?:[ T].*)?)?)?\s*", re.DOTALL)
_OFFSET = re.compile(r"(?:UTC|GMT|UT)?([+-])(\d{1,2})(?::?(\d{2}))?(?::?(\d{2}))?")


@cache
def parse_zone(name: str) -> tzinfo | None:
    """Parse a Java zone name: `Z`, `+02:00`, `GMT+1`, `Europe/Paris`; None if unknown."""
    text = name.strip()
    if text in ("Z", "UTC", "GMT", "UT", "Etc/UTC"):
        return timezone.utc
    match = _OFFSET.fullmatch(text)
    if match:
        offset = timedelta(hours=int(match[2]), minutes=int(match[3] or 0), seconds=int(match[4] or 0))
        return timezone(-offset if match[1] == "-" else offset) if offset <= timedelta(hours=18) else None
    try:
        return ZoneInfo(text)
    except (KeyError, ValueError, OSError):
        return None


def parse_timestamp(text: str, zone: tzinfo | None) -> int | None:
    """Return microseconds since 1970 as Spark casts to TIMESTAMP (zone None: TIMESTAMP_NTZ), or None."""
    match = _ISO.fullmatch(text)
    if match is None:
        return None
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
    return _to_micros(moment)


def parse_date(text: str) -> int | None:
    """Return days since 1970 as Spark casts to DATE, or None."""
    match = _DATE.fullmatch(text)
    if match is None:
        return None
    try:
        return date(int(match[1]), int(match[2] or 1), int(match[3] or 1)).toordinal() - EPOCH.toordinal()
    except ValueError:
        return None


def _to_micros(moment: datetime) -> int:
    return (moment - EPOCH) // timedelta(microseconds=1)


_LETTERS = {
    "y": ("year", r"\d{1,4}"),
    "u": ("year", r"\d{1,4}"),
    "M": ("month", r"\d{1,2}"),
    "L": ("month", r"\d{1,2}"),
    "d": ("day", r"\d{1,2}"),
    "H": ("hour", r"\d{1,2}"),
    "k": ("hour", r"\d{1,2}"),
    "h": ("hour12", r"\d{1,2}"),
    "m": ("minute", r"\d{1,2}"),
    "s": ("second", r"\d{1,2}"),
    "S": ("fraction", r"\d{1,9}"),
    "a": ("half", "[AaPp][Mm]"),
    "X": ("zone", r"Z|[+-]\d{2}(?::?\d{2})?"),
    "x": ("zone", r"[+-]\d{2}(?::?\d{2})?"),
    "Z": ("zone", r"[+-]\d{4}|[+-]\d{2}:\d{2}|GMT.*"),
    "V": ("zone", r"[\w/+-]+"),
    "z": ("zone", r"[\w/+:-]+"),
}  # fmt: skip
_MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
_FULL = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]


class DatePattern:
    """A Java date pattern (`yyyy-MM-dd HH:mm:ss`). Raises ValueError for unsupported letters."""

    def __init__(self, pattern: str) -> None:
        body = re.sub(
            r"'((?:[^']|'')*)'|([A-Za-z])\2*|\[|\]|.",
            _translate_letters,
            pattern,
            flags=re.DOTALL,
        )
        self._regex = re.compile(body)

    def micros(self, text: str, zone: tzinfo | None) -> int | None:
        """Parse a timestamp like `parse_timestamp`."""
        match = self._regex.fullmatch(text)
        if match is None:
            return None
        parts = {name: value for name, value in match.groupdict().items() if value is not None}
        hour = int(parts.get("hour", 0))
        if "hour12" in parts:
            hour = int(parts["hour12"]) % 12 + (12 if parts.get("half", "am").lower() == "pm" else 0)
        own = parse_zone(parts["zone"]) if "zone" in parts else None
        year = parts.get("year", "1970")
        try:
            moment = datetime(
                int(year) + (2000 if len(year) == 2 else 0), _month(parts), int(parts.get("day", 1)), hour,
                int(parts.get("minute", 0)), int(parts.get("second", 0)),
                int(parts.get("fraction", "0").ljust(6, "0")[:6]),
                tzinfo=timezone.utc if zone is None else own or zone,
            )  # fmt: skip
        except ValueError:
            return None
        return _to_micros(moment)

    def days(self, text: str) -> int | None:
        """Parse a date like `parse_date`."""
        micros = self.micros(text, None)
        return None if micros is None else micros // 86_400_000_000


def _month(parts: dict[str, str]) -> int:
    if "name" in parts:
        return [m[:3] for m in _MONTHS].index(parts["name"][:3].title()) + 1
    return int(parts.get("month", 1))


def _translate_letters(match: re.Match[str]) -> str:
    whole = match[0]
    if match[1] is not None:
        return re.escape(match[1].replace("''", "'") or "'")
    if whole == "[":
        return "(?:"
    if whole == "]":
        return ")?"
    if not whole[0].isalpha():
        return re.escape(whole)
    if whole[0] in "ML" and len(whole) >= 3:
        return "(?P<name>(?i:" + "|".join(_FULL if len(whole) > 3 else _MONTHS) + "))"
    if whole[0] in "E":
        return "[A-Za-z]+"
    if whole[0] not in _LETTERS:
        raise ValueError(f"a pattern without the unsupported letter {whole[0]!r}")
    name, body = _LETTERS[whole[0]]
    if len(whole) > 1 and body.startswith(r"\d{1,"):
        body = rf"\d{{{len(whole)}}}" if name != "year" or len(whole) == 2 else r"\d{4}"
    return f"(?P<{name}>{body})"


_SPECIAL = {
    "NaN": float("nan"),
    **dict.fromkeys(("+INF", "Infinity", "+Infinity"), float("inf")),
    **dict.fromkeys(("-INF", "-Infinity"), float("-inf")),
}


@dataclass(frozen=True)
class TextFormats:
    """Formats of timestamps and dates, and the spelling of special floating-point numbers."""

    zone: tzinfo
    timestamp: DatePattern | None = None
    timestamp_ntz: DatePattern | None = None
    date: DatePattern | None = None
    special: tuple[tuple[str, float], ...] = tuple(_SPECIAL.items())
    json: bool = True

    @classmethod
    def of(cls, options: Options, zone: str) -> TextFormats:
        """Return the formats that the options set."""
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
            parse_zone(zone) or parse_zone("UTC"),  # type: ignore[arg-type]
            _date_pattern(options, "timestampFormat"),
            _date_pattern(options, "timestampNTZFormat"),
            _date_pattern(options, "dateFormat"),
            tuple(words.items()),
            not is_csv,
        )


@cache
def _compile_pattern(text: str) -> DatePattern:
    return DatePattern(text)


def _date_pattern(options: Options, key: str) -> DatePattern | None:
    text = options.text(key)
    return None if text is None else _compile_pattern(text)
