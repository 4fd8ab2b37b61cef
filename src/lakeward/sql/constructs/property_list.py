"""Lists of properties and options: `('key' = 'value', other.key = 1)`."""

from __future__ import annotations

from lakeward.sql.token_cursor import TokenCursor, Unmatched, unquote_token

_MAX_KEY_PARTS = 8


def read_properties(cursor: TokenCursor, *, equals_is_optional: bool = False) -> dict[str, str]:
    """Read a list in parentheses, which may be empty; values are returned as text. Raises Unmatched."""
    cursor.need("(")
    properties: dict[str, str] = {}
    while not cursor.words(")"):
        key = _key(cursor)
        if cursor.phrase("=", "==") is None and not equals_is_optional:
            raise Unmatched
        properties[key] = _value(cursor)
        if not cursor.words(","):
            cursor.need(")")
            break
    return properties


def _key(cursor: TokenCursor) -> str:
    token = cursor.next
    if token is None or not token.is_string:
        return ".".join(cursor.name(_MAX_KEY_PARTS))
    # One literal: without an equals sign, the next one is the value.
    cursor.at += 1
    return unquote_token(token.text)


def _value(cursor: TokenCursor) -> str:
    if cursor.is_string:
        return cursor.string()
    sign = "-" if cursor.words("-") else ""
    token = cursor.next
    if token is None or token.text in ",()":
        raise Unmatched
    cursor.at += 1
    return sign + token.text
