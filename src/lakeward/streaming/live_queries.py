"""Streaming queries of a task: their progress in a file, and requests to stop or restart them.

<folder>/<run>.<task>.json            the queries, written again whenever one has made progress
<folder>/<run>.<task>.<n>.stop        an empty file: stop query n; `.restart`: stop it and start it again

Other processes read and create these files; the task looks at them once a second.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Literal

from lakeward.atomic_files import atomic_write, read_json_object
from lakeward.dbutils import redact
from lakeward.streaming.query_errors import query_error

Action = Literal["stop", "restart"]
ACTIONS: tuple[Action, ...] = ("stop", "restart")
_POLL_SECONDS = 1.0
_MAX_BATCHES = 40
_MAX_ERROR = 2_000
_MAX_FILES = 200
# What the figures of a micro-batch are read from; sources and sinks also have paths and options.
_FIELDS = ("batchId", "timestamp", "numInputRows", "batchDuration", "eventTime")
_SOURCE_FIELDS = ("inputRowsPerSecond", "processedRowsPerSecond", "metrics")
_STATE_FIELDS = ("numRowsTotal", "numRowsDroppedByWatermark")


@dataclass
class _LiveQuery:
    query: Any
    start: Callable[[], Any]
    name: str
    is_stopped: bool = False
    error: str = ""
    restart_error: str = ""
    batches: dict[tuple[Any, str], dict[str, Any]] = field(default_factory=dict)
    first: Any = None

    def __post_init__(self) -> None:
        self.first = self.query

    def look(self) -> None:
        """Take over the progress of the query, and the error of one that has failed."""
        is_active = self.query.isActive
        newest = self.query.lastProgress
        if newest is not None and (not is_active or _batch_key(json.loads(newest.json)) not in self.batches):
            # Several batches may have ended since the last look.
            for progress in self.query.recentProgress[-_MAX_BATCHES:]:
                batch = json.loads(progress.json)
                self.batches[_batch_key(batch)] = _figures(batch)
        for key in list(self.batches)[:-_MAX_BATCHES]:
            del self.batches[key]
        error = None if is_active else query_error(self.query)
        self.error = self.restart_error if error is None else _text(error)

    def as_json(self) -> dict[str, Any]:
        ended = "FAILED" if self.error else "STOPPED" if self.is_stopped else "COMPLETED"
        return {
            "name": self.name,
            "state": "RUNNING" if self.query.isActive else ended,
            "error": self.error,
            "batches": list(self.batches.values()),
        }


def _batch_key(progress: Mapping[str, Any]) -> tuple[Any, str]:
    return progress.get("batchId"), str(progress.get("timestamp"))


class LiveQueries:
    """The queries that this process starts within `watching`."""

    def __init__(self, file: Path, about: Mapping[str, Any]) -> None:
        self._file, self._about = file, about
        self._queries: list[_LiveQuery] = []
        self._lock = threading.RLock()
        self._written = ""

    def add(self, query: Any, start: Callable[[], Any]) -> None:
        """Include a started query; `start` starts it again."""
        with self._lock:
            name = query.name or f"query {len(self._queries) + 1}"
            self._queries.append(_LiveQuery(query, start, redact(str(name))))

    def current(self, query: Any) -> Any:
        """Return the query that runs in place of a restarted one; waits while it is being restarted."""
        with self._lock:
            return next((each.query for each in self._queries if each.first is query), query)

    def await_restarted(self) -> None:
        """Wait for restarted queries: the code that started them waits for the ones before."""
        while True:
            with self._lock:
                found = (each.query for each in self._queries if each.query is not each.first)
                query = next((each for each in found if each.isActive), None)
            if query is None:
                return
            query.awaitTermination()

    def poll(self) -> None:
        """Execute the requests and write the file, if there is anything new."""
        with self._lock:
            for number, each in enumerate(self._queries):
                for action in ACTIONS:
                    if _take(request_file(self._file, number, action)):
                        self._change(each, action)
                each.look()
            self._write(ended=False)

    def finish(self) -> None:
        """Write the file for the last time."""
        with self._lock:
            for each in self._queries:
                each.look()
            self._write(ended=True)

    def _change(self, each: _LiveQuery, action: Action) -> None:
        each.query.stop()
        # Batches may have ended since the last look.
        each.look()
        each.is_stopped, each.restart_error = action == "stop", ""
        if action == "restart":
            try:
                each.query = each.start()
            except Exception as error:  # noqa: BLE001  # shown as the error of the query
                each.restart_error = _text(error)

    def _write(self, *, ended: bool) -> None:
        if not self._queries:
            return
        queries = [each.as_json() for each in self._queries]
        text = json.dumps({**self._about, "ended": ended, "queries": queries})
        if text != self._written:
            self._file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            atomic_write(self._file, text)
            self._written = text


_live: LiveQueries | None = None
# Each thread of `dbutils.notebook.run` has an observer; threads of the user's code have the innermost one.
_own_observer: ContextVar[Callable[[Any], None] | None] = ContextVar("lakeward_observer", default=None)
_observers: list[Callable[[Any], None]] = []


def add_started_query(query: Any, start: Callable[[], Any]) -> None:
    """Include a query that was started in this process, if its queries are watched or observed."""
    if _live is not None:
        _live.add(query, start)
    observer = _own_observer.get() or (_observers[-1] if _observers else None)
    if observer is not None:
        observer(query)


@contextmanager
def observing_starts(observer: Callable[[Any], None]) -> Iterator[None]:
    """Call `observer` with each query that the code of the block starts."""
    token = _own_observer.set(observer)
    _observers.append(observer)
    try:
        yield
    finally:
        _observers.remove(observer)
        _own_observer.reset(token)


def current_query(query: Any) -> Any:
    """Return the query that runs in place of `query`: itself, unless it was restarted."""
    return query if _live is None else _live.current(query)


@contextmanager
def watching(folder: Path, run_id: str, task_key: str) -> Iterator[None]:
    """Keep the file of a task's streaming queries until the block ends. Nothing is written without one."""
    global _live  # noqa: PLW0603  # queries are started anywhere in the process
    about = {
        "run_id": run_id,
        "task_key": task_key,
        "started": datetime.now(timezone.utc).isoformat(),
        "processes": [os.getpid(), os.getppid()],
    }
    live = LiveQueries(query_file(folder, run_id, task_key), about)
    ended = threading.Event()

    def watch() -> None:
        while not ended.wait(_POLL_SECONDS):
            with suppress(Exception):  # a query of a session that has ended
                live.poll()

    _remove_oldest(folder)
    outer, _live = _live, live
    thread = threading.Thread(target=watch, name="lakeward-live-queries", daemon=True)
    thread.start()
    try:
        yield
        live.await_restarted()
    finally:
        _live = outer
        ended.set()
        thread.join()
        with suppress(Exception):
            live.finish()


