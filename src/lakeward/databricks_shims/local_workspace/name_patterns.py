"""Patterns of names in requests."""

from __future__ import annotations

from fnmatch import fnmatchcase

_GLOB = str.maketrans({"%": "*", "_": "?", "*": "[*]", "?": "[?]", "[": "[[]"})


def is_like(text: str, pattern: str) -> bool:
    """Return whether `text` matches an SQL LIKE pattern, in any case of letters.

    >>> is_like("Orders_2026", "orders%6"), is_like("orders", "o_d%x%")
    (True, False)
    """
    return fnmatchcase(text.lower(), pattern.lower().translate(_GLOB))
