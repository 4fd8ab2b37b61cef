"""How numbers, durations and states are written, here and there the same."""

from __future__ import annotations

STYLES = {
    "COMPLETED": "green",
    "SUCCESS": "green",
    "CHECKED": "green",
    "FAILED": "bold red",
    "SKIPPED": "yellow",
    "WAITING_FOR_RETRY": "yellow",
    "CANCELED": "yellow",
    "EXCLUDED": "dim",
    "RUNNING": "cyan",
    "PLANNING": "blue",
    "QUEUED": "dim",
}


def format_number(number: int | None) -> str:
    """`1,234`; a number that is not known is a dash, never a zero."""
    return "–" if number is None else f"{number:,}"


def format_count(number: int, unit: str) -> str:
    """`1 second`, `2,000 seconds`."""
    return f"{number:,} {unit}" if number == 1 else f"{number:,} {unit}s"


def format_duration(seconds: float) -> str:
    """`0.3 s`, `12 s`, `3 min 05 s`."""
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    return f"{whole // 60} min {whole % 60:02d} s"


def format_kind(name: str) -> str:
    """Return `streaming_table` in words."""
    return name.replace("_", " ")


def plain(text: str, *, keep: str = "\n\t") -> str:
    """Return the text with control characters shown as escapes, so that data cannot steer the terminal."""
    return "".join(
        char if char.isprintable() or char in keep else char.encode("unicode_escape").decode()
        for char in text
    )
