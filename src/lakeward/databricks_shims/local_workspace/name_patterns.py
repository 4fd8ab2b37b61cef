"""Patterns of names in requests."""

from __future__ import annotations


def is_like(text: str, pattern: str) -> bool:
    """Return whether `text` matches an SQL LIKE pattern, in any case of letters.

    Takes time proportional to the product of both lengths; a regular expression backtracks exponentially.

    >>> is_like("Orders_2026", "orders%6"), is_like("orders", "o_d%x%")
    (True, False)
    """
    text, pattern = text.lower(), pattern.lower()
    position = index = star_position = 0
    star = -1  # index of the last %, matched up to star_position
    while position < len(text):
        if index < len(pattern) and pattern[index] != "%" and pattern[index] in ("_", text[position]):
            position, index = position + 1, index + 1
        elif index < len(pattern) and pattern[index] == "%":
            star, star_position, index = index, position, index + 1
        elif star >= 0:
            star_position += 1
            position, index = star_position, star + 1
        else:
            return False
    return not pattern[index:].strip("%")
