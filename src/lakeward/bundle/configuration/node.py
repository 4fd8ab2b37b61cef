"""Configuration as a tree; each node has the file, line and column of its text.

All passes of the loader are functions from `Node` to `Node`; nodes are never changed in place, so a pass
may share what it does not touch.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from lakeward.errors import BundleError

Key: TypeAlias = "str | int"
Path: TypeAlias = "tuple[Key, ...]"


@dataclass(frozen=True)
class Position:
    """A position in a configuration file; `line` and `column` count from 1."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        """Return `file:line:column`, a form that editors open; the file alone without a line."""
        return f"{self.file}:{self.line}:{self.column}" if self.line else self.file


@dataclass(frozen=True)
class RepeatedKey:
    """A key that is written more than once in one mapping: the last value counts."""

    name: str
    first: Position
    last: Position


@dataclass(frozen=True)
class Node:
    """A value (scalar, `dict[str, Node]` or `list[Node]`) and its position.

    `anchored`: a YAML anchor is defined on it. `repeated`: the repeated keys of the files that this tree is
    read from; nodes below it have none.
    """

    value: Any
    position: Position
    anchored: bool = field(default=False, compare=False, repr=False)
    repeated: tuple[RepeatedKey, ...] = field(default=(), compare=False, repr=False)

    def get(self, key: str) -> Node | None:
        """Return the child `key` of a mapping; None for any other node, a missing key or an empty value."""
        child = self.value.get(key) if isinstance(self.value, dict) else None
        return child if child is not None and child.value is not None else None

    def section(self, *path: str) -> Node:
        """Return the node at a path of keys; an empty mapping where it is missing or has no value."""
        node = self
        for key in path:
            node = node.get(key) or Node({}, node.position)
        return node

    @property
    def children(self) -> Mapping[str, Node]:
        """Return the entries of a mapping; empty for any other node."""
        return self.value if isinstance(self.value, dict) else {}


def failure(condition: str, position: Position, message: str, *, next_step: str | None = None) -> BundleError:
    """Return the error `message` about the setting at `position`."""
    return BundleError(condition, f"{position}: {message}", next_step=next_step)


def lift(value: object, position: Position) -> Node:
    """Return plain `value` as a tree in which every node has `position`."""
    if isinstance(value, Mapping):
        return Node({str(key): lift(child, position) for key, child in value.items()}, position)
    if isinstance(value, list | tuple):
        return Node([lift(child, position) for child in value], position)
    return Node(value, position)


def plain(node: Node) -> Any:
    """Return the tree below `node` as dicts, lists and scalars."""
    if isinstance(node.value, dict):
        return {key: plain(child) for key, child in node.value.items()}
    if isinstance(node.value, list):
        return [plain(child) for child in node.value]
    return node.value


def with_value(node: Node, path: Path, leaf: Node) -> Node:
    """Return `node` with `leaf` at `path`; mappings missing on the way are made."""
    if not path:
        return leaf
    key, rest = path[0], path[1:]
    if isinstance(key, int):
        items = list(node.value)
        items[key] = with_value(items[key], rest, leaf)
        return Node(items, node.position)
    entries = dict(node.children)
    entries[key] = with_value(entries.get(key, Node({}, leaf.position)), rest, leaf)
    return Node(entries, node.position)


def walk(node: Node, path: Path = ()) -> Iterator[tuple[Path, Node]]:
    """Yield every scalar below `node` with its path."""
    if isinstance(node.value, dict):
        for key, child in node.value.items():
            yield from walk(child, (*path, key))
    elif isinstance(node.value, list):
        for index, child in enumerate(node.value):
            yield from walk(child, (*path, index))
    else:
        yield path, node


def show(path: Path) -> str:
    """Return `path` as users write it: `resources.jobs.daily.tasks[0].task_key`."""
    text = ""
    for key in path:
        text += f"[{key}]" if isinstance(key, int) else f".{key}" if text else key
    return text


# Limits on the size of a configuration. Nodes are shared where an alias or a reference repeats them, so a
# small file can unfold to more nodes than fit into memory. The passes after reading walk the unfolded tree;
# its size is computed here without unfolding it.
MAX_FILE = 2**19
"""Characters of one file: the parser takes some seconds for so many."""

MAX_TEXT = 2**20
"""Characters of one value after its references are resolved."""

MAX_NODES = 200_000
"""Values of a whole configuration with aliases and references unfolded; 100 characters count as one more."""

MAX_DEPTH = 100
"""Levels of mappings and lists."""


def require_bounded(tree: Node, condition: str) -> None:
    """Raise BundleError(`condition`) where `tree` is larger or deeper than the limits, unfolded."""
    known: dict[int, tuple[int, int]] = {}
    left: list[tuple[Node, bool]] = [(tree, False)]
    while left:
        node, entered = left.pop()
        key = id(node.value)
        if key in known and isinstance(node.value, (dict, list)):
            continue
        children = _children(node)
        if children and not entered:
            left.append((node, True))
            left.extend((child, False) for child in children)
            if len(left) > 10 * MAX_NODES:
                raise too_large(condition, node.position)
            continue
        sizes = [known.get(id(child.value)) or (_weight(child), 0) for child in children]
        size = _weight(node) + sum(size for size, _ in sizes)
        depth = 1 + max((depth for _, depth in sizes), default=0)
        if size > MAX_NODES:
            raise too_large(condition, node.position)
        if depth > MAX_DEPTH:
            raise too_deep(condition, node.position)
        if children:
            known[key] = (size, depth)


def too_large(condition: str, position: Position) -> BundleError:
    """Return the error about a configuration that unfolds to too much."""
    message = f"this unfolds to more than {MAX_NODES} values or {MAX_TEXT} characters."
    next_step = "Repeat less by aliases, merge keys or variables."
    return failure(condition, position, message, next_step=next_step)


def too_deep(condition: str, position: Position) -> BundleError:
    """Return the error about a configuration that is nested too deeply."""
    return failure(condition, position, f"this is nested more than {MAX_DEPTH} levels deep.")


def _children(node: Node) -> list[Node]:
    if isinstance(node.value, dict):
        return list(node.value.values())
    return node.value if isinstance(node.value, list) else []


def _weight(node: Node) -> int:
    return 1 + len(node.value) // 100 if isinstance(node.value, str) else 1
