"""`${…}` references replaced by what they name, through as many rounds as the chain is long.

A string that is nothing but one reference becomes the referenced value with its type; inside a longer
string only scalars are allowed. `${var.x}` is short for `${variables.x.value}`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from lakeward.bundle.configuration.node import (
    MAX_TEXT,
    Key,
    Node,
    Path,
    Position,
    failure,
    require_bounded,
    show,
    too_deep,
    too_large,
    walk,
)
from lakeward.errors import BundleError
from lakeward.suggestions import is_probable_typo, unknown_name_hint

# Written so that each character can be read in one way only: no backtracking on long texts.
_NAME = r"[A-Za-z][A-Za-z0-9]*(?:[-_]+[A-Za-z0-9]+)*"
REFERENCE = re.compile(rf"\$\{{({_NAME}(?:\.{_NAME}(?:\[[0-9]+\])*)*)\}}")
ROOTS = frozenset({"bundle", "var", "variables", "workspace", "resources", "artifacts"})


def resolve_references(
    tree: Node,
    roots: Iterable[str],
    computed: Mapping[Path, Any] | None = None,
    *,
    unchecked: Iterable[str] = (),
) -> Node:
    """Return `tree` with every reference that starts with one of `roots` replaced.

    `computed` are values that may be referenced without standing in the tree (ids of resources). Where a
    reference in one of the sections `unchecked` names nothing, its text is not changed.
    Raises BundleError at the reference that names nothing (REFERENCE_UNKNOWN), that leads back to itself
    (REFERENCE_CYCLE), or that puts a mapping or list into a longer string or makes the tree larger than the
    limits allow (REFERENCE_INVALID).
    """
    try:
        resolved = _Resolver(tree, frozenset(roots), computed or {}, frozenset(unchecked)).tree()
    except RecursionError:
        raise too_deep("REFERENCE_INVALID", tree.position) from None
    require_bounded(resolved, "REFERENCE_INVALID")
    return resolved


def require_resolved(tree: Node, sections: Iterable[str]) -> None:
    """Raise BundleError(REFERENCE_INVALID) for a `${…}` left in `sections` that was meant as a reference.

    Meant is what starts with a known root or nearly so; anything else (`${HOME}` in a command) is text.
    """
    for section in sections:
        node = tree.get(section)
        if node is None:
            continue
        for _, leaf in walk(node):
            for left in re.findall(r"\$\{([^}]*)\}?", leaf.value) if isinstance(leaf.value, str) else ():
                root = re.split(r"[.\[]", left.strip(), maxsplit=1)[0]
                if root in ROOTS or ("." in left and is_probable_typo(root, ROOTS)):
                    message = f"`${{{left}}}` cannot be read as a reference."
                    raise failure(
                        "REFERENCE_INVALID",
                        leaf.position,
                        message,
                        next_step=unknown_name_hint(root, ROOTS, what="beginnings of references"),
                    )


class _Resolver:
    def __init__(
        self, tree: Node, roots: frozenset[str], computed: Mapping[Path, Any], unchecked: frozenset[str]
    ) -> None:
        self._tree = tree
        self._roots = roots
        self._computed = computed
        self._unchecked = unchecked
        self._done: dict[Path, Node] = {}
        self._open: list[Path] = []

    def tree(self) -> Node:
        return self._node(self._tree, ())

    def _node(self, node: Node, path: Path) -> Node:
        if isinstance(node.value, dict):
            return Node(
                {key: self._node(child, (*path, key)) for key, child in node.value.items()}, node.position
            )
        if isinstance(node.value, list):
            return Node([self._node(child, (*path, i)) for i, child in enumerate(node.value)], node.position)
        if not isinstance(node.value, str) or "${" not in node.value:
            return node
        if path not in self._done:
            if path in self._open:
                raise self._cycle(path, node.position)
            self._open.append(path)
            try:
                self._done[path] = self._text(node)
            except BundleError as error:
                if path[0] not in self._unchecked or error.condition != "REFERENCE_UNKNOWN":
                    raise
                self._done[path] = node
            finally:
                self._open.pop()
        return self._done[path]

    def _text(self, node: Node) -> Node:
        whole = REFERENCE.fullmatch(node.value)
        if whole is not None and self._ours(whole[1]):
            return Node(self._referenced(whole[1], node.position).value, node.position)

        length = len(node.value)

        def replacement(match: re.Match[str]) -> str:
            nonlocal length
            text = self._inline(match[1], node.position) if self._ours(match[1]) else match[0]
            length += len(text)
            if length > MAX_TEXT:
                raise too_large("REFERENCE_INVALID", node.position)
            return text

        result = Node(REFERENCE.sub(replacement, node.value), node.position)
        # A reference in a reference: `${var.${bundle.target}_catalog}` has become one that is read now.
        is_new = result.value != node.value and any(map(self._ours, REFERENCE.findall(result.value)))
        return self._text(result) if is_new else result

    def _ours(self, reference: str) -> bool:
        return reference.split(".", 1)[0] in self._roots

    def _inline(self, reference: str, place: Position) -> str:
        value = self._referenced(reference, place).value
        if isinstance(value, dict | list):
            message = f"`${{{reference}}}` is a mapping or list and cannot be part of a longer text."
            raise failure("REFERENCE_INVALID", place, message)
        return str(value).lower() if isinstance(value, bool) else "" if value is None else str(value)

    def _referenced(self, reference: str, place: Position) -> Node:
        path = _path(reference)
        if path in self._computed:
            return self._node(Node(self._computed[path], place), path)
        node, walked = self._tree, ()  # type: Node, Path
        for key in path:
            # A step may itself be a reference to the mapping in which the next step is looked up.
            node = self._node(node, walked) if isinstance(node.value, str) else node
            child = _child(node, key)
            if child is None:
                raise self._unknown(reference, path, walked, node, place)
            node, walked = child, (*walked, key)
        return self._node(node, walked)

    def _unknown(self, reference: str, path: Path, walked: Path, node: Node, place: Position) -> Exception:
        missing = str(path[len(walked)])
        if walked == ("variables",):
            message = f"`${{{reference}}}` names a variable that is not declared: {missing}."
            return failure(
                "VARIABLE_UNKNOWN",
                place,
                message,
                next_step=unknown_name_hint(missing, node.children, what="variables"),
            )
        known = [*node.children, *(str(p[len(walked)]) for p in self._computed if p[: len(walked)] == walked)]
        where = show(walked) or "the bundle"
        message = f"`${{{reference}}}` cannot be resolved: there is no `{missing}` in {where}."
        return failure(
            "REFERENCE_UNKNOWN",
            place,
            message,
            next_step=unknown_name_hint(missing, set(known), what="names"),
        )

    def _cycle(self, path: Path, place: Position) -> Exception:
        start = next(i for i, outer in enumerate(self._open) if outer[: len(path)] == path)
        ring = " -> ".join(_short(step) for step in [*self._open[start:], path])
        return failure("REFERENCE_CYCLE", place, f"references go round in a circle: {ring}.")


def _path(reference: str) -> Path:
    steps: list[Key] = []
    for part in reference.split("."):
        name, *indexes = re.split(r"[\[\]]+", part.rstrip("]"))
        steps += [name, *(int(index) for index in indexes)]
    if steps[0] == "var":
        steps = ["variables", *steps[1:2], "value", *steps[2:]] if len(steps) > 1 else ["variables"]
    return tuple(steps)


def _child(node: Node, key: Key) -> Node | None:
    if isinstance(key, int):
        return node.value[key] if isinstance(node.value, list) and key < len(node.value) else None
    return node.children.get(key)


def _short(path: Path) -> str:
    return (
        f"var.{path[1]}"
        if path[:1] == ("variables",) and path[2:3] in (("value",), ("default",))
        else show(path)
    )
