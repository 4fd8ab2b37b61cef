"""Date patterns of Java, as `dateFormat` and `timestampFormat` have them, and the names of time zones."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone, tzinfo
from functools import lru_cache
from zoneinfo import ZoneInfo

EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_OFFSET = re.compile(r"(?:UTC|GMT|UT)?([+-])(\d{1,2})(?::?(\d{2})|:(?=\d$)(\d))?(?::?(\d{2}))?")
# Source: https://docs.oracle.com/en/java/javase/17/docs/api/java.base/java/time/ZoneId.html#SHORT_IDS
_SHORT_IDS = {
    "EST": "-05:00",
    "HST": "-10:00",
    "MST": "-07:00",
    "ACT": "Australia/Darwin",
    "AET": "Australia/Sydney",
    "AGT": "America/Argentina/Buenos_Aires",
    "ART": "Africa/Cairo",
    "AST": "America/Anchorage",
    "BET": "America/Sao_Paulo",
    "BST": "Asia/Dhaka",
    "CAT": "Africa/Harare",
    "CNT": "America/St_Johns",
    "CST": "America/Chicago",
    "CTT": "Asia/Shanghai",
    "EAT": "Africa/Addis_Ababa",
    "ECT": "Europe/Paris",
    "IET": "America/Indiana/Indianapolis",
    "IST": "Asia/Kolkata",
    "JST": "Asia/Tokyo",
    "MIT": "Pacific/Apia",
    "NET": "Asia/Yerevan",
    "NST": "Pacific/Auckland",
    "PLT": "Asia/Karachi",
    "PNT": "America/Phoenix",
    "PRT": "America/Puerto_Rico",
    "PST": "America/Los_Angeles",
    "SST": "Pacific/Guadalcanal",
    "VST": "Asia/Ho_Chi_Minh",
}


# Bounded: what follows a time in a file may be any text.
@lru_cache(maxsize=1024)
def parse_zone(name: str) -> tzinfo | None:
    """Parse a Java zone name: `Z`, `+02:00`, `GMT+1`, `Europe/Paris`; None if unknown."""
    text = _SHORT_IDS.get(name.strip(), name.strip())
    if text in ("Z", "UTC", "GMT", "UT", "Etc/UTC"):
        return timezone.utc
    match = _OFFSET.fullmatch(text)
    if match:
        _, hours, minutes, minute, seconds = match.groups()
        offset = timedelta(hours=int(hours), minutes=int(minutes or minute or 0), seconds=int(seconds or 0))
        return timezone(-offset if match[1] == "-" else offset) if offset <= timedelta(hours=18) else None
    try:
        return ZoneInfo(text)
    except (KeyError, ValueError, OSError):
        return None


def to_micros(moment: datetime) -> int:
    """Return microseconds since 1970."""
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
_FULL = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_MONTHS = tuple(name[:3] for name in _FULL)
# The regions of the names that Java's letter `z` reads; the date decides on daylight saving time.
_ZONE_NAMES = {
    name: region
    for region, names in {
        "America/Anchorage": "AKT AKST AKDT",
        "America/Chicago": "CT CST CDT",
        "America/Denver": "MT MST MDT",
        "America/Halifax": "AST ADT",
        "America/Los_Angeles": "PT PST PDT",
        "America/New_York": "ET EST EDT",
        "Asia/Hong_Kong": "HKT",
        "Asia/Seoul": "KST",
        "Asia/Singapore": "SGT",
        "Asia/Tokyo": "JST",
        "Australia/Sydney": "AEST AEDT",
        "Europe/Athens": "EET EEST",
        "Europe/Lisbon": "WET WEST",
        "Europe/London": "BST",
        "Europe/Moscow": "MSK MSD",
        "Europe/Paris": "CET CEST MET",
        "Pacific/Auckland": "NZST NZDT",
        "Pacific/Honolulu": "HST HDT",
    }.items()
    for name in names.split()
}


class DatePattern:
    """A Java date pattern (`yyyy-MM-dd HH:mm:ss`). Raises ValueError for unsupported letters."""

    def __init__(self, pattern: str) -> None:
        self._fields: list[str] = []
        self._depth = 0
        body = re.sub(
            r"'((?:[^']|'')*)'|([A-Za-z])\2*|\[|\]|.",
            self._translate,
            pattern,
            flags=re.DOTALL,
        )
        # As in Java, the end of the pattern closes optional sections.
        self._regex = re.compile(body + ")?" * self._depth, re.IGNORECASE)

    def _parts(self, text: str) -> dict[str, str] | None:
        """Return the texts of the fields; None for another text, and for a field with two values."""
        match = self._regex.fullmatch(text)
        if match is None:
            return None
        parts: dict[str, str] = {}
        for name, value in zip(self._fields, match.groups(), strict=True):
            if value is not None and parts.setdefault(name, value) != value:
                return None
        return parts

    def micros(self, text: str, zone: tzinfo | None) -> int | None:
        """Parse a timestamp like `text_parsing.parse_timestamp`."""
        parts = self._parts(text)
        if parts is None:
            return None
        hour = int(parts.get("hour", 0))
        if "hour12" in parts:
            hour = int(parts["hour12"]) % 12 + (12 if parts.get("half", "am").lower() == "pm" else 0)
        own = parse_zone(_ZONE_NAMES.get(parts["zone"], parts["zone"])) if "zone" in parts else None
        if own is None and "zone" in parts:
            return None
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
        return to_micros(moment)

    def days(self, text: str) -> int | None:
        """Parse a date like `text_parsing.parse_date`."""
        micros = self.micros(text, None)
        return None if micros is None else micros // 86_400_000_000

    def _translate(self, match: re.Match[str]) -> str:
        """Return the regular expression of a part of the pattern, which may have a field several times."""
        whole = match[0]
        if match[1] is not None:
            return re.escape(match[1].replace("''", "'") or "'")
        if whole == "[":
            self._depth += 1
            return "(?:"
        if whole == "]":
            self._depth -= 1
            if self._depth < 0:
                raise ValueError("a pattern with `[` before each `]`")
            return ")?"
        if not whole[0].isalpha():
            return re.escape(whole)
        if whole[0] in "ML" and len(whole) >= 3:
            self._fields.append("name")
            return "((?i:" + "|".join(_FULL if len(whole) > 3 else _MONTHS) + "))"
        if whole[0] == "E":
            return "[A-Za-z]+"
        if whole[0] not in _LETTERS:
            raise ValueError(f"a pattern without the unsupported letter {whole[0]!r}")
        name, body = _LETTERS[whole[0]]
        if len(whole) > 1 and body.startswith(r"\d{1,"):
            body = rf"\d{{{len(whole)}}}" if name != "year" or len(whole) == 2 else r"\d{4}"
        self._fields.append(name)
        return f"({body})"


def _month(parts: dict[str, str]) -> int:
    if "name" in parts:
        return _MONTHS.index(parts["name"][:3].title()) + 1
    return int(parts.get("month", 1))
