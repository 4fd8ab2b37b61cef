"""The groups of rows that a refresh may replace in a view as a whole, whatever their former rows were."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from lakeward.pipelines.incremental.view_plan import PlanNode, TypeJson, is_exact_key

LINEAR = frozenset(
    (
        *("Project", "Filter", "Generate", "Expand", "Sort"),
        "Repartition",
        "RepartitionByExpression",
        "ResolvedHint",
    )
)
"""Operators whose result for some rows depends on these rows alone."""
# Joins whose result for some rows of a side depends on no other rows of that side.
_LEFT_JOINS = frozenset(("INNER", "CROSS", "LEFT OUTER", "LEFT SEMI", "LEFT ANTI"))
_RIGHT_JOINS = frozenset(("INNER", "CROSS", "RIGHT OUTER"))
KEYED = frozenset(("Aggregate", "Window", "Deduplicate"))
"""Operators that compute every group of their keys by itself."""


@dataclass(frozen=True)
class RowGroups:
    """Groups of a view's rows by columns that are keys of its uppermost keyed operators.

    A group may consist of several groups of an operator: its keys are a part of the operator's keys.

    Attributes:
        top: The uppermost of the operators.
        base: The lowest of them; the groups with changed rows are found in its input.
        columns: Positions of the view's columns that contain the keys.
        keys: The numbers of these keys among those of `base`.
        operators: All operators from `top` to `base` that are computed by group.
    """

    top: PlanNode
    base: PlanNode
    columns: tuple[int, ...]
    keys: tuple[int, ...]
    operators: tuple[PlanNode, ...]

    @property
    def is_whole(self) -> bool:
        """Return whether the groups are those of the uppermost operator."""
        return len(self.columns) == len(self.top.keys)


def only_changed_side(join: PlanNode, is_changed: Callable[[PlanNode], bool]) -> int | None:
    """Return the side of a join, 0 or 1, whose changed rows determine those of the result alone.

    None where both sides change, or where the result depends on other rows of the side, too.
    """
    left, right = join.children
    if join.join in _LEFT_JOINS and not is_changed(right):
        return 0
    return 1 if join.join in _RIGHT_JOINS and not is_changed(left) else None


def is_usable_key(key_type: TypeJson) -> bool:
    """Return whether rows can be grouped and joined by the type with one rule for equality."""
    # Spark groups and joins floats by the same rule: -0.0 is 0.0, and every NaN is one value.
    return key_type in ("float", "double") or is_exact_key(key_type)


def is_distinct(node: PlanNode) -> bool:
    """Return whether the operator is a DISTINCT: keys alone, of which added rows can only add some."""
    return node.name == "Aggregate" and not node.functions and bool(node.keys)


def uppermost_keyed(root: PlanNode) -> PlanNode | None:
    """Return the keyed operator below projections and filters."""
    node = root
    while node.name in LINEAR and not node.is_temporal:
        node = node.children[0]
    return node if node.name in KEYED else None


def possible_groups(root: PlanNode) -> list[RowGroups]:
    """Return the groups that can be replaced, those of fewer operators first.

    Of groups with the same keys the one with the most operators is returned.
    """
    found: dict[tuple[int, ...], RowGroups] = {}
    columns: dict[int, int | None] = {index: column.id for index, column in enumerate(root.output)}
    operators: list[PlanNode] = []
    node = root
    while True:
        if node.name == "Project":
            passed = {item.id: item.of for item in node.items}
            columns = {index: passed.get(each) for index, each in columns.items() if each is not None}
        elif node.name in KEYED:
            keys = _view_columns(node, columns)
            if not keys:
                break
            operators.append(node)
            columns = {index: node.keys[number][0] for number, index in keys.items()}
            at = tuple(keys.values())
            found[tuple(sorted(at))] = RowGroups(operators[0], node, at, tuple(keys), tuple(operators))
        elif node.name not in LINEAR or node.is_temporal:
            # Time changes the rows of all groups above its filter.
            break
        node = node.children[0]
    return list(found.values())


def _view_columns(node: PlanNode, columns: dict[int, int | None]) -> dict[int, int]:
    """Return for the keys of an operator that a column of the view contains the column's position."""
    items = (
        {item.id: item.key for item in node.items if item.key is not None} if node.name != "Window" else {}
    )
    attributes = {
        attribute: number for number, (attribute, _) in enumerate(node.keys) if attribute is not None
    }
    found: dict[int, int] = {}
    for index, column in columns.items():
        number = None if column is None else items.get(column, attributes.get(column))
        if number is not None and is_usable_key(node.keys[number][1]):
            found.setdefault(number, index)
    return found
