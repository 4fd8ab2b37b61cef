"""Rows that are computed once and read several times."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from lakeward.spark_internals import logical_plan

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


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
