"""Aggregates of added and removed rows, merged into those that a view stores.

Added rows can be merged into every count, sum, minimum and maximum. Of removed rows that is so unless they
were the last ones that a value came from: a sum that becomes 0 may be one of no rows, and a minimum that is
removed is followed by a row that the view does not have. Such groups are computed again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lakeward.pipelines.incremental.row_groups import LINEAR, is_usable_key
from lakeward.pipelines.incremental.view_plan import CalledFunction, PlanColumn, PlanNode, TypeJson
from lakeward.quoting import quote_name

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
_INTEGERS = ("byte", "short", "integer", "long")
# The sum of DECIMAL(p) is DECIMAL(p + 10), which cannot overflow below ten billion rows. Two of them are
# added without loss of digits if one digit more is possible.
_MAX_SUMMED_PRECISION = 27
SETTLED, KEPT = "lakeward_settled", "lakeward_kept"
"""Columns of `apply_changed_aggregates`: the new values are certain, and the group has rows."""
ADDED, REMOVED = "lakeward_added", "lakeward_removed"
"""Columns of `changed_aggregates`: the aggregates of the added and of the removed rows of a group."""


@dataclass(frozen=True)
class MergedColumn:
    """The new value of an aggregate column, in SQL.

    `t` is the stored row. Aggregates of changed rows have the columns c0, c1, ….

    Attributes:
        added: The value when rows are only added, from `s`, the aggregates of these rows.
        value: The value when rows are removed, too, from `ADDED` and `REMOVED`, which may be NULL.
        certain: The condition under which `value` is that of a recomputation.
        has_rows: The condition under which a certain `value` proves that the group has rows.
        counts_rows: Whether the group has rows if, and only if, `value` is not 0.
    """

    added: str
    value: str
    certain: str
    has_rows: str
    counts_rows: bool = False


def merge_expressions(
    root: PlanNode, top: PlanNode, key_columns: Sequence[int]
) -> dict[str, MergedColumn] | None:
    """Return the new value of every aggregate column of a view, None if it cannot be computed.

    Every column of the view has to be a key or one aggregate, and no filter may follow the aggregation: a
    group that it removed is not stored.
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
        expression = _merged(item.aggregate, root.output[index], index)
        if expression is None:
            return None
        merged[root.output[index].name] = expression
    return merged


def _merged(function: CalledFunction, column: PlanColumn, index: int) -> MergedColumn | None:
    stored, new = f"t.{quote_name([column.name])}", f"s.c{index}"
    added, removed = f"{ADDED}.c{index}", f"{REMOVED}.c{index}"
    if function.distinct:
        return None
    if function.class_name in ("Count", "CountIf"):
        value = f"{stored} + coalesce({added}, 0) - coalesce({removed}, 0)"
        certain = f"{value} >= 0"
        return MergedColumn(f"{stored} + {new}", value, certain, f"{value} > 0", function.counts_rows)
    if function.class_name == "Sum" and all(_can_sum(each) for each in function.types):
        more = "coalesce({0} + {1}, {0}, {1})"
        # In two steps, of which each needs one digit more. An overflow is NULL, which is not certain.
        less = _as(column, f"try_subtract({stored}, {removed})")
        total = f"IF({added} IS NULL, {less}, {_as(column, f'try_add({less}, {added})')})"
        value = f"IF({removed} IS NULL, {more.format(stored, added)}, {total})"
        certain = f"{removed} IS NULL OR {value} <> 0"
        return MergedColumn(more.format(stored, new), value, certain, f"{value} IS NOT NULL")
    if function.class_name in ("Min", "Max") and all(is_usable_key(each) for each in function.types):
        name, before = ("least", "<") if function.class_name == "Min" else ("greatest", ">")
        more, value = f"{name}({stored}, {new})", f"{name}({stored}, {added})"
        certain = f"{removed} IS NULL OR {stored} {before} {removed}"
        if not {"float", "double"} & {str(each) for each in function.types}:
            # Equal values are the same value: the removed one is there again, or one that precedes it.
            certain += f" OR ({stored} = {removed} AND {added} {before}= {stored})"
        return MergedColumn(more, value, certain, f"{value} IS NOT NULL")
    return None


def _as(column: PlanColumn, expression: str) -> str:
    is_decimal = str(column.type).startswith("decimal(")
    return f"try_cast({expression} AS {column.type})" if is_decimal else expression


