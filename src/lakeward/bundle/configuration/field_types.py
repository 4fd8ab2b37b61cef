"""Values of jobs and pipelines of another type than their field's: ignored with a warning, as by the CLI.

Source: https://github.com/databricks/cli/pull/1740 shows the warning, `expected sequence, found map`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lakeward.bundle.configuration.findings import Finding
from lakeward.bundle.configuration.known_fields import PERMISSION_FIELDS, typed_resources
from lakeward.bundle.configuration.lookups import is_placeholder
from lakeward.bundle.configuration.node import Node

FIELD_TYPE = "field-type"
"""The rule that findings of this module name."""

_REFERENCE = "${"
# What YAML leaves a string and the CLI takes for a boolean.
_BOOLEANS = frozenset(("true", "false", "yes", "no", "y", "n", "on", "off"))


# Other parts than jobs and pipelines.
_SECTIONS: dict[str, Any] = {
    "permissions": [PERMISSION_FIELDS],
    "artifacts": {"*": {"path": "str", "build": "str", "type": "str", "files": [{"source": "str"}]}},
    "presets": {"name_prefix": "str", "trigger_pause_status": "str", "tags": {"*": "str"}},
}


def without_mistyped(tree: Node, *, is_resolved: bool = False) -> tuple[Node, tuple[Finding, ...]]:
    """Return `tree` without the values of another type than their field's, and a warning for each.

    Looks at the bundle and its targets. References and lookups stay, whatever they lead to; where the tree
    `is_resolved`, only in the place of a text or number.
    """
    found = _Findings(is_resolved)
    entries = dict(_filter_target(tree, found).children)
    for section in ("targets", "environments"):
        targets = entries.get(section)
        if targets is not None and targets.children:
            kept = {name: _filter_target(target, found) for name, target in targets.children.items()}
            entries[section] = Node(kept, targets.position, targets.anchored)
    return Node(entries, tree.position, tree.anchored), tuple(found)


class _Findings(list[Finding]):
    """The warnings, and whether references of the tree are resolved."""

    def __init__(self, is_resolved: bool) -> None:
        super().__init__()
        self.is_resolved = is_resolved


def _filter_target(part: Node, found: _Findings) -> Node:
    """Return the bundle or a target of it, which has no mistyped values."""
    if not part.children:
        return part
    kept: dict[str, Node | None] = dict(part.children)
    for name, kind in _SECTIONS.items():
        section = part.get(name)
        if section is not None:
            kept[name] = _filter_value(name, section, kind, {}, found)
    resources = part.get("resources")
    if resources is not None:
        kept["resources"] = _filter_resources(resources, found)
    return Node({name: child for name, child in kept.items() if child}, part.position, part.anchored)


def _filter_resources(resources: Node, found: _Findings) -> Node:
    kinds = {
        kind: _filter_value(kind, group, {"*": {}}, {}, found) for kind, group in resources.children.items()
    }
    entries = {kind: group for kind, group in kinds.items() if group is not None}
    for kind, fields, types in typed_resources(resources):
        kept = {
            key: _filter_object(resource, fields, types, found)
            for key, resource in entries[kind].children.items()
        }
        entries[kind] = Node(kept, entries[kind].position, entries[kind].anchored)
    return Node(entries, resources.position, resources.anchored) if resources.children else resources


def _filter_object(node: Node, fields: Mapping[str, Any], types: Mapping[str, Any], found: _Findings) -> Node:
    if not isinstance(node.value, dict):  # the loader reports a resource that is not a mapping
        return node
    kept = {
        key: _filter_value(key, child, fields.get(key, "any"), types, found)
        for key, child in node.value.items()
    }
    return Node({key: child for key, child in kept.items() if child}, node.position, node.anchored)


def _filter_value(
    name: str, node: Node, kind: Any, types: Mapping[str, Any], found: _Findings
) -> Node | None:
    """Return `node`, a value of the field `name`, without mistyped values in it; None if it is one itself."""
    value = node.value
    fields = types.get(kind) if isinstance(kind, str) else kind
    expected = _expected(kind, fields)
    if isinstance(value, str) and (_REFERENCE in value or is_placeholder(value)):
        return None if found.is_resolved and expected in ("map", "sequence") else node
    if value is None:
        return node
    if expected is None or _fits(value, expected):
        if isinstance(kind, list):
            is_object = (
                _expected(kind[0], types.get(kind[0]) if isinstance(kind[0], str) else kind[0]) == "map"
            )
            # As in the CLI an empty item of objects is none.
            given = [item for item in value if item.value is not None or not is_object]
            items = [_filter_value(name, item, kind[0], types, found) for item in given]
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
