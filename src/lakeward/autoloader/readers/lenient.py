"""JSON as Jackson reads it by default → strict JSON: single quotes, NaN and Infinity."""

from __future__ import annotations

import re

__all__ = ["strict_json"]

_TOKEN = re.compile(
    rb'"(?:[^"\\]|\\.)*"' rb"|'(?:[^'\\]|\\.)*'" rb"|[+-]?(?:NaN|Infinity|INF)\b|[^\"'NIa-zA-Z+-]+|.",
    re.DOTALL,
)


def strict_json(line: bytes, *, single_quotes: bool, words: bool) -> bytes | None:
    """The text in strict JSON, `NaN` and the like as strings; None if there is nothing to change."""
    changed = False
    out = []
    for token in _TOKEN.findall(line):
        if single_quotes and token[:1] == b"'" and len(token) > 1:
            inner = token[1:-1].replace(b"\\'", b"'")
            out.append(b'"' + re.sub(rb'(?<!\\)"', rb'\\"', inner) + b'"')
        elif words and token.lstrip(b"+-") in (b"NaN", b"Infinity", b"INF"):
            out.append(b'"' + token + b'"')
        else:
            out.append(token)
            continue
        changed = True
    return b"".join(out) if changed else None
