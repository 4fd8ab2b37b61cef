"""Limits on the size of a configuration: aliases and references can expand to far more than their text.

Nodes are shared where an alias or a reference repeats them, so a small file can unfold to more nodes than fit
into memory. The passes after reading walk the unfolded tree; its size is computed here without unfolding it.
"""

from __future__ import annotations

from lakeward.bundle.configuration.node import Node, Position, failure
from lakeward.errors import BundleError

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
