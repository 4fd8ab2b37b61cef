"""Values of jobs and pipelines of another type than their field's: ignored with a warning, as by the CLI.

Source: https://github.com/databricks/cli/pull/1740 shows the warning, `expected sequence, found map`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lakeward.bundle.configuration.findings import Finding
from lakeward.bundle.configuration.known_fields import typed_resources
from lakeward.bundle.configuration.lookups import is_placeholder
from lakeward.bundle.configuration.node import Node

FIELD_TYPE = "field-type"
"""The rule that findings of this module name."""

_REFERENCE = "${"
# What YAML leaves a string and the CLI takes for a boolean.
_BOOLEANS = frozenset(("true", "false", "yes", "no", "y", "n", "on", "off"))


def without_mistyped(tree: Node) -> tuple[Node, tuple[Finding, ...]]:
    """Return `tree` without the values of another type than their field's, and a warning for each.

    Looks at the jobs and pipelines of the bundle and of its targets. References and lookups
    stay, whatever they lead to.
    """
    found: list[Finding] = []
    entries = dict(_filter_target(tree, found).children)
    for section in ("targets", "environments"):
        targets = entries.get(section)
        if targets is not None and targets.children:
            kept = {name: _filter_target(target, found) for name, target in targets.children.items()}
            entries[section] = Node(kept, targets.position, targets.anchored)
    return (Node(entries, tree.position, tree.anchored) if found else tree), tuple(found)


def _filter_target(part: Node, found: list[Finding]) -> Node:
    """Return the bundle or a target of it, whose resources have no mistyped values."""
    resources = part.get("resources")
    if resources is None:
        return part
    kept = {**part.children, "resources": _filter_resources(resources, found)}
    return Node(kept, part.position, part.anchored)


def _filter_resources(resources: Node, found: list[Finding]) -> Node:
    entries = dict(resources.children)
    for kind, fields, types in typed_resources(resources):
        kept = {
            key: _filter_object(resource, fields, types, found)
            for key, resource in entries[kind].children.items()
        }
        entries[kind] = Node(kept, entries[kind].position, entries[kind].anchored)
    return Node(entries, resources.position, resources.anchored) if resources.children else resources


def _filter_object(
    node: Node, fields: Mapping[str, Any], types: Mapping[str, Any], found: list[Finding]
) -> Node:
    if not isinstance(node.value, dict):  # the loader reports a resource that is not a mapping
        return node
    kept = {
        key: _filter_value(key, child, fields.get(key, "any"), types, found)
        for key, child in node.value.items()
    }
    return Node({key: child for key, child in kept.items() if child}, node.position, node.anchored)


def _filter_value(
    name: str, node: Node, kind: Any, types: Mapping[str, Any], found: list[Finding]
) -> Node | None:
    """Return `node`, a value of the field `name`, without mistyped values in it; None if it is one itself."""
    value = node.value
    if value is None or (isinstance(value, str) and (_REFERENCE in value or is_placeholder(value))):
        return node
    fields = types.get(kind) if isinstance(kind, str) else kind
    expected = _expected(kind, fields)
    if expected is None or _fits(value, expected):
        if isinstance(kind, list):
            items = [_filter_value(name, item, kind[0], types, found) for item in value]
            return Node([item for item in items if item is not None], node.position, node.anchored)
        if isinstance(fields, dict):
            every = dict.fromkeys(value, fields["*"]) if "*" in fields else fields
            return _filter_object(node, every, types, found)
        return node
    message = f"`{name}`: expected {expected}, found {_name_of(value)}. The value is ignored."
    cure = f"Write {_EXAMPLES[expected]}."
    if isinstance(fields, dict) and "*" not in fields:
        cure = f"Write a mapping with fields of these: {', '.join(sorted(fields))}."
    found.append(Finding(FIELD_TYPE, "warning", node.position, message, cure))
    return None


_EXAMPLES = {
    "sequence": "a list: one line with `- ` for each item",
    "map": "a mapping: one line `key: value` for each field",
    "string": "a text or a number",
    "int": "a whole number",
    "bool": "true or false",
    "float": "a number",
}


def _expected(kind: Any, fields: Any) -> str | None:
    """Return the CLI's name of the type that a field has; None for one that takes anything."""
    if isinstance(kind, list):
        return "sequence"
    if isinstance(fields, dict):
        return "map"
    if isinstance(fields, list) or kind == "str":
        return "string"
    return str(kind) if kind in ("int", "bool", "float") else None


def _fits(value: Any, expected: str) -> bool:
    if expected in ("sequence", "map") or isinstance(value, list | dict):
        return _name_of(value) == expected
    if expected == "string":
        return True
    if expected == "bool":
        return isinstance(value, bool) or str(value).lower() in _BOOLEANS
    try:
        number = float(value)
    except ValueError:
        return False
    return not isinstance(value, bool) and (expected == "float" or number.is_integer())


def _name_of(value: Any) -> str:
    names = {dict: "map", list: "sequence", bool: "bool", int: "int", float: "float"}
    return names.get(type(value), "string")
