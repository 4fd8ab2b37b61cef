"""The event log of a pipeline: a Delta table with the columns that teams query (spec §5.1)."""

from __future__ import annotations

import json
import logging
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lakeward.dbutils import redacted
from lakeward.pipelines.live import Live

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["EventLog", "Origin"]

log = logging.getLogger("lakeward.pipelines")

# A commit costs seconds in a cold process, so short runs make one only.
_FLUSH_SECONDS = 20.0
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
    _written: int = 0
    _last: float | None = None

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
        number = self._written + len(self._buffer) + 1
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
            "sequence": {"data_plane_id": {"instance": self.origin.update_id, "seq_no": number}},
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

    def flush(self) -> None:
        """Write all events noted so far in one commit. What Spark raises goes through, events stay noted."""
        if not self._buffer or self.path is None:
            return
        rows, count = list(self._buffer), len(self._buffer)
        df = self.spark.createDataFrame(rows, _SCHEMA, verifySchema=False).coalesce(1)
        df.write.format("delta").mode("append").option("mergeSchema", "true").save(str(self.path))
        del self._buffer[:count]
        self._written += count
        self._last = self.clock()
