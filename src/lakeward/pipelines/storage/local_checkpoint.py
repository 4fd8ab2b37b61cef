"""Rows that are computed once and read several times."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from lakeward.spark_internals import logical_plan, scala_context

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
# In memory; a broadcast of more than 8 GB would fail.
_MAX_BROADCAST_BYTES = 64 << 20


@contextmanager
def local_checkpoint(frame: DataFrame, *, eager: bool = True) -> Iterator[DataFrame]:
    """Compute `frame` and keep it until the block ends; not `eager`: with the first action that reads it.

    Not `persist`: Delta would materialize a cached source of a MERGE a second time.
    """
    kept = frame.localCheckpoint(eager=eager)
    try:
        yield kept
    finally:
        plan: Any = logical_plan(kept)
        plan.rdd().unpersist(False)


def hint_small(frame: DataFrame) -> DataFrame:
    """Hint that joins broadcast `frame` if the rows that `local_checkpoint` has computed for it are few.

    Spark does not know how few they are: it estimates them from the tables that they were computed from.
    """
    leaves: Any = logical_plan(frame).collectLeaves()
    plans = [leaves.apply(index) for index in range(leaves.length())]
    if not plans or any(plan.getClass().getSimpleName() != "LogicalRDD" for plan in plans):
        return frame
    stored = {
        each.id(): each.memSize() + each.diskSize()
        for each in scala_context(frame.sparkSession.sparkContext).getRDDStorageInfo()
    }
    # Rows that are not computed yet are not stored.
    size = sum(stored.get(plan.rdd().id(), _MAX_BROADCAST_BYTES + 1) for plan in plans)
    return frame.hint("broadcast") if size <= _MAX_BROADCAST_BYTES else frame
