"""Frames that are computed once and then used several times, by MERGE, too."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["computed"]


@contextmanager
def computed(frame: DataFrame) -> Iterator[DataFrame]:
    """`frame`, computed now and kept until the block ends.

    Not `persist`: Delta would write down a cached source of a MERGE a second time.
    """
    kept = frame.localCheckpoint()
    try:
        yield kept
    finally:
        plan: Any = kept._jdf.logicalPlan()
        plan.rdd().unpersist(False)
