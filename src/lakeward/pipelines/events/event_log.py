"""The event log of a pipeline: a Delta table, and a file that other processes can follow.

<storage>/event_log/        the Delta table with the platform's columns
<storage>/events.jsonl      one event per line; each update starts a new file"""

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
from functools import cache
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from lakeward.dbutils import redact
from lakeward.errors import PipelineError
from lakeward.quoting import quote_string
from lakeward.spark_internals import java_session, jvm_view, parse_schema, to_arrow
from lakeward.update_states import UPDATE_ENDS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructType
log = logging.getLogger("lakeward.pipelines")
_FILE_NAME = "events.jsonl"
ORIGIN_FIELDS = (
    *("cloud", "region", "org_id", "user_id", "pipeline_id", "pipeline_type", "pipeline_name", "cluster_id"),
    *("update_id", "maintenance_id", "table_id", "dataset_name", "flow_id", "flow_name", "batch_id"),
    "request_id",
)


class EventFileWriter:
    """Writes the event file; a failure is logged once and has no other effect."""

    def __init__(self, storage: Path) -> None:
        self._path = storage / _FILE_NAME
        self._begun = self._broken = False

    def write(self, event: dict[str, Any]) -> None:
        if self._broken:
            return
        try:
            # A new file instead of a truncated one: readers of the old one can finish it.
            if not self._begun:
                self._path.parent.mkdir(parents=True, exist_ok=True)
                self._path.unlink(missing_ok=True)
                self._begun = True
            with self._path.open("a") as file:
                file.write(json.dumps(event, default=str) + "\n")
        except OSError as error:
            self._broken = True
            log.warning("The event file of this update cannot be written: %s", error)


def tail_events(storage: Path, wait: Callable[[], None]) -> Iterator[dict[str, Any]]:
    """Yield the events of the last update until it ends; `wait` is called while there is no new event."""
    path, rest = storage / _FILE_NAME, ""
    while not path.exists():
        wait()
    with path.open(errors="replace") as file:
        while True:
            text = file.readline()
            if not text.endswith("\n"):
                rest += text
                wait()
                continue
            event, rest = _parsed(rest + text), ""
            if event is None:
                continue
            yield event
            if event["event_type"] == "update_progress" and _update_state(event) in UPDATE_ENDS:
                return


def _parsed(line: str) -> dict[str, Any] | None:
    """Return the event of a line; None for a damaged line, which is skipped: the event log has all events."""
    try:
        event = json.loads(line)
    except ValueError:
        return None
    return event if isinstance(event, dict) and {"event_type", "details"} <= event.keys() else None


def _update_state(event: dict[str, Any]) -> str | None:
    return event["details"].get("update_progress", {}).get("state")  # type: ignore[no-any-return]  # JSON


# A commit takes seconds in a cold process.
_FLUSH_SECONDS = 20.0
# Age below which a JVM has not committed yet.
_COLD_SECONDS = 60.0


@dataclass(frozen=True)
class EventOrigin:
    """Identifiers that all events of one update share."""

    pipeline: str
    update_id: str
    user: str


