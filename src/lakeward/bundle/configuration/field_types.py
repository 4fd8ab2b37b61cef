"""Values of jobs and pipelines of another type than their field's: ignored with a warning, as by the CLI.

Source: https://github.com/databricks/cli/pull/1740 shows the warning, `expected sequence, found map`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
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

_RESOURCES: dict[str, Any] = {"*": {"permissions": [PERMISSION_FIELDS]}}


def without_mistyped(tree: Node, *, is_resolved: bool = False) -> tuple[Node, tuple[Finding, ...]]:
    """Return `tree` without the values of another type than their field's, and a warning for each.

    Looks at the bundle and its targets. References and lookups stay, whatever they lead to; where the tree
    `is_resolved`, only in the place of a text or number.
    """
    types = _TypeFilter(is_resolved)
    entries = dict(types.target(tree).children)
    for section in ("targets", "environments"):
        targets = entries.get(section)
        if targets is not None and targets.children:
            kept = {name: types.target(target) for name, target in targets.children.items()}
            entries[section] = Node(kept, targets.position, targets.anchored)
    return Node(entries, tree.position, tree.anchored), tuple(types.found)


@dataclass
class _TypeFilter:
    """Leaves out mistyped values, and collects a warning for each."""

    is_resolved: bool
    found: list[Finding] = field(default_factory=list)

    def target(self, part: Node) -> Node:
        """Return the bundle or a target of it without mistyped values."""
        if not part.children:
            return part
        kept: dict[str, Node | None] = dict(part.children)
        for name, kind in _SECTIONS.items():
            section = part.get(name)
            if section is not None:
                kept[name] = self._value(name, section, kind, {})
        resources = part.get("resources")
        if resources is not None:
            kept["resources"] = self._resources(resources)
        return Node({name: child for name, child in kept.items() if child}, part.position, part.anchored)

    def _resources(self, resources: Node) -> Node:
        if not resources.children:
            return resources
        kinds = {kind: self._value(kind, group, _RESOURCES, {}) for kind, group in resources.children.items()}
        entries = {kind: group for kind, group in kinds.items() if group is not None}
        for kind, fields, types in typed_resources(Node(entries, resources.position)):
            kept = {
                key: self._object(resource, fields, types) for key, resource in entries[kind].children.items()
            }
            entries[kind] = Node(kept, entries[kind].position, entries[kind].anchored)
        return Node(entries, resources.position, resources.anchored)

    def _object(self, node: Node, fields: Mapping[str, Any], types: Mapping[str, Any]) -> Node:
        if not isinstance(node.value, dict):  # a reference, or nothing
            return node
        kept = {
            key: self._value(key, child, fields.get(key, "any"), types) for key, child in node.value.items()
        }
        return Node({key: child for key, child in kept.items() if child}, node.position, node.anchored)

    def _value(self, name: str, node: Node, kind: object, types: Mapping[str, Any]) -> Node | None:
        """Return a value of the field `name` without mistyped values in it; None if it is one itself."""
        value = node.value
        fields = _fields_of(kind, types)
        expected = _expected(kind, fields)
        if isinstance(value, str) and (_REFERENCE in value or is_placeholder(value)):
            return None if self.is_resolved and expected in ("map", "sequence") else node
        if value is None:
            return node
        if expected is None or _fits(value, expected):
            if isinstance(kind, list):
                return self._list(name, node, kind[0], types)
            if isinstance(fields, dict):
                every = dict.fromkeys(value, fields["*"]) if "*" in fields else fields
                return self._object(node, every, types)
            return node
        message = f"`{name}`: expected {expected}, found {_name_of(value)}. The value is ignored."
        cure = f"Write {_EXAMPLES[expected]}."
        if isinstance(fields, dict) and fields and "*" not in fields:
            cure = f"Write a mapping with fields of these: {', '.join(sorted(fields))}."
        self.found.append(Finding(FIELD_TYPE, "warning", node.position, message, cure))
        return None

    def _list(self, name: str, node: Node, kind: object, types: Mapping[str, Any]) -> Node:
        is_object = _expected(kind, _fields_of(kind, types)) == "map"
        # As in the CLI an empty item of objects is none.
        given = [item for item in node.value if item.value is not None or not is_object]
        items = [self._value(name, item, kind, types) for item in given]
        return Node([item for item in items if item is not None], node.position, node.anchored)


_EXAMPLES = {
    "sequence": "a list: one line with `- ` for each item",
    "map": "a mapping: one line `key: value` for each field",
    "string": "a text or a number",
    "int": "a whole number",
    "bool": "true or false",
    "float": "a number",
}


def _fields_of(kind: object, types: Mapping[str, Any]) -> Any:
    return types.get(kind) if isinstance(kind, str) else kind


def _expected(kind: object, fields: object) -> str | None:
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


def _name_of(value: object) -> str:
    names = {dict: "map", list: "sequence", bool: "bool", int: "int", float: "float"}
    return names.get(type(value), "string")
