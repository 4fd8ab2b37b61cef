"""Parsers of option texts: each raises ValueError with what it expects."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from typing import Any

_SIZE = re.compile(r"(\d+)\s*([a-z]*)")
_UNITS = {"": 0, "b": 0, "k": 1, "kb": 1, "m": 2, "mb": 2, "g": 3, "gb": 3, "t": 4, "tb": 4, "p": 5, "pb": 5}
_INTERVAL = re.compile(r"(\d+)\s*(second|minute|hour|day|week|month|year)s?")
_SECONDS = {
    "second": 1,
    "minute": 60,
    "hour": 3600,
    "day": 86400,
    "week": 604800,
    "month": 2678400,
    "year": 31622400,
}


def parse_bool(text: str) -> bool:
    """Parse `true` or `false` in any case; raise ValueError otherwise."""
    lower = text.strip().lower()
    if lower not in ("true", "false"):
        raise ValueError("true or false")
    return lower == "true"


def parse_int(text: str) -> int:
    """Parse a whole number; raise ValueError otherwise."""
    try:
        return int(text.strip())
    except ValueError:
        raise ValueError("a whole number") from None


def parse_ratio(text: str) -> float:
    """Parse a number greater than 0; raise ValueError otherwise."""
    try:
        ratio = float(text)
    except ValueError:
        ratio = 0.0
    if not ratio > 0:
        raise ValueError("a number greater than 0")
    return ratio


def parse_bytes(text: str) -> int:
    """Parse `10g`, `500 MB` or a number of bytes; raise ValueError otherwise."""
    match = _SIZE.fullmatch(text.strip().lower())
    if match is None or match[2] not in _UNITS:
        raise ValueError("a size such as 10g or 500mb")
    return int(int(match[1]) * 1024 ** _UNITS[match[2]])


def parse_interval(text: str) -> timedelta:
    """Parse `30 days`, `interval 1 week`, `2 hours 30 minutes`; raise ValueError otherwise."""
    body = text.strip().lower().removeprefix("interval").strip()
    parts = _INTERVAL.findall(body)
    if not parts or _INTERVAL.sub("", body).strip(" ,"):
        raise ValueError("an interval such as '30 days'")
    return timedelta(seconds=sum(int(number) * _SECONDS[unit] for number, unit in parts))


def parse_list(text: str) -> tuple[str, ...]:
    """Split names at commas and drop empty ones."""
    return tuple(part.strip() for part in text.split(",") if part.strip())


def parse_iso_timestamp(text: str) -> datetime:
    """Parse an ISO timestamp, in UTC if it has no zone; raise ValueError otherwise."""
    try:
        value = datetime.fromisoformat(text.strip().replace("Z", "+00:00"))
    except ValueError:
        raise ValueError("a timestamp such as 2024-01-31T12:00:00") from None
    return value if value.tzinfo else value.replace(tzinfo=timezone.utc)


PARSERS: dict[str, Callable[[str], Any]] = {
    "bool": parse_bool,
    "int": parse_int,
    "ratio": parse_ratio,
    "bytes": parse_bytes,
    "interval": parse_interval,
    "list": parse_list,
    "timestamp": parse_iso_timestamp,
}
"""The parser of each kind of option (`Option.kind`)."""
