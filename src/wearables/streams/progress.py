"""The progress of the streams as rows of a table, by a streaming listener."""

from __future__ import annotations

import json
import threading
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.listener import (
    QueryIdleEvent,
    QueryProgressEvent,
    QueryStartedEvent,
    QueryTerminatedEvent,
    StreamingQueryListener,
)
from pyspark.sql.streaming.query import StreamingQuery

__all__ = ["COLUMNS", "ProgressListener"]

COLUMNS = (
    "query STRING, batch BIGINT, finished TIMESTAMP, input_rows BIGINT, state_rows BIGINT, "
    "state_bytes BIGINT, "
    "late_rows BIGINT COMMENT 'rows behind the watermark, which the query dropped', watermark STRING"
)
"""Columns of `stream_progress`: a row for each batch of each query."""

_ROW = (
    "query STRING, batch BIGINT, finished STRING, input_rows BIGINT, state_rows BIGINT, state_bytes BIGINT, "
)
_ROW += "late_rows BIGINT, watermark STRING"

# Events arrive in another thread, after the query has ended.
_PATIENCE = 30.0


class ProgressListener(StreamingQueryListener):
    """Collects the batches of queries, by their names; `write` appends them to a table.

    A listener sees all batches; a query itself remembers the last hundred. Rows are written once for many
    queries, and not in the callback: a write there would delay the events of all queries.
    """

    def __init__(self) -> None:
        """Start with no rows."""
        self._rows: list[tuple[Any, ...]] = []
        self._ended: set[str] = set()
        self._changed = threading.Condition()

    def onQueryStarted(self, event: QueryStartedEvent) -> None:  # noqa: N802
        """Ignore: a query without a batch has no progress."""

    def onQueryIdle(self, event: QueryIdleEvent) -> None:  # noqa: N802
        """Ignore: nothing has changed."""

    def onQueryProgress(self, event: QueryProgressEvent) -> None:  # noqa: N802
        """Note a batch."""
        row = progress_row(json.loads(event.progress.json))
        with self._changed:
            self._rows.append(row)

    def onQueryTerminated(self, event: QueryTerminatedEvent) -> None:  # noqa: N802
        """Note the end: no event of the query follows."""
        with self._changed:
            self._ended.add(str(event.runId))
            self._changed.notify_all()

    def await_events(self, query: StreamingQuery) -> None:
        """Wait until all batches of an ended query are noted."""
        with self._changed:
            self._changed.wait_for(lambda: str(query.runId) in self._ended, timeout=_PATIENCE)

    def write(self, spark: SparkSession, table: str) -> int:
        """Append the batches that were noted since the last call; returns how many."""
        with self._changed:
            rows, self._rows = self._rows, []
        if rows:
            frame = spark.createDataFrame(rows, _ROW).withColumn(
                "finished", F.col("finished").cast("timestamp")
            )
            frame.write.mode("append").saveAsTable(table)
        return len(rows)


def progress_row(progress: dict[str, Any]) -> tuple[Any, ...]:
    """Return a batch as a row: how far the query is, and how much state it has."""
    states = progress.get("stateOperators") or []
    return (
        progress["name"],
        progress["batchId"],
        progress["timestamp"],
        progress["numInputRows"],
        sum(each["numRowsTotal"] for each in states),
        sum(each["memoryUsedBytes"] for each in states),
        sum(each.get("numRowsDroppedByWatermark", 0) for each in states),
        (progress.get("eventTime") or {}).get("watermark"),
    )
