"""`--watch`: the micro-batches of a run's streaming queries, from the event files of its pipelines."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lakeward.cli.formatting import format_duration, format_number

if TYPE_CHECKING:
    from lakeward.session import Settings

Batch = dict[str, Any]
_POLL_SECONDS = 0.5
# Enough for the id of the first event: the file of another update begins with another one.
_HEAD = 60


class BatchReader:
    """Reads what the event files of pipelines have got since the last call; earlier updates are left out."""

    def __init__(self, storages: Sequence[Path], since: datetime) -> None:
        self._since = since.isoformat()
        self._positions = {storage / "events.jsonl": (b"", 0) for storage in storages}

    def read(self) -> Iterator[tuple[str, Batch]]:
        """Yield the flows and figures of new micro-batches; those without rows and state are left out."""
        from lakeward.report import batch_of

        events = (event for file in self._positions for event in self._new_events(file))
        for event in events:
            try:
                if event["event_type"] != "stream_progress" or event["timestamp"] < self._since:
                    continue
                batch = batch_of(event["details"]["stream_progress"]["progress"])
                flow = str(event["origin"]["flow_name"])
            except (KeyError, TypeError, AttributeError):
                continue
            if batch["rows"] or batch["state_rows"] is not None:
                yield flow, batch

    def _new_events(self, file: Path) -> Iterator[Any]:
        """Yield the events of complete lines; each update starts a new file."""
        known, position = self._positions[file]
        try:
            with file.open("rb") as opened:
                head = opened.read(_HEAD)
                begin = position if head == known else 0
                opened.seek(begin)
                complete, ended, _ = opened.read().rpartition(b"\n")
                if ended:
                    self._positions[file] = (head, begin + len(complete) + 1)
        except OSError:
            return
        for line in complete.splitlines():
            try:
                yield json.loads(line)
            except ValueError:
                continue


def batch_text(flow: str, batch: Batch) -> str:
    """Return a micro-batch as one line; figures that Spark or the source does not report are left out.

    >>> batch_text("main.a.orders", {"batch": 3, "rows": 1200, "seconds": 0.75, "input_rate": 120.4})
    'orders: batch 3, 1,200 rows in 0.8 s, 120 rows/s in'
    """
    facts = [f"batch {batch.get('batch')}, {format_number(batch.get('rows'))} rows"]
    if batch.get("seconds") is not None:
        facts[0] += f" in {format_duration(batch['seconds'])}"
    for name, text in (("input_rate", "rows/s in"), ("processing_rate", "rows/s processed")):
        if batch.get(name) is not None:
            facts.append(f"{format_number(round(batch[name]))} {text}")
    backlog = [
        f"{format_number(round(batch[name]))} {unit}"
        for name, unit in (("backlog_files", "files"), ("backlog_bytes", "bytes"))
        if batch.get(name)
    ]
    if backlog:
        facts.append(f"backlog {', '.join(backlog)}")
    if batch.get("state_rows") is not None:
        facts.append(f"{format_number(round(batch['state_rows']))} state rows")
    if batch.get("late_rows"):
        facts.append(f"{format_number(round(batch['late_rows']))} late rows dropped")
    if batch.get("watermark_lag") is not None:
        facts.append(f"watermark {format_duration(batch['watermark_lag'])} behind")
    return f"{flow.rpartition('.')[2]}: {', '.join(facts)}"


class TaskBatchReader:
    """Reads the micro-batches of the streaming queries that tasks of this process's run have started."""

    def __init__(self, folder: Path, since: datetime) -> None:
        self._folder, self._since = folder, since.isoformat()
        self._shown: set[tuple[str, str, str]] = set()

    def read(self) -> Iterator[tuple[str, Batch]]:
        """Yield the names of queries and the figures of their new micro-batches with rows or state."""
        from lakeward.report import batch_of
        from lakeward.streaming import read_queries

        for file in self._folder.glob("*.json"):
            found = read_queries(file) or {}
            ours = os.getpid() in found.get("processes", ()) and found.get("started", "") >= self._since
            for query in found["queries"] if ours else ():
                for progress in query.get("batches", ()):
                    batch = batch_of(progress)
                    key = (file.name, query["name"], f"{batch['started']} {batch['batch']}")
                    if key not in self._shown and (batch["rows"] or batch["state_rows"] is not None):
                        self._shown.add(key)
                        yield f"{found['task_key']} {query['name']}".replace(".", "_"), batch


@contextmanager
def watching_streams(
    settings: Settings, pipelines: Sequence[str], show: Callable[[str, Batch], None]
) -> Iterator[None]:
    """Call `show` with the micro-batches of these pipelines, and of the queries of tasks, until the end."""
    now, ended = datetime.now(timezone.utc), threading.Event()
    readers = (
        BatchReader([settings.pipelines / name for name in pipelines], now),
        TaskBatchReader(settings.state / "streams", now),
    )

    def watch() -> None:
        last = False
        while not last:
            # Once more after the end: the last batches are reported with the end of their flows.
            last = ended.wait(_POLL_SECONDS)
            for reader in readers:
                for flow, batch in reader.read():
                    show(flow, batch)

    thread = threading.Thread(target=watch, name="lakeward-watch", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
