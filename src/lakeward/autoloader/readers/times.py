"""Text → date or timestamp as Spark reads it: the lenient ISO forms, or the user's pattern."""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta, timezone, tzinfo
from functools import cache
from zoneinfo import ZoneInfo

__all__ = ["EPOCH", "Pattern", "parse_date", "parse_timestamp", "zone_of"]

EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_ISO = re.compile(
    r"\s*([+-]?\d{4,6})(?:-(\d{1,2})(?:-(\d{1,2})"
    r"(?:[ T](?:(\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:\.(\d{0,9}))?)?)?(.*))?)?)?\s*",
    re.DOTALL,
)
_DATE = re.compile(r"\s*([+-]?\d{4,7})(?:-(\d{1,2})(?:-(\d{1,2})(?:[ T].*)?)?)?\s*", re.DOTALL)
_OFFSET = re.compile(r"(?:UTC|GMT|UT)?([+-])(\d{1,2})(?::?(\d{2}))?(?::?(\d{2}))?")


@cache
def zone_of(name: str) -> tzinfo | None:
    """A zone by Java's names: `Z`, `+02:00`, `GMT+1`, `Europe/Paris`; None for an unknown one."""
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
    """Microseconds since 1970 as Spark casts to TIMESTAMP, with zone None to TIMESTAMP_NTZ; else None."""
    match = _ISO.fullmatch(text)
    if match is None:
        return None
    year, month, day, hour, minute, second, fraction, rest = match.groups()
    own: tzinfo | None = None
    if rest and rest.strip():
        own = zone_of(rest)
        if own is None or zone is None:
            return None
    try:
        moment = datetime(
            int(year), int(month or 1), int(day or 1), int(hour or 0), int(minute or 0), int(second or 0),
            int((fraction or "0").ljust(6, "0")[:6]), tzinfo=timezone.utc if zone is None else own or zone,
        )  # fmt: skip
    except ValueError:
        return None
    return _micros(moment)


def parse_date(text: str) -> int | None:
    """Days since 1970 of what Spark casts to DATE; None if it cannot."""
    match = _DATE.fullmatch(text)
    if match is None:
        return None
    try:
        return date(int(match[1]), int(match[2] or 1), int(match[3] or 1)).toordinal() - EPOCH.toordinal()
    except ValueError:
        return None


def _micros(moment: datetime) -> int:
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


class Pattern:
    """A Java date pattern (`yyyy-MM-dd HH:mm:ss`). ValueError for letters that are not known here."""

    def __init__(self, pattern: str) -> None:
        body = re.sub(
            r"'((?:[^']|'')*)'|([A-Za-z])\2*|\[|\]|.",
            _piece,
            pattern,
            flags=re.DOTALL,
        )
        self._regex = re.compile(body)

    def micros(self, text: str, zone: tzinfo | None) -> int | None:
        """As parse_timestamp."""
        match = self._regex.fullmatch(text)
        if match is None:
            return None
        parts = {name: value for name, value in match.groupdict().items() if value is not None}
        hour = int(parts.get("hour", 0))
        if "hour12" in parts:
            hour = int(parts["hour12"]) % 12 + (12 if parts.get("half", "am").lower() == "pm" else 0)
        own = zone_of(parts["zone"]) if "zone" in parts else None
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
        return _micros(moment)

    def days(self, text: str) -> int | None:
        """As parse_date."""
        micros = self.micros(text, None)
        return None if micros is None else micros // 86_400_000_000


def _month(parts: dict[str, str]) -> int:
    if "name" in parts:
        return [m[:3] for m in _MONTHS].index(parts["name"][:3].title()) + 1
    return int(parts.get("month", 1))


def _piece(match: re.Match[str]) -> str:
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
        raise ValueError(f"a pattern without the letter {whole[0]!r}, which is not known here")
    name, body = _LETTERS[whole[0]]
    if len(whole) > 1 and body.startswith(r"\d{1,"):
        body = rf"\d{{{len(whole)}}}" if name != "year" or len(whole) == 2 else r"\d{4}"
    return f"(?P<{name}>{body})"
