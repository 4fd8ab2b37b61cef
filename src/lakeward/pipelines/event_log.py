"""The event log of a pipeline: a Delta table with the columns that teams query (spec §5.1)."""

from __future__ import annotations

import json
import logging
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timezone
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lakeward.dbutils import redacted
from lakeward.pipelines.live import Live

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["EventLog", "Origin"]

log = logging.getLogger("lakeward.pipelines")

# A commit costs seconds in a cold process, so short runs make few.
_FLUSH_SECONDS = 20.0
# A JVM that is younger has its first commits before it.
_COLD_SECONDS = 60.0
_ORIGIN = (
    *("cloud", "region", "org_id", "user_id", "pipeline_id", "pipeline_type", "pipeline_name", "cluster_id"),
    *("update_id", "maintenance_id", "table_id", "dataset_name", "flow_id", "flow_name", "batch_id"),
    "request_id",
)
_SCHEMA = (
    "id string, sequence struct<data_plane_id: struct<instance: string, seq_no: bigint>>, "
    f"origin struct<{', '.join(f'{name}: string' for name in _ORIGIN)}>, "
    "timestamp timestamp, message string, "
    "level string, maturity_level string, error struct<fatal: boolean, exceptions: array<struct<"
    "class_name: string, message: string, stack: array<string>>>>, details string, event_type string"
)


@dataclass(frozen=True)
class Origin:
    """What all events of one update have in common."""

    pipeline: str
    update_id: str
    user: str


@dataclass
class EventLog:
    """Events of one update, written in few commits: when some seconds have passed, and at the end.

    A commit holds whole events. `path` None keeps nothing (dry runs). Each event also goes at once to
    `live`, for those who look on from another process, and as a dict to `told`.
    """

    spark: SparkSession
    path: Path | None
    origin: Origin
    clock: Callable[[], float] = time.monotonic
    live: Live | None = None
    told: Callable[[dict[str, Any]], None] | None = None
    _buffer: list[dict[str, Any]] = field(default_factory=list)
    _numbers: Iterator[int] = field(default_factory=lambda: count(1))
    _last: float | None = None
    _aside: threading.Thread | None = None

    def add(
        self,
        event_type: str,
        message: str,
        details: Mapping[str, Any],
        *,
        dataset: str | None = None,
        flow: str | None = None,
        level: str = "INFO",
        error: str | None = None,
    ) -> None:
        """Note an event; `details` stands under its event type in the JSON of the column `details`."""
        if self.path is None:
            return
        message, error = redacted(message), redacted(error) if error else None
        known = {
            "pipeline_id": self.origin.pipeline,
            "pipeline_name": self.origin.pipeline,
            "pipeline_type": "WORKSPACE",
            "user_id": self.origin.user,
            "update_id": self.origin.update_id,
            "dataset_name": dataset,
            "flow_name": flow,
        }
        now, text = datetime.now(timezone.utc), json.dumps({event_type: details}, default=str)
        event: dict[str, Any] = {
            "id": str(uuid.uuid4()),
            "sequence": {"data_plane_id": {"instance": self.origin.update_id, "seq_no": next(self._numbers)}},
            "origin": {name: known.get(name) for name in _ORIGIN},
            "timestamp": now,
            "message": message,
            "level": level,
            "maturity_level": "STABLE",
            "error": {"fatal": False, "exceptions": [{"class_name": "", "message": error, "stack": []}]}
            if error
            else None,
            "details": text,
            "event_type": event_type,
        }
        self._buffer.append(event)
        told = {**event, "timestamp": now.isoformat(), "details": json.loads(text)}
        if self.live is not None:
            self.live.write(told)
        if self.told is not None:
            self.told(told)

    def flush_if_due(self) -> None:
        """Write what has gathered when the last commit is some seconds ago."""
        now = self.clock()
        if self._last is None:
            self._last = now
        if now - self._last >= _FLUSH_SECONDS:
            self.flush()

    def begin(self) -> None:
        """In a young JVM, begin to write while the update goes on.

        The first commit of a JVM takes seconds, mostly of one core; those of the end are quick then.
        """
        if self.path is None or time.time() - self.spark._sc.startTime / 1000 > _COLD_SECONDS:
            return
        self._aside = threading.Thread(target=self._begin, name="lakeward-event-log", daemon=True)
        self._aside.start()

    def _begin(self) -> None:
        with suppress(Exception):  # the events stay noted: what is wrong is told at the end
            self._write()

    def flush(self) -> None:
        """Write all events noted so far in one commit. What Spark raises goes through, events stay noted."""
        if self._aside is not None:
            self._aside.join()
            self._aside = None
        self._write()

    def _write(self) -> None:
        if not self._buffer or self.path is None:
            return
        rows = list(self._buffer)
        df = self.spark.createDataFrame(rows, _SCHEMA, verifySchema=False).coalesce(1)
        df.write.format("delta").mode("append").option("mergeSchema", "true").save(str(self.path))
        del self._buffer[: len(rows)]
        self._last = self.clock()
