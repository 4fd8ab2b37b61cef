"""Typed fields of a request body, as tables: name -> JSON type."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from lakeward.databricks_shims.local_workspace import invalid_parameter, resource_fields

Types = Mapping[str, type]

_NAMES = {str: "a string", int: "a number", bool: "true or false", list: "a list", dict: "an object"}


def types_of(resource: str) -> Types:
    """Return the fields that clients set of a resource, as databricks-sdk declares them.

    >>> types_of("ip_access_list")["enabled"]
    <class 'bool'>
    """
    types = {each.__name__: each for each in _NAMES}
    return {name: types[kind] for name, kind in resource_fields()[resource].items()}


def read_fields(body: Mapping[str, Any], types: Types, *, required: Collection[str] = ()) -> dict[str, Any]:
    """Return the declared fields that the body sets; unknown ones are ignored, as on the platform.

    Raises ApiError for a missing required field and for a value of another type. A list declared as `list`
    holds anything; the caller checks its elements.

    >>> read_fields({"name": "a", "count": None, "other": 1}, {"name": str, "count": int})
    {'name': 'a'}
    """
    for name in required:
        if body.get(name) in (None, ""):
            raise invalid_parameter(f"Missing required field: {name}")
    found = {}
    for name, kind in types.items():
        value = body.get(name)
        if value is None:
            continue
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise invalid_parameter(f"{name} must be {_NAMES[kind]}, not {type(value).__name__}.")
        if isinstance(value, str) and "\0" in value:
            raise invalid_parameter(f"{name} contains a NUL character.")
        found[name] = value
    return found
