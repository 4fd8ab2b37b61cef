"""Typed fields of a request body, as tables: name -> JSON type."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from lakeward.databricks_shims.local_workspace import invalid_parameter, request_types
from lakeward.workspace.state.store import Document

Types = Mapping[str, type]

_NAMES = {str: "a string", int: "a number", bool: "true or false", list: "a list", dict: "an object"}


def types_of(resource: str) -> Types:
    """Return the fields that clients set of a resource, as databricks-sdk declares them.

    >>> types_of("ip_access_list")["enabled"]
    <class 'bool'>
    """
    types = ((name, _json_type(kind)) for name, kind in request_types()[resource].items())
    return {name: kind for name, kind in types if kind is not None}


def _json_type(kind: Any) -> type | None:
    """Return the JSON type of a field; None for a fraction and for a value of any type."""
    if isinstance(kind, list | dict):
        return type(kind)
    described = request_types().get(kind)
    if described is None:
        return {"str": str, "int": int, "bool": bool}.get(kind)
    return str if isinstance(described, list) else dict


def read_fields(body: Mapping[str, Any], types: Types, *, required: Collection[str] = ()) -> Document:
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
