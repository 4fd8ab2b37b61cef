"""Lists of properties and options: `('key' = 'value', other.key = 1)`."""

from __future__ import annotations

from lakeward.sql.token_cursor import TokenCursor, Unmatched

_MAX_KEY_PARTS = 8


def read_properties(cursor: TokenCursor, *, equals_is_optional: bool = False) -> dict[str, str]:
    """Read a list in parentheses, which may be empty; values are returned as text. Raises Unmatched."""
    cursor.need("(")
    properties: dict[str, str] = {}
    while not cursor.words(")"):
        token = cursor.next
        is_quoted = token is not None and token.is_string
        key = cursor.string() if is_quoted else ".".join(cursor.name(_MAX_KEY_PARTS))
        if not cursor.words("=") and not equals_is_optional:
            raise Unmatched
        properties[key] = _value(cursor)
        if not cursor.words(","):
            cursor.need(")")
            break
    return properties


def _value(cursor: TokenCursor) -> str:
    token = cursor.next
    if token is None or token.text in ",()":
        raise Unmatched
    if token.is_string:
        return cursor.string()
    cursor.at += 1
    return token.text
