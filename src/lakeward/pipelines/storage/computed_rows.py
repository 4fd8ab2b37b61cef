"""Rows that are computed once and read several times.

A few rows become a part of the plans that read them. Spark's optimizer then knows their number, applies
filters and projections to them, and leaves out joins without a row. Their number and aggregates are known
without a Spark job. Of a small change, most time is that of jobs and of the plans and code for them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from lakeward.spark_internals import (
    JavaObject,
    frame_from_java,
    java_frame,
    jvm_view,
    logical_plan,
    scala_list,
)

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, Row
# Each task gets the rows of its plan, and the optimizer computes them one by one.
_MAX_PLANNED_BYTES = 512 << 10
_MAX_REPEATED_ROWS = 8192
# In memory; a broadcast of more than 8 GB would fail.
_MAX_BROADCAST_BYTES = 64 << 20


@contextmanager
def computed_rows(frame: DataFrame) -> Iterator[DataFrame]:
    """Compute `frame` and keep its rows until the block ends."""
    kept = compute_rows(frame)
    try:
        yield kept
    finally:
        plan: Any = logical_plan(kept)
        if _is_stored(plan):
            plan.rdd().unpersist(False)


def compute_rows(frame: DataFrame) -> DataFrame:
    """Compute `frame` and keep its rows as long as plans read them.

    Not `persist`: Delta would materialize a cached source of a MERGE a second time, or refuses it.
    """
    return _from_java(frame, _rows(frame).compute(java_frame(frame), _MAX_PLANNED_BYTES))


def count_rows(frame: DataFrame) -> int:
    """Return the number of rows; a Spark job counts those that are not computed or many."""
    known = int(_rows(frame).count(java_frame(frame)))
    return frame.count() if known < 0 else known


def aggregate_rows(frame: DataFrame, *aggregates: Column) -> Row:
    """Return the aggregates of all rows; a Spark job computes those of rows that are not computed or many."""
    found = frame.agg(*aggregates)
    return _from_java(found, _rows(frame).aggregate(java_frame(found))).collect()[0]


def repeat_rows(counted: DataFrame, names: Sequence[str], count: str) -> DataFrame:
    """Return the columns `names` of every row, repeated by its positive column `count`."""
    from pyspark.sql import functions as F

    counted = counted.where(f"{count} > 0").select(*names, F.col(count).cast("bigint").alias(count))
    repeated = _rows(counted).repeat(java_frame(counted), len(names), _MAX_REPEATED_ROWS)
    if repeated is not None:
        return _from_java(counted, repeated).select(*names)
    copies = F.expr(f"explode(sequence(1L, {count}))").alias("copy")
    return counted.select(*names, copies).select(*names)


def hint_small(frame: DataFrame) -> DataFrame:
    """Hint that joins broadcast `frame` if it consists of computed rows that are few.

    Spark does not know how few they are: it estimates them from the tables that they were computed from.
    """
    plans = scala_list(logical_plan(frame).collectLeaves())
    if not plans or not all(_is_stored(plan) or _name(plan) == "LocalRelation" for plan in plans):
        return frame
    rows = _rows(frame)
    size = sum(rows.bytes(plan.rdd()) for plan in plans if _is_stored(plan))
    return frame.hint("broadcast") if size <= _MAX_BROADCAST_BYTES else frame


def _is_stored(plan: JavaObject) -> bool:
    return _name(plan) == "LogicalRDD"


def _name(plan: JavaObject) -> str:
    return str(plan.getClass().getSimpleName())


def _rows(frame: DataFrame) -> JavaObject:
    return jvm_view(frame.sparkSession).lakeward.ComputedRows


def _from_java(frame: DataFrame, dataset: JavaObject) -> DataFrame:
    return frame_from_java(dataset, frame.sparkSession)
