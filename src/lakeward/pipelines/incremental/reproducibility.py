"""Which operators give the same result for the same rows in any order, or can be made to.

A window that numbers rows, and dropDuplicates, may choose among rows that tie. If all columns that the view
uses can be compared exactly, they choose by these columns too: rows that still tie are equal for the view.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lakeward.pipelines.incremental.view_plan import CalledFunction, PlanColumn, PlanNode, is_exact_key
from lakeward.spark_internals import jvm_view

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
_REPRODUCIBLE = frozenset(
    ("Count", "Min", "Max", "BitAndAgg", "BitOrAgg", "BitXorAgg", "BoolAnd", "BoolOr", "CountIf")
)
# Equal rows get the same value, although Spark computes it row by row.
_RANKS = frozenset(("Rank", "DenseRank", "PercentRank", "CumeDist"))
# The value depends on the order of rows alone.
_ORDERED = frozenset(("RowNumber", "NTile", "Lag", "Lead"))
_EXACT_NUMBERS = ("byte", "short", "integer", "long")


def is_reproducible(function: CalledFunction, *, ordered: bool = False) -> bool:
    """Whether the function gives the same value for the same rows; `ordered` if their order has no ties."""
    if function.class_name in _RANKS or (ordered and function.class_name in _ORDERED):
        return True
    if _follows_rows(function) and not ordered:
        return False
    if not all(is_exact_key(each) for each in function.types):
        return False
    if function.class_name == "Sum":
        return all(_is_exact_number(each) for each in function.types)
    if function.class_name == "Average":
        return all(isinstance(each, str) and each.startswith("decimal") for each in function.types)
    return function.class_name in _REPRODUCIBLE


def can_break_ties(window: PlanNode) -> bool:
    """Whether all functions of a window depend on single rows in order, and all its rows can be ordered."""
    if window.name != "Window" or not all(_is_comparable(each) for each in _used_columns(window)):
        return False
    framed = [each for each in window.functions if each.frame]
    return all(
        each.class_name in _ORDERED or each.frame.upper().startswith("ROWS") for each in framed
    ) and not (any(each.class_name in _RANKS for each in framed))


def break_ties(spark: SparkSession, windows: tuple[PlanNode, ...]) -> None:
    """Order the rows of these windows by all columns that the view uses, after their own order."""
    for window in windows:
        at = _positions(window, {attribute for attribute, _ in window.keys if attribute is not None})
        window.java = jvm_view(spark).lakeward.PlanRewrites.withTieBreaks(window.java, at)


def least_row_columns(node: PlanNode) -> list[int] | None:
    """Return the positions of the columns by which dropDuplicates chooses a row, None if it cannot."""
    keys = {attribute for attribute, _ in node.keys}
    others = [each for each in _used_columns(node) if each.id not in keys]
    return _positions(node, keys) if all(_is_comparable(each) for each in others) else None


def _used_columns(node: PlanNode) -> list[PlanColumn]:
    (child,) = node.children
    return [column for column in child.output if column.id in child.required]


def _positions(node: PlanNode, without: set[int | None]) -> list[int]:
    (child,) = node.children
    used = {column.id for column in _used_columns(node)} - without
    return [at for at, column in enumerate(child.output) if column.id in used]


def _is_comparable(column: PlanColumn) -> bool:
    return column.is_float or column.is_exact_key


def _follows_rows(function: CalledFunction) -> bool:
    frame = function.frame.upper()
    return frame.startswith("ROWS") and not (
        "UNBOUNDED PRECEDING" in frame and "UNBOUNDED FOLLOWING" in frame
    )


def _is_exact_number(data_type: object) -> bool:
    return data_type in _EXACT_NUMBERS or (isinstance(data_type, str) and data_type.startswith("decimal"))
