"""JSON bodies: limits, and the kinds of values that fields of the API take.

A field whose name has one kind wherever the API uses it (`field_types`) is refused with a value of another
kind before a handler sees it, as by the platform's parser, so nothing of it is stored. Maps with names of the
user's (tags, parameters, Spark settings) are not looked into.

The types are generated from databricks-sdk by `scripts/field_types.py`: those of whole requests, objects and
resources, and the kinds of fields that are checked by their name in every route. The second part lacks names
with several kinds in the API (`parameters`).
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from lakeward.databricks_shims.local_workspace.api_error import ApiError


def field_kinds() -> Mapping[str, str]:
    """Return the kind of each field that has one wherever the API uses it: `an object`, `a string`."""
    kinds: Mapping[str, str] = _table()["names"]
    return kinds


def request_types() -> Mapping[str, Any]:
    """Return requests, objects and resources as tables of fields, and enumerations as lists of values."""
    types: Mapping[str, Any] = _table()["types"]
    return types


@cache
def _table() -> Mapping[str, Any]:
    return dict(json.loads(Path(__file__).with_name("field_types.json").read_bytes()))


MAX_DEPTH = 64
"""Levels of objects and arrays; the deepest settings of a job have fewer than 15."""

MAX_VALUES = 500_000
"""Values and keys of a body. Each takes some hundred bytes, and parsing holds the interpreter's lock: 32 MB
of empty lists would take 2 GB and delay all other requests for seconds."""

_MIN_INTEGER, _MAX_INTEGER = -(2**63), 2**63 - 1

OBJECT, OBJECTS, LIST, MAP, TEXT, INTEGER, BOOLEAN = (
    "an object",
    "a list of objects",
    "a list",
    "a map",
    "a string",
    "an integer",
    "a boolean",
)

_OPEN = ("parameters", "contents", "content", "data", "tags")


def _is_integer(value: Any) -> bool:
    if isinstance(value, str):
        return value.removeprefix("-").isdecimal() and len(value) < 20
    return (
        isinstance(value, (int, float))
        and not isinstance(value, bool)
        and math.isfinite(value)
        and value == int(value)
    )


_CHECKS: Mapping[str, Callable[[Any], bool]] = {
    OBJECT: lambda value: isinstance(value, dict),
    OBJECTS: lambda value: isinstance(value, list) and all(isinstance(each, dict) for each in value),
    LIST: lambda value: isinstance(value, list),
    MAP: lambda value: isinstance(value, dict),
    TEXT: lambda value: isinstance(value, (str, int, float)),
    INTEGER: _is_integer,
    BOOLEAN: lambda value: (
        isinstance(value, bool) or (isinstance(value, str) and value.lower() in ("true", "false"))
    ),
}


def parse_body(data: bytes) -> dict[str, Any]:
    """Return the JSON object of a request. Raises ApiError(MALFORMED_REQUEST) for anything else."""
    if len(data) > MAX_VALUES and _has_too_many_values(data):
        raise _malformed(f"The body has more than {MAX_VALUES:,} values.")
    try:
        body = json.loads(data or b"{}")
    except RecursionError:
        raise _too_deep() from None
    except ValueError:
        raise _malformed("The body is not JSON.") from None
    if not isinstance(body, dict):
        raise _malformed("The body is not a JSON object.")
    _check(body, "", known=True)
    return body


def _has_too_many_values(data: bytes) -> bool:
    """Count separators outside of strings, in time and memory proportional to the body."""
    if b"\0" in data:
        raise _malformed("The body is not JSON in UTF-8.")
    plain = data.replace(b"\\\\", b"").replace(b'\\"', b"")
    if plain.count(b'"') > 4 * MAX_VALUES:
        return True
    outside = b"".join(plain.split(b'"')[::2])
    return sum(outside.count(sign) for sign in (b",", b"[", b"{")) > MAX_VALUES


def _check(body: Any, at: str, *, known: bool) -> None:
    """Check a value and everything in it, without recursion; `known` where names are fields of the API."""
    kinds = field_kinds()
    left: list[tuple[Any, str, int, bool]] = [(body, at, 1, known)]
    while left:
        value, place, depth, named = left.pop()
        if isinstance(value, dict):
            if depth > MAX_DEPTH:
                raise _too_deep()
            for name, each in value.items():
                _check_text(name, place or "the body")
                below = f"{place}.{name}" if place else name
                kind = kinds.get(name) if named else None
                if kind is not None and each is not None and not _CHECKS[kind](each):
                    raise _malformed(f"{below}: expected {kind}, found {_described(each)}.")
                left.append((each, below, depth + 1, named and kind != MAP and not _is_open(name, each)))
        elif isinstance(value, list):
            if depth > MAX_DEPTH:
                raise _too_deep()
            left.extend((each, place, depth + 1, named) for each in value)
        else:
            _check_scalar(value, place)


def _is_open(name: str, value: Any) -> bool:
    return name in _OPEN and isinstance(value, dict)


def _check_scalar(value: Any, place: str) -> None:
    if isinstance(value, str):
        _check_text(value, place)
    elif isinstance(value, float):
        if not math.isfinite(value):
            raise _malformed(f"{place}: the number is not finite.")
    elif isinstance(value, int) and not _MIN_INTEGER <= value <= _MAX_INTEGER:
        raise _malformed(f"{place}: the number does not fit into 64 bits.")


def _check_text(text: str, place: str) -> None:
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            raise _malformed(f"{_printable(place)}: the string has half a surrogate pair in it.") from None


def _printable(text: str) -> str:
    return text.encode("ascii", "backslashreplace").decode()


def _described(value: Any) -> str:
    names = {
        dict: "an object",
        list: "a list",
        str: "a string",
        bool: "a boolean",
        int: "a number",
        float: "a number",
    }
    if isinstance(value, list) and value and not all(isinstance(each, dict) for each in value):
        other = next(each for each in value if not isinstance(each, dict))
        return "a list of lists" if isinstance(other, list) else f"a list with {_described(other)}"
    return names.get(type(value), "null")


def _malformed(message: str) -> ApiError:
    return ApiError(400, "MALFORMED_REQUEST", message)


def _too_deep() -> ApiError:
    return _malformed(f"The body is nested more than {MAX_DEPTH} levels deep.")
