"""Filters and paths of SCIM requests: `userName eq "ada" and active eq true`, `members[value eq "1"]`.

Source: RFC 7644, sections 3.4.2.2 and 3.5.2. Attribute names ignore case; a value may lack quotes or have
single ones, as the platform accepts it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from lakeward.databricks_shims.local_workspace import ApiError, invalid_parameter

Matcher = Callable[[Mapping[str, Any]], bool]

_TOKEN = re.compile(r"""\s*(\(|\)|"(?:[^"\\]|\\.)*"|'[^']*'(?![^\s()])|[^\s()"]+)""")
_MOST_TOKENS = 1_000
_COMPARISONS: dict[str, Callable[[str, str], bool]] = {
    "eq": lambda found, value: found == value,
    "ne": lambda found, value: found != value,
    "co": lambda found, value: value in found,
    "sw": lambda found, value: found.startswith(value),
    "ew": lambda found, value: found.endswith(value),
    "gt": lambda found, value: found > value,
    "ge": lambda found, value: found >= value,
    "lt": lambda found, value: found < value,
    "le": lambda found, value: found <= value,
}


def compile_filter(text: str) -> Matcher:
    """Return a predicate over resources. Raises ApiError for a filter that is not understood.

    >>> compile_filter('displayName sw "da" or active eq true')({"displayName": "data"})
    True
    """
    if not text.strip():
        return lambda _: True
    return _Parser(text, _tokens(text)).parse()


def values_at(resource: object, path: str) -> list[Any]:
    """Return the values at a dotted path; lists are searched element by element.

    >>> values_at({"emails": [{"value": "a@b"}]}, "emails.value")
    ['a@b']
    """
    found = [resource]
    for name in path.split("."):
        step = []
        for each in found:
            if isinstance(each, Mapping):
                step += [value for key, value in each.items() if key.lower() == name.lower()]
        found = [item for value in step for item in (value if isinstance(value, list) else [value])]
    return found


class _Parser:
    """Recursive descent over the tokens: or, and, not, parentheses, comparisons."""

    def __init__(self, text: str, tokens: list[str]) -> None:
        self._text, self._tokens, self._at, self._depth = text, tokens, 0, 0

    def parse(self) -> Matcher:
        matcher = self._either()
        if self._at < len(self._tokens):
            raise self._invalid()
        return matcher

    def _either(self) -> Matcher:
        found = [self._both()]
        while self._take("or"):
            found.append(self._both())
        return found[0] if len(found) == 1 else lambda resource: any(each(resource) for each in found)

    def _both(self) -> Matcher:
        found = [self._one()]
        while self._take("and"):
            found.append(self._one())
        return found[0] if len(found) == 1 else lambda resource: all(each(resource) for each in found)

    def _one(self) -> Matcher:
        if self._take("not"):
            inner = self._one()
            return lambda resource: not inner(resource)
        if self._take("("):
            self._depth += 1
            if self._depth > 50:
                raise self._invalid()
            inner = self._either()
            if not self._take(")"):
                raise self._invalid()
            return inner
        path, sign = self._next(), self._next().lower()
        if not re.fullmatch(r"[A-Za-z$][\w.$:-]*", path):
            raise self._invalid()
        if sign == "pr":
            return lambda resource: bool(values_at(resource, path))
        compare = _COMPARISONS.get(sign)
        if compare is None:
            raise self._invalid()
        value = _folded(self._value(self._next()))
        return lambda resource: _holds(sign, compare, values_at(resource, path), value)

    def _value(self, token: str) -> str:
        if len(token) > 1 and token[0] == token[-1] == "'":
            return token[1:-1]
        if not token.startswith('"'):
            return token
        try:
            return str(json.loads(token))
        except ValueError:
            raise self._invalid() from None

    def _next(self) -> str:
        if self._at >= len(self._tokens):
            raise self._invalid()
        self._at += 1
        return self._tokens[self._at - 1]

    def _take(self, word: str) -> bool:
        if self._at < len(self._tokens) and self._tokens[self._at].lower() == word:
            self._at += 1
            return True
        return False

    def _invalid(self) -> ApiError:
        return _invalid(self._text)


def _tokens(text: str) -> list[str]:
    found: list[str] = []
    at = 0
    text = text.rstrip()
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None or len(found) >= _MOST_TOKENS:
            raise _invalid(text)
        found.append(match[1])
        at = match.end()
    return found


def _holds(sign: str, compare: Callable[[str, str], bool], found: list[Any], value: str) -> bool:
    texts = [_folded(each) for each in found]
    if sign == "ne":
        return value not in texts
    return any(compare(each, value) for each in texts)


def _folded(value: object) -> str:
    return str(value).lower()


def _invalid(text: str) -> ApiError:
    shown = text if len(text) <= 100 else f"{text[:100]}…"
    return invalid_parameter(f"The filter {shown!r} is invalid.")
