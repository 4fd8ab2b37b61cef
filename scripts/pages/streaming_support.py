"""Support of streaming queries by operation, output mode and trigger, as the tables of docs/streaming.md.

A test executes every cell.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Mode = Literal["append", "update", "complete"]
MODES: tuple[Mode, ...] = ("append", "update", "complete")
RUNS = "runs"


@dataclass(frozen=True)
class Operation:
    """`code` on a stream `s`, one with a watermark `w`, and a table `t`; cells are RUNS or a condition."""

    name: str
    code: str
    append: str
    update: str
    complete: str


@dataclass(frozen=True)
class Trigger:
    """The arguments of `.trigger`, and the outcome of a stream into a Delta table by mode."""

    name: str
    append: str
    update: str
    complete: str


# Conditions of errors: unsupported mode, unsupported plan (an unnamed condition of Spark), window, mode of
# Delta's sink; and the condition of a query that starts and then fails.
MODE = "STREAMING_OUTPUT_MODE.UNSUPPORTED_OPERATION"
PLAN = "_LEGACY_ERROR_TEMP_3102"
WINDOW = "NON_TIME_WINDOW_NOT_SUPPORTED_IN_STREAMING"
SINK = "DELTA_UNSUPPORTED_OUTPUT_MODE"
FAILED = "STREAM_FAILED"

OPERATIONS: tuple[Operation, ...] = (
    Operation("select, where", "s.where('id > 0').select('k')", RUNS, RUNS, MODE),
    Operation("explode", "s.select(F.explode(F.array('id')))", RUNS, RUNS, MODE),
    Operation("union of streams", "s.union(s)", RUNS, RUNS, MODE),
    Operation("union with a table", "s.union(t)", PLAN, PLAN, MODE),
    Operation("sample", "s.sample(0.5)", PLAN, PLAN, MODE),
    Operation("aggregation", "s.groupBy('k').count()", MODE, RUNS, RUNS),
    Operation("aggregation of the watermark's column", "w.groupBy('at').count()", RUNS, RUNS, RUNS),
    Operation("aggregation of windows", "w.groupBy(F.window('at', '1 day')).count()", RUNS, RUNS, RUNS),
    Operation("two aggregations", "s.groupBy('k', 'id').count().groupBy('k').count()", MODE, PLAN, PLAN),
    Operation(
        "two aggregations of windows",
        "w.groupBy(F.window('at', '1 hour')).count().groupBy(F.window('window', '1 day')).count()",
        RUNS,
        PLAN,
        PLAN,
    ),
    Operation("count(DISTINCT …)", "s.groupBy('k').agg(F.countDistinct('id'))", MODE, PLAN, PLAN),
    Operation("approx_count_distinct", "s.groupBy('k').agg(F.approx_count_distinct('id'))", MODE, RUNS, RUNS),
    Operation("rollup, cube", "s.rollup('k').count()", MODE, RUNS, RUNS),
    Operation("pivot", "s.groupBy('k').pivot('id', [1]).count()", MODE, PLAN, PLAN),
    Operation("distinct", "s.distinct()", RUNS, RUNS, MODE),
    Operation("dropDuplicates", "s.dropDuplicates(['id'])", RUNS, RUNS, MODE),
    Operation(
        "dropDuplicates with the watermark's column", "w.dropDuplicates(['id', 'at'])", RUNS, RUNS, MODE
    ),
    Operation("dropDuplicatesWithinWatermark", "w.dropDuplicatesWithinWatermark(['id'])", RUNS, RUNS, MODE),
    Operation(
        "dropDuplicatesWithinWatermark without a watermark",
        "s.dropDuplicatesWithinWatermark(['id'])",
        PLAN,
        PLAN,
        MODE,
    ),
    Operation("sort", "s.orderBy('id')", PLAN, PLAN, MODE),
    Operation("sort of an aggregation", "s.groupBy('k').count().orderBy('k')", MODE, PLAN, RUNS),
    Operation("limit", "s.limit(1)", RUNS, PLAN, MODE),
    Operation("limit of an aggregation", "s.groupBy('k').count().limit(1)", MODE, PLAN, RUNS),
    Operation("window function", "s.select(F.row_number().over(Window.orderBy('id')))", WINDOW, WINDOW, MODE),
    Operation("join with a table", "s.join(t, 'id')", RUNS, RUNS, MODE),
    Operation("left join with a table", "s.join(t, 'id', 'left').select('id')", RUNS, RUNS, MODE),
    Operation("right join with a table", "s.join(t, 'id', 'right').select('id')", PLAN, PLAN, MODE),
    Operation("full join with a table", "s.join(t, 'id', 'full').select('id')", PLAN, PLAN, MODE),
    Operation(
        "join of streams",
        "s.alias('a').join(s.alias('b'), F.expr('a.id = b.id')).select('a.id')",
        RUNS,
        RUNS,
        MODE,
    ),
    Operation(
        "left join of streams without a watermark",
        "s.alias('a').join(s.alias('b'), F.expr('a.id = b.id'), 'left').select('a.id')",
        PLAN,
        PLAN,
        MODE,
    ),
    Operation(
        "left join of streams",
        "w.alias('a').join(w.alias('b'), F.expr('a.id = b.id AND a.at = b.at'), 'left').select('a.id')",
        RUNS,
        PLAN,
        MODE,
    ),
    Operation(
        "full join of streams",
        "w.alias('a').join(w.alias('b'), F.expr('a.id = b.id AND a.at = b.at'), 'full').select('a.id')",
        RUNS,
        PLAN,
        MODE,
    ),
    Operation(
        "aggregation of a join of streams",
        "w.alias('a').join(w.alias('b'), F.expr('a.id = b.id AND a.at = b.at')).groupBy('a.at').count()",
        RUNS,
        RUNS,
        PLAN,
    ),
    Operation("EXCEPT ALL", "s.exceptAll(t)", FAILED, RUNS, MODE),
    Operation("INTERSECT", "s.intersect(t)", PLAN, PLAN, MODE),
)

TRIGGERS: tuple[Trigger, ...] = (
    Trigger("availableNow=True", RUNS, SINK, RUNS),
    Trigger("once=True", RUNS, SINK, RUNS),
    Trigger("processingTime='0 seconds'", RUNS, SINK, RUNS),
    Trigger("continuous='1 second'", FAILED, SINK, FAILED),
)
