"""YAML text to a tree of nodes with positions.

Scalars are read by the rules of YAML 1.2 (`yes` and `on` are strings), dates stay as they are written,
anchors and merge keys (`<<`) work. Of a key that is used twice the last value counts, as in the CLI.

Source for repeated keys: https://github.com/databricks/cli/blob/main/libs/dyn/mapping.go (`Set`)
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, ScalarNode, SequenceNode

from lakeward.bundle.configuration.node import (
    MAX_DEPTH,
    MAX_FILE,
    MAX_NODES,
    Node,
    Position,
    RepeatedKey,
    failure,
    require_bounded,
    too_deep,
    too_large,
)

_MERGE = "tag:yaml.org,2002:merge"
_TYPED = {f"tag:yaml.org,2002:{name}" for name in ("null", "bool", "int", "float")}


def parse(text: str, file: str) -> Node:
    """Return the document in `text` as a tree; an empty document is an empty mapping.

    Raises BundleError(YAML_INVALID) at the place where the text stops being YAML, or unfolds to more than the
    limits allow.
    """
    if len(text) > MAX_FILE:
        message = f"this file has {len(text)} characters; at most {MAX_FILE} are read."
        raise failure("YAML_INVALID", Position(file, 1, 1), message, next_step="Split it, see `include`.")
    yaml = YAML(typ="safe", pure=True)
    try:
        root = yaml.compose(text)
    except RecursionError:
        raise too_deep("YAML_INVALID", Position(file, 1, 1)) from None
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = Position(file, mark.line + 1, mark.column + 1) if mark else Position(file, 1, 1)
        problem = " ".join(str(error.problem or error.context or "not valid YAML").split())
        raise failure("YAML_INVALID", place, f"this is not valid YAML: {problem}.") from None
    except YAMLError as error:
        place = Position(file, 1, 1)
        raise failure(
            "YAML_INVALID", place, f"this is not valid YAML: {' '.join(str(error).split())}"
        ) from None
    if root is None:
        return Node({}, Position(file, 1, 1))
    builder = _Builder(yaml, file)
    tree = builder.build(root)
    require_bounded(tree, "YAML_INVALID")
    return replace(tree, repeated=tuple(builder.repeated))


class _Builder:
    """Builds each node once; aliases share it. Merge keys copy, so what they copy is counted."""

    def __init__(self, yaml: YAML, file: str) -> None:
        self._yaml = yaml
        self._file = file
        self._open: list[Any] = []
        self._built: dict[int, Node] = {}
        self._merged = 0
        self.repeated: list[RepeatedKey] = []

    def build(self, node: Any) -> Node:
        position = self._position(node)
        if any(node is outer for outer in self._open):
            raise failure("YAML_INVALID", position, "an anchor contains itself.")
        if id(node) in self._built:
            return self._built[id(node)]
        if len(self._open) >= MAX_DEPTH:
            raise too_deep("YAML_INVALID", position)
        self._open.append(node)
        self._built[id(node)] = built = Node(self._value(node), position, bool(node.anchor))
        self._open.pop()
        return built

    def _value(self, node: Any) -> Any:
        if isinstance(node, MappingNode):
            return self._mapping(node)
        if isinstance(node, SequenceNode):
            return [self.build(child) for child in node.value]
        return self._scalar(node)

    def _position(self, node: Any) -> Position:
        return Position(self._file, node.start_mark.line + 1, node.start_mark.column + 1)

    def _scalar(self, node: ScalarNode) -> Any:
        if str(node.tag) in _TYPED:
            # The composer leaves plain scalars untyped until they are constructed.
            try:
                return self._yaml.constructor.construct_object(node, deep=True)
            except (ValueError, LookupError, ArithmeticError, YAMLError):
                kind = str(node.tag).rpartition(":")[2]
                message = f"`{node.value[:40]}` cannot be read as {kind}."
                raise failure("YAML_INVALID", self._position(node), message) from None
        return node.value

    def _mapping(self, node: MappingNode) -> dict[str, Node]:
        merged: dict[str, Node] = {}
        own: dict[str, Node] = {}
        written: dict[str, Position] = {}
        for key_node, value_node in node.value:
            if str(key_node.tag) == _MERGE:
                for inherited in self._inherited(value_node):
                    self._count(len(inherited) + len(merged), value_node)
                    merged = {**inherited, **merged}
                continue
            if not isinstance(key_node, ScalarNode):
                raise failure("YAML_INVALID", self._position(key_node), "a key must be a plain word.")
            key = str(key_node.value)
            place = self._position(key_node)
            if key in written:
                self.repeated.append(RepeatedKey(key, written[key], place))
            written[key] = place
            value = self.build(value_node)
            # A mapping's own position is its key's: that is what a reader looks for.
            if isinstance(value.value, dict):
                value = Node(value.value, place, value.anchored)
            own[key] = value
        return {**merged, **own}

    def _inherited(self, node: object) -> list[dict[str, Node]]:
        if isinstance(node, MappingNode):
            return [self.build(node).value]
        if isinstance(node, SequenceNode):
            self._count(len(node.value), node)
            return [mapping for child in node.value for mapping in self._inherited(child)]
        raise failure("YAML_INVALID", self._position(node), "`<<` merges a mapping or a list of mappings.")

    def _count(self, number: int, node: object) -> None:
        self._merged += number + 1
        if self._merged > MAX_NODES:
            raise too_large("YAML_INVALID", self._position(node))
