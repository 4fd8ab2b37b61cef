"""Text of an option → value. Options arrive as strings, whatever the user wrote (§1.1 rule 9)."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone

__all__ = ["as_bool", "as_bytes", "as_int", "as_interval", "as_list", "as_timestamp"]

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


def as_bool(text: str) -> bool:
    """`true`/`false` in any case. ValueError otherwise."""
    lower = text.strip().lower()
    if lower not in ("true", "false"):
        raise ValueError("true or false")
    return lower == "true"


def as_int(text: str) -> int:
    """A whole number. ValueError otherwise."""
    try:
        return int(text.strip())
    except ValueError:
        raise ValueError("a whole number") from None


def as_bytes(text: str) -> int:
    """`10g`, `500 MB` or a plain number of bytes. ValueError otherwise."""
    match = _SIZE.fullmatch(text.strip().lower())
    if match is None or match[2] not in _UNITS:
        raise ValueError("a size such as 10g or 500mb")
    return int(int(match[1]) * 1024 ** _UNITS[match[2]])


def as_interval(text: str) -> timedelta:
    """`30 days`, `interval 1 week`, `2 hours 30 minutes`. ValueError otherwise."""
    body = text.strip().lower().removeprefix("interval").strip()
    parts = _INTERVAL.findall(body)
    if not parts or _INTERVAL.sub("", body).strip(" ,"):
        raise ValueError("an interval such as '30 days'")
    return timedelta(seconds=sum(int(number) * _SECONDS[unit] for number, unit in parts))


def as_list(text: str) -> tuple[str, ...]:
    """Names between commas, blanks dropped."""
    return tuple(part.strip() for part in text.split(",") if part.strip())


def as_timestamp(text: str) -> datetime:
    """An ISO timestamp; UTC where it names no zone. ValueError otherwise."""
    try:
        value = datetime.fromisoformat(text.strip().replace("Z", "+00:00"))
    except ValueError:
        raise ValueError("a timestamp such as 2024-01-31T12:00:00") from None
    return value if value.tzinfo else value.replace(tzinfo=timezone.utc)
