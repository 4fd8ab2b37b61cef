"""YAML text to a tree of nodes with positions.

Scalars are read by the rules of YAML 1.2 (`yes` and `on` are strings), dates stay as they are written,
anchors and merge keys (`<<`) work, a key that is used twice is an error.
"""

from __future__ import annotations

from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, ScalarNode, SequenceNode

from lakeward.bundle.node import Node, Position, failure

__all__ = ["parse"]

_MERGE = "tag:yaml.org,2002:merge"
_TYPED = {f"tag:yaml.org,2002:{name}" for name in ("null", "bool", "int", "float")}


def parse(text: str, file: str) -> Node:
    """Return the document in `text` as a tree; an empty document is an empty mapping.

    Raises BundleError(YAML_INVALID) at the place where the text stops being YAML or repeats a key.
    """
    yaml = YAML(typ="safe", pure=True)
    try:
        root = yaml.compose(text)
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
    return _Builder(yaml, file).build(root)


class _Builder:
    def __init__(self, yaml: YAML, file: str) -> None:
        self._yaml = yaml
        self._file = file
        self._open: list[Any] = []

    def build(self, node: Any) -> Node:
        position = self._position(node)
        if any(node is outer for outer in self._open):
            raise failure("YAML_INVALID", position, "an anchor contains itself.")
        self._open.append(node)
        try:
            if isinstance(node, MappingNode):
                return Node(self._mapping(node), position)
            if isinstance(node, SequenceNode):
                return Node([self.build(child) for child in node.value], position)
            return Node(self._scalar(node), position)
        finally:
            self._open.pop()

    def _position(self, node: Any) -> Position:
        return Position(self._file, node.start_mark.line + 1, node.start_mark.column + 1)

    def _scalar(self, node: ScalarNode) -> Any:
        if str(node.tag) in _TYPED:
            # The composer leaves plain scalars untyped until they are constructed.
            return self._yaml.constructor.construct_object(node, deep=True)
        return node.value

    def _mapping(self, node: MappingNode) -> dict[str, Node]:
        merged: dict[str, Node] = {}
        own: dict[str, Node] = {}
        for key_node, value_node in node.value:
            if str(key_node.tag) == _MERGE:
                for inherited in self._inherited(value_node):
                    merged = {**inherited, **merged}
                continue
            if not isinstance(key_node, ScalarNode):
                raise failure("YAML_INVALID", self._position(key_node), "a key must be a plain word.")
            key = str(key_node.value)
            if key in own:
                message = f"the key `{key}` stands twice in one mapping (first at {own[key].position})."
                raise failure("YAML_INVALID", self._position(key_node), message)
            value = self.build(value_node)
            # A mapping's own position is its key's: that is what a reader looks for.
            own[key] = Node(value.value, self._position(key_node)) if isinstance(value.value, dict) else value
        return {**merged, **own}

    def _inherited(self, node: Any) -> list[dict[str, Node]]:
        if isinstance(node, MappingNode):
            return [self.build(node).value]
        if isinstance(node, SequenceNode):
            return [mapping for child in node.value for mapping in self._inherited(child)]
        raise failure("YAML_INVALID", self._position(node), "`<<` merges a mapping or a list of mappings.")
