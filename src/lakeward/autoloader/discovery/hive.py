"""`key=value` folders below the source (auto-loader.md §5.2)."""

from __future__ import annotations

from urllib.parse import unquote

__all__ = ["DEFAULT_PARTITION", "partition_values"]

DEFAULT_PARTITION = "__HIVE_DEFAULT_PARTITION__"


def partition_values(below: str) -> dict[str, str | None]:
    """The keys and values in a file's path below the source; an escaped or null value in its plain form."""
    out: dict[str, str | None] = {}
    for segment in below.split("/")[:-1]:
        key, equals, value = segment.partition("=")
        if equals and key:
            out[unquote(key)] = None if value == DEFAULT_PARTITION else unquote(value)
    return out
