"""`update_mask`: the fields of a resource that an update sets; all others keep their values.

Names are separated by commas without blanks, `a.b` is the field `b` of the object `a`, and `*` alone is every
field. An element of a list or map has no name in a mask.
Sources: https://docs.databricks.com/api/workspace/alertsv2/updatealert and https://google.aip.dev/161
"""

from __future__ import annotations

from collections.abc import Collection
from types import NoneType

from lakeward.databricks_shims.local_workspace import invalid_parameter, request_types
from lakeward.workspace.state.store import Document


def read_update_mask(
    mask: object, settable: Collection[str], *, resource: str, declared_type: str = ""
) -> list[str]:
    """Return the paths that a mask names, each below a field of `settable`.

    Without `declared_type`, the type of the SDK that has the objects' fields, only whole fields can be named.
    Raises ApiError for a mask that is missing or names another field.
    """
    if not isinstance(mask, str) or not mask:
        raise invalid_parameter("Missing required field: update_mask")
    paths = list(settable) if mask == "*" else mask.split(",")
    for path in paths:
        name, *inner = path.split(".")
        if name not in settable or (inner and not _is_declared([name, *inner], declared_type)):
            raise invalid_parameter(f"update_mask names fields of {resource}, not {path[:100]!r}.")
    return paths


def _is_declared(path: list[str], declared_type: object) -> bool:
    for name in path:
        fields = request_types().get(declared_type) if isinstance(declared_type, str) else None
        if not isinstance(fields, dict) or name not in fields:
            return False
        declared_type = fields[name]
    return True


def copy_field(source: Document, target: Document, path: str) -> None:
    """Set what a path of a mask names in `target` as `source` has it; what `source` lacks is removed.

    >>> target = {"a": {"b": 1, "c": 2}, "d": 3}
    >>> copy_field({"a": {"b": 5}}, target, "a.b"), copy_field({}, target, "d"), target
    (None, None, {'a': {'b': 5, 'c': 2}})
    """
    name, _, rest = path.partition(".")
    if rest:
        inner = dict(_object(target, name))
        copy_field(_object(source, name), inner, rest)
        target[name] = inner
    elif name in source:
        target[name] = source[name]
    else:
        target.pop(name, None)


def _object(fields: Document, name: str) -> Document:
    value = fields.get(name)
    if not isinstance(value, dict | NoneType):
        raise invalid_parameter(f"{name} must be an object, not {type(value).__name__}.")
    return value or {}