@dataclass
class EventLog:
    """Events of one update, written in few commits: after some seconds, and at the end.

    Attributes:
        spark: The session that writes.
        path: Folder of the Delta table; None discards all events (dry runs).
        origin: Identifiers of the update.
        event_file: Receives each event immediately, for other processes.
        on_event: Called with each event as a dict.
    """

    spark: SparkSession
    path: Path | None
    origin: EventOrigin
    event_file: EventFileWriter | None = None
    on_event: Callable[[dict[str, Any]], None] | None = None
    _buffer: list[dict[str, Any]] = field(default_factory=list)
    _numbers: Iterator[int] = field(default_factory=lambda: count(1))
    _last: float | None = None
    _early_write: threading.Thread | None = None

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
        """Add an event; the column `details` is JSON with `details` under the event type."""
        if self.path is None:
            return
        message, error = redact(message), redact(error) if error else None
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
            "origin": {name: known.get(name) for name in ORIGIN_FIELDS},
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
        published = {**event, "timestamp": now.isoformat(), "details": json.loads(text)}
        if self.event_file is not None:
            self.event_file.write(published)
        if self.on_event is not None:
            self.on_event(published)

    def flush_if_due(self) -> None:
        """Write the buffered events if the last commit is old enough."""
        now = time.monotonic()
        if self._last is None:
            self._last = now
        if now - self._last >= _FLUSH_SECONDS:
            self.flush()

    def start_early_write(self) -> None:
        """Write the first commit in the background, where the JVM has just started.

        The first commit of a JVM takes seconds, mostly of one core; later ones are quick.
        """
        if self.path is None or time.time() - self.spark.sparkContext.startTime / 1000 > _COLD_SECONDS:
            return
        self._early_write = threading.Thread(target=self._begin, name="lakeward-event-log", daemon=True)
        self._early_write.start()

    def _begin(self) -> None:
        with suppress(Exception):  # the events stay buffered; the final flush reports the error
            self._write()

    def flush(self) -> None:
        """Write all buffered events in one commit. On errors of Spark the events stay buffered."""
        if self._early_write is not None:
            self._early_write.join()
            self._early_write = None
        self._write()

    def _write(self) -> None:
        if not self._buffer or self.path is None:
            return
        rows = list(self._buffer)
        append_events(self.spark, self.path, rows)
        del self._buffer[: len(rows)]
        self._last = time.monotonic()


def append_events(spark: SparkSession, path: Path, events: list[dict[str, Any]]) -> None:
    """Append events to the table at `path`, which is created if it does not exist, in one commit.

    A Spark job takes several times as long as writing them: Arrow writes them as one Parquet file, and Delta
    commits it. Spark writes to a table with other columns, as that of another version of lakeward, and adds
    the missing ones; and to one with properties, which may ask for more than a file.
    """
    schema = _schema()
    file = path / f"part-00000-{uuid.uuid4()}-c000.snappy.parquet"
    if not _commit_file(spark, file, events, schema):
        frame = spark.createDataFrame(events, schema, verifySchema=False).coalesce(1)
        frame.write.format("delta").mode("append").option("mergeSchema", "true").save(str(path))


def publish_table(spark: SparkSession, name: str, path: Path) -> None:
    """Create the table `name` over the log at `path`. Raises PipelineError if it is another table already."""
    if not spark.catalog.tableExists(name):
        spark.sql(f"CREATE TABLE {name} USING DELTA LOCATION {quote_string(f'file:{path.absolute()}')}")
        return
    detail = spark.sql(f"DESCRIBE DETAIL {name}").first()
    place = str(detail["location"]) if detail is not None else ""
    if Path(place.removeprefix("file:")).resolve() != path.resolve():
        raise PipelineError(
            "EVENT_LOG_TABLE_EXISTS",
            f"{name} exists and is not the event log of this pipeline.",
            next_step="Give `event_log` of the pipeline another name, or drop that table.",
        )


def _commit_file(spark: SparkSession, file: Path, events: list[dict[str, Any]], schema: StructType) -> bool:
    """Write and commit the file; return False, and remove it, if Spark has to write the events."""
    import pyarrow.parquet as pq

    table = to_arrow(events, schema)
    file.parent.mkdir(parents=True, exist_ok=True)
    try:
        pq.write_table(table, file)
    except OSError:
        file.unlink(missing_ok=True)
        raise
    java: Any = jvm_view(spark)
    # The file stays where the commit fails: it may have failed after the log had it.
    is_committed = java.lakeward.AppendedFile.commit(
        java_session(spark), str(file.parent), file.name, file.stat().st_size, len(events), schema.json()
    )
    if not is_committed:
        file.unlink()
    return bool(is_committed)


@cache
def _schema() -> StructType:
    origin = ", ".join(f"{name}: string" for name in ORIGIN_FIELDS)
    schema = parse_schema(
        "id string, sequence struct<data_plane_id: struct<instance: string, seq_no: bigint>>, "
        f"origin struct<{origin}>, timestamp timestamp, message string, level string, maturity_level string, "
        "error struct<fatal: boolean, exceptions: array<struct<class_name: string, message: string, "
        "stack: array<string>>>>, details string, event_type string"
    )
    return cast("StructType", schema)