def _can_sum(data_type: TypeJson) -> bool:
    if data_type in _INTEGERS:
        return True
    if not isinstance(data_type, str) or not data_type.startswith("decimal("):
        return False
    return int(data_type[len("decimal(") :].split(",")[0]) <= _MAX_SUMMED_PRECISION


def changed_aggregates(added: DataFrame, removed: DataFrame, keys: Sequence[int]) -> DataFrame:
    """Join the aggregates of added and removed rows by group.

    Args:
        added: The aggregates of the added rows, with the columns of the view.
        removed: Those of the removed rows.
        keys: Positions of the columns with the keys.

    Returns:
        One row per affected group: the keys k0, k1, …, and the structs `ADDED` and `REMOVED`, which are NULL
        where there are no such rows. Groups in which both are equal have not changed and are left out.
    """
    from pyspark.sql import functions as F

    names = [f"c{index}" for index in range(len(added.columns))]
    sides = [
        rows.toDF(*names).select(F.struct(*names).alias(side))
        for rows, side in ((added, ADDED), (removed, REMOVED))
    ]
    same = " AND ".join(f"{ADDED}.c{index} <=> {REMOVED}.c{index}" for index in keys) or "true"
    joined = sides[0].join(sides[1], F.expr(same), "full")
    values = [
        F.expr(f"IF({ADDED} IS NULL, {REMOVED}.c{index}, {ADDED}.c{index})").alias(f"k{at}")
        for at, index in enumerate(keys)
    ]
    # -0.0 equals 0.0; as texts they differ.
    compared = [
        f"string({{0}}.{name})" if kind in ("float", "double") else f"{{0}}.{name}"
        for name, (_, kind) in zip(names, added.dtypes, strict=True)
    ]
    unchanged = " AND ".join(f"{each.format(ADDED)} <=> {each.format(REMOVED)}" for each in compared)
    there = f"{ADDED} IS NOT NULL AND {REMOVED} IS NOT NULL"
    return joined.where(f"NOT ({there} AND {unchanged})").select(*values, ADDED, REMOVED)


def apply_changed_aggregates(
    stored: DataFrame, changed: DataFrame, keys: Sequence[int], merged: Mapping[str, MergedColumn]
) -> DataFrame:
    """Merge the aggregates of added and removed rows into the stored groups.

    Args:
        stored: The view's rows, among them those of all affected groups.
        changed: The result of `changed_aggregates`.
        keys: Positions of the columns with the keys.
        merged: For every other column its new value.

    Returns:
        One row per affected group with the columns of the view, `SETTLED` and `KEPT`.
    """
    from pyspark.sql import functions as F

    columns = stored.columns
    same = F.expr(
        " AND ".join(f"t.{quote_name([columns[index]])} <=> g.k{at}" for at, index in enumerate(keys))
        or "true"
    )
    groups = changed.alias("g")
    # First the few stored rows, without a shuffle of the others.
    there = stored.alias("t").join(groups, same, "left_semi").withColumn("lakeward_stored", F.lit(True))
    joined = groups.join(there.alias("t"), same, "left")
    added_only = f"{REMOVED} IS NULL"
    values = []
    for index, column in enumerate(columns):
        value = f"g.k{keys.index(index)}" if index in keys else ""
        if not value:
            new = f"{added_only} AND t.lakeward_stored IS NULL"
            value = f"IF({new}, {ADDED}.c{index}, {merged[column].value})"
        values.append(F.expr(value).cast(stored.schema[column].dataType).alias(column))
    gone = " OR ".join(f"{each.value} = 0" for each in merged.values() if each.counts_rows)
    certain = " AND ".join(f"({each.certain})" for each in merged.values())
    proved = " OR ".join(f"({each.has_rows})" for each in merged.values())
    # Without keys the view has one row, whatever it was computed from.
    has_rows = f"({certain}) AND ({proved})" if keys else certain
    kept = f"NOT ({gone})" if gone and keys else "true"
    settled = f"t.lakeward_stored AND (({has_rows}) OR NOT ({kept}))"
    return joined.select(
        *values,
        F.expr(f"{added_only} OR coalesce({settled}, false)").alias(SETTLED),
        F.expr(f"{added_only} OR coalesce({kept}, true)").alias(KEPT),
    )
