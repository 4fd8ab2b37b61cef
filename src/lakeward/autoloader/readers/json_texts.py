"""JSON put together of texts that are JSON already: numbers stay as they were written."""

from __future__ import annotations

import json
from collections.abc import Iterable

__all__ = ["json_text", "object_text"]

json_text = json.JSONEncoder(ensure_ascii=False).encode
"""A value as JSON."""


def object_text(members: Iterable[tuple[str, str]]) -> str:
    """An object of names and the JSON texts of their values.

    >>> object_text([("a", "1.50"), ('"b"', "[2]")])
    '{"a":1.50,"\\\\"b\\\\"":[2]}'
    """
    return "{" + ",".join([f"{json_text(name)}:{text}" for name, text in members]) + "}"
