"""Streams whose batches are written by Python code, each with its number."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lakeward.pipelines.waiting import Waiting, noting, waited

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["in_batches"]


def in_batches(
    source: DataFrame,
    take: Callable[[DataFrame, int], object],
    checkpoint: Path,
    *,
    name: str,
    on_query: Callable[[Any], None],
) -> Waiting[dict[int, Any]]:
    """Let `take` have all that the stream `source` has. What a batch raised goes through as it was raised.

    Gives the progress of each batch by its number.
    """
    raised: list[BaseException] = []
    progress: dict[int, Any] = {}
    started: list[Any] = []

    def batch(frame: DataFrame, number: int) -> None:
        for query in started:
            # Spark keeps the last hundred only.
            progress.update({each.batchId: each for each in query.recentProgress})
        take(frame, number)

    query = (
        source.writeStream.queryName(name)
        .option("checkpointLocation", str(checkpoint))
        .trigger(availableNow=True)
        .foreachBatch(noting(batch, raised))
        .start()
    )
    on_query(query)
    started.append(query)
    yield from waited(query, raised)
    progress.update({each.batchId: each for each in query.recentProgress})
    return progress