def query_file(folder: Path, run_id: str, task_key: str) -> Path:
    """Return the file of a task's queries."""
    return folder / f"{run_id}.{hashlib.sha256(task_key.encode()).hexdigest()[:16]}.json"


def request_file(file: Path, number: int, action: Action) -> Path:
    """Return the empty file that requests an action on a query; creating it is the request."""
    return file.with_name(f"{file.stem}.{number}.{action}")


def read_queries(file: Path) -> dict[str, Any] | None:
    """Return the queries of a task; None if it has none, or if the file is damaged."""
    content = read_json_object(file)
    return content if isinstance(content.get("queries"), list) else None


def _text(error: Exception) -> str:
    return redact(str(error))[:_MAX_ERROR]


def _take(request: Path) -> bool:
    try:
        request.unlink()
    except OSError:
        return False
    return True


def _remove_oldest(folder: Path) -> None:
    with suppress(OSError):
        files = sorted(folder.iterdir(), key=lambda file: file.stat().st_mtime)
        for file in files[:-_MAX_FILES]:
            file.unlink()


def _figures(progress: Mapping[str, Any]) -> dict[str, Any]:
    def chosen(found: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
        return {name: found[name] for name in names if name in found}

    return {
        **chosen(progress, _FIELDS),
        "sources": [chosen(each, _SOURCE_FIELDS) for each in progress.get("sources") or ()],
        "stateOperators": [chosen(each, _STATE_FIELDS) for each in progress.get("stateOperators") or ()],
    }
