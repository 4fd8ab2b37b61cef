"""What a streaming query may do, by operation, output mode and trigger. A test carries out every cell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["MODES", "OPERATIONS", "RUNS", "TRIGGERS", "Operation", "Trigger"]

Mode = Literal["append", "update", "complete"]
MODES: tuple[Mode, ...] = ("append", "update", "complete")
RUNS = "runs"
# A cell that nobody has carried out: the page must not be written while there is one.
UNTRIED = "untried"


@dataclass(frozen=True)
class Operation:
    """`code` on a stream `s`, one with a watermark `w`, and a table `t`; cells are RUNS or a condition."""

    name: str
    code: str
    append: str = UNTRIED
    update: str = UNTRIED
    complete: str = UNTRIED


@dataclass(frozen=True)
class Trigger:
    """The arguments of `.trigger`, and what becomes of a stream into a Delta table, by mode."""

    name: str
    append: str = UNTRIED
    update: str = UNTRIED
    complete: str = UNTRIED


OPERATIONS: tuple[Operation, ...] = (
    Operation("select, where", "s.where('id > 0').select('k')"),
    Operation("explode", "s.select(F.explode(F.array('id')))"),
    Operation("union of streams", "s.union(s)"),
    Operation("union with a table", "s.union(t)"),
    Operation("sample", "s.sample(0.5)"),
    Operation("aggregation", "s.groupBy('k').count()"),
    Operation("aggregation of the watermark's column", "w.groupBy('at').count()"),
    Operation("aggregation of windows", "w.groupBy(F.window('at', '1 day')).count()"),
    Operation("two aggregations", "s.groupBy('k', 'id').count().groupBy('k').count()"),
    Operation(
        "two aggregations of windows",
        "w.groupBy(F.window('at', '1 hour')).count().groupBy(F.window('window', '1 day')).count()",
    ),
    Operation("count(DISTINCT …)", "s.groupBy('k').agg(F.countDistinct('id'))"),
    Operation("approx_count_distinct", "s.groupBy('k').agg(F.approx_count_distinct('id'))"),
    Operation("rollup, cube", "s.rollup('k').count()"),
    Operation("pivot", "s.groupBy('k').pivot('id', [1]).count()"),
    Operation("distinct", "s.distinct()"),
    Operation("dropDuplicates", "s.dropDuplicates(['id'])"),
    Operation("dropDuplicates with the watermark's column", "w.dropDuplicates(['id', 'at'])"),
    Operation("dropDuplicatesWithinWatermark", "w.dropDuplicatesWithinWatermark(['id'])"),
    Operation("dropDuplicatesWithinWatermark without a watermark", "s.dropDuplicatesWithinWatermark(['id'])"),
    Operation("sort", "s.orderBy('id')"),
    Operation("sort of an aggregation", "s.groupBy('k').count().orderBy('k')"),
    Operation("limit", "s.limit(1)"),
    Operation("limit of an aggregation", "s.groupBy('k').count().limit(1)"),
    Operation("window function", "s.select(F.row_number().over(Window.orderBy('id')))"),
    Operation("join with a table", "s.join(t, 'id')"),
    Operation("left join with a table", "s.join(t, 'id', 'left').select('id')"),
    Operation("right join with a table", "s.join(t, 'id', 'right').select('id')"),
    Operation("full join with a table", "s.join(t, 'id', 'full').select('id')"),
    Operation("join of streams", "s.alias('a').join(s.alias('b'), F.expr('a.id = b.id')).select('a.id')"),
    Operation(
        "left join of streams without a watermark",
        "s.alias('a').join(s.alias('b'), F.expr('a.id = b.id'), 'left').select('a.id')",
    ),
    Operation(
        "left join of streams",
        "w.alias('a').join(w.alias('b'), F.expr('a.id = b.id AND a.at = b.at'), 'left').select('a.id')",
    ),
    Operation(
        "full join of streams",
        "w.alias('a').join(w.alias('b'), F.expr('a.id = b.id AND a.at = b.at'), 'full').select('a.id')",
    ),
    Operation(
        "aggregation of a join of streams",
        "w.alias('a').join(w.alias('b'), F.expr('a.id = b.id AND a.at = b.at')).groupBy('a.at').count()",
    ),
    Operation("EXCEPT ALL", "s.exceptAll(t)"),
    Operation("INTERSECT", "s.intersect(t)"),
)

TRIGGERS: tuple[Trigger, ...] = (
    Trigger("availableNow=True"),
    Trigger("once=True"),
    Trigger("processingTime='0 seconds'"),
    Trigger("continuous='1 second'"),
)
