"""Aggregates of new rows that can be added to those that a view stores."""

from __future__ import annotations

from typing import Any

from lakeward.pipelines.incremental.row_groups import LINEAR, is_usable_key
from lakeward.pipelines.incremental.view_plan import CalledFunction, PlanNode
from lakeward.quoting import quote_name

_INTEGERS = ("byte", "short", "integer", "long")
# The sum of DECIMAL(p) is DECIMAL(p + 10), up to this precision: it cannot overflow below ten billion rows.
_MAX_SUMMED_PRECISION = 28


def merge_expressions(root: PlanNode, top: PlanNode, key_columns: tuple[int, ...]) -> dict[str, str] | None:
    """Return the new value of every aggregate column when rows are only added, None if it cannot be computed.

    `t` is the stored row and `s` the aggregates of the new rows with columns c0, c1, …. Every column of the
    view has to be a key or one aggregate, and no filter may follow the aggregation: a group that it removed
    is not stored.
    """
    items = {item.id: item for item in top.items}
    columns: list[int | None] = [column.id for column in root.output]
    node = root
    while node is not top:
        if node.name not in LINEAR - {"Filter", "Generate", "Expand"}:
            return None
        if node.name == "Project":
            passed = {item.id: item.of for item in node.items}
            columns = [passed.get(each) if each is not None else None for each in columns]
        node = node.children[0]
    merged = {}
    for index, column in enumerate(columns):
        item = items.get(column) if column is not None else None
        if index in key_columns:
            continue
        if item is None or item.aggregate is None:
            return None
        expression = _merged(item.aggregate, quote_name([root.output[index].name]), f"s.c{index}")
        if expression is None:
            return None
        merged[root.output[index].name] = expression
    return merged


def _merged(function: CalledFunction, column: str, added: str) -> str | None:
    stored = f"t.{column}"
    if function.distinct:
        return None
    if function.class_name in ("Count", "CountIf"):
        return f"{stored} + {added}"
    if function.class_name == "Sum" and all(_can_sum(each) for each in function.types):
        return f"coalesce({stored} + {added}, {stored}, {added})"
    if function.class_name in ("Min", "Max") and all(is_usable_key(each) for each in function.types):
        return f"{'least' if function.class_name == 'Min' else 'greatest'}({stored}, {added})"
    return None


def _can_sum(data_type: Any) -> bool:
    if data_type in _INTEGERS:
        return True
    if not isinstance(data_type, str) or not data_type.startswith("decimal("):
        return False
    return int(data_type[len("decimal(") :].split(",")[0]) <= _MAX_SUMMED_PRECISION
