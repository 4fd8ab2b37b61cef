"""PATCH operations of SCIM, applied to a resource.

Source: RFC 7644, section 3.5.2.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Collection
from typing import Any

from lakeward.databricks_shims.local_workspace import invalid_parameter
from lakeward.workspace.api.scim_filters import compile_filter
from lakeward.workspace.state.store import Document

_PATH = re.compile(r"([A-Za-z]\w*)(?:\[(.+)\])?(?:\.([A-Za-z]\w*))?", re.DOTALL)


def apply_operations(resource: Document, operations: Any, multivalued: Collection[str]) -> Document:
    """Return the resource with all operations applied; nothing is changed when one of them is wrong.

    >>> apply_operations({"name": "a"}, [{"op": "replace", "path": "name", "value": "b"}], [])
    {'name': 'b'}
    """
    if not isinstance(operations, list) or not all(isinstance(each, dict) for each in operations):
        raise invalid_parameter("Operations must be a list of objects.")
    result = copy.deepcopy(resource)
    for operation in operations:
        kind, path = str(operation.get("op")).lower(), operation.get("path")
        if kind not in ("add", "replace", "remove"):
            raise invalid_parameter("op is add, replace or remove.")
        if path:
            _apply(result, kind, str(path), operation.get("value"), multivalued)
            continue
        values = operation.get("value")
        if kind == "remove" or not isinstance(values, dict):
            raise invalid_parameter(f"An operation {kind} without path has an object as value.")
        for name, value in values.items():
            _apply(result, kind, name, value, multivalued)
    return result


def _apply(resource: Document, kind: str, path: str, value: Any, multivalued: Collection[str]) -> None:
    match = _PATH.fullmatch(path.strip().rpartition(":")[2] if path.startswith("urn:") else path.strip())
    if match is None:
        raise invalid_parameter(f"The path {path[:100]!r} is invalid.")
    name, chosen, inner = match.groups()
    name = next((each for each in (*resource, *multivalued) if each.lower() == name.lower()), name)
    if name in multivalued:
        _apply_to_list(resource, kind, name, chosen, value)
    elif inner:
        holder = resource.setdefault(name, {})
        if not isinstance(holder, dict):
            raise invalid_parameter(f"{name} has no attribute {inner}.")
        holder.pop(inner, None) if kind == "remove" else holder.update({inner: value})
    elif kind == "remove":
        resource.pop(name, None)
    else:
        resource[name] = value


def _apply_to_list(resource: Document, kind: str, name: str, chosen: str | None, value: Any) -> None:
    items = list(resource.get(name) or [])
    given = [
        each if isinstance(each, dict) else {"value": each}
        for each in (value if isinstance(value, list) else [value])
    ]
    given = [each for each in given if each.get("value") is not None]
    keys = {str(each.get("value")) for each in given}
    if chosen:
        matches = compile_filter(chosen)
        kept = [each for each in items if not matches(each)]
        resource[name] = kept if kind == "remove" else [*kept, *given]
    elif kind == "remove":
        resource[name] = [each for each in items if str(each.get("value")) not in keys] if keys else []
    elif kind == "replace":
        resource[name] = given
    else:
        resource[name] = [*(each for each in items if str(each.get("value")) not in keys), *given]
