"""Requests parsed by the types that databricks-sdk declares for them.

They are generated from the SDK's dataclasses (`scripts/field_types.py`). Fields that it does not name are
kept as they are: a newer client may send more.
"""

from __future__ import annotations

import json
import re
from typing import Any

import orjson

from lakeward.databricks_shims.local_workspace import ApiError, invalid_parameter, request_types
from lakeward.workspace.state.store import Document

_INTEGER = re.compile(r"-?[0-9]{1,19}")
_EXPECTED = {"str": "a string", "int": "an integer", "bool": "a boolean", "float": "a number"}
_FOUND = {
    dict: "an object",
    list: "an array",
    str: "the string",
    int: "the number",
    float: "the number",
    bool: "the boolean",
}


def parse_object(body: object, name: str) -> Document:
    """Return `body` as the type `name`, which is a request (`jobs/create`) or an object (`jobs.JobSettings`).

    Fields that are null are left out, integers may be sent as strings, and strings as numbers or booleans.
    Raises ApiError for a value of another type, or one that an enumeration lacks.
    """
    parsed: Document = _parse(body, name, "")
    try:
        orjson.dumps(parsed)
    except TypeError as error:  # numbers of more than 64 bits and text that is not Unicode, in other fields
        raise _malformed(str(error)) from None
    return parsed


def _parse(value: object, kind: Any, path: str) -> Any:
    if kind == "any":
        return value
    if isinstance(kind, list):
        items = _required(value, list, "an array", path)
        return [_parse(item, kind[0], f"{path}[{number}]") for number, item in enumerate(items)]
    if isinstance(kind, dict):
        items = _required(value, dict, "an object", path)
        return {name: _parse(item, kind["*"], f"{path}.{name}") for name, item in items.items()}
    if kind in _EXPECTED:
        return _parse_scalar(value, kind, path)
    described = request_types()[kind]
    if isinstance(described, list):
        text = _required(value, str, "a string", path)
        if text not in described:
            raise invalid_parameter(f"{text!r:.100} is not a value of {path}: {', '.join(described)}.")
        return text
    fields = _required(value, dict, "an object", path)
    return {
        name: _parse(item, described.get(name, "any"), f"{path}.{name}" if path else name)
        for name, item in fields.items()
        if item is not None
    }


def _parse_scalar(value: object, kind: str, path: str) -> Any:
    if kind == "str" and isinstance(value, str | int | float):
        return value if isinstance(value, str) else json.dumps(value)
    if kind == "bool" and isinstance(value, bool):
        return value
    if kind == "float" and isinstance(value, int | float) and not isinstance(value, bool):
        return value
    if kind == "int" and not isinstance(value, bool):
        text = str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
        if isinstance(value, str | int | float) and _INTEGER.fullmatch(text) and abs(int(text)) < 2**63:
            return int(text)
    raise _unexpected(value, _EXPECTED[kind], path)


def _required(value: object, kind: type, expected: str, path: str) -> Any:
    if not isinstance(value, kind):
        raise _unexpected(value, expected, path)
    return value


def _unexpected(value: object, expected: str, path: str) -> ApiError:
    found = "null" if value is None else _FOUND.get(type(value), type(value).__name__)
    shown = f" {value!r:.60}" if isinstance(value, str | int | float) else ""
    return _malformed(f"Expected {expected} for field {path or 'the body'}, found {found}{shown}.")


def _malformed(reason: str) -> ApiError:
    return ApiError(400, "MALFORMED_REQUEST", f"Could not parse request object: {reason}")
