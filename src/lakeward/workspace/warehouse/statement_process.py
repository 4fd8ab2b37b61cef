"""The warehouse's process: `python -m lakeward.workspace.warehouse.statement_process SETTINGS RESULTS`.

It reads JSON lines from its input and writes JSON lines to its output:

    {"id", "run": StatementOrder}   ->  {"id", "event": "started"}, then {"id", "event": "ended", …}
    {"id", "open": SessionOrder}    the same: opens the session that statements name by this id
    {"cancel": "id"}
    {"close": "session"}

Each statement runs in a thread; without a session of its client it has one of its own. All share one JVM.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from lakeward.dbutils import redact
from lakeward.errors import SqlError
from lakeward.session import dbfs_paths
from lakeward.workspace.state.settings_json import settings_from_json
from lakeward.workspace.warehouse.engine import CONCURRENT_STATEMENTS
from lakeward.workspace.warehouse.execution import ExecutionResult, SessionOrder, StatementOrder
from lakeward.workspace.warehouse.statement_sessions import enter

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from lakeward.session import Settings
    from lakeward.workspace.warehouse.statement_sessions import SessionPool


def main(arguments: list[str]) -> int:
    """Answer statements until the input ends."""
    settings = settings_from_json(json.loads(arguments[0]))
    # What Spark prints must not come between the answers.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    os.chdir(settings.root)
    process = StatementProcess(settings, Path(arguments[1]), answers)
    with dbfs_paths():
        for line in sys.stdin:
            message = json.loads(line)
            if "run" in message:
                process.run(message["id"], StatementOrder(**message["run"]))
            elif "open" in message:
                process.open(message["id"], SessionOrder(**message["open"]))
            elif "close" in message:
                process.close(message["close"])
            else:
                process.cancel(message["cancel"])
    # Threads of statements that are still running would keep the process alive.
    os._exit(0)


class StatementProcess:
    """Runs statements concurrently and reports the start and the end of each on `answers`."""

    def __init__(self, settings: Settings, results: Path, answers: TextIO) -> None:
        self._settings, self._results, self._answers = settings, results, answers
        self._executor = ThreadPoolExecutor(CONCURRENT_STATEMENTS, thread_name_prefix="statement")
        self._lock = threading.Lock()
        self._sending = threading.Lock()
        self._starting = threading.Lock()
        self._pool: SessionPool | None = None
        self._threads: dict[str, Any] = {}
        self._canceled: set[str] = set()

    def run(self, key: str, order: StatementOrder) -> None:
        """Run a statement in a thread; return at once."""
        self._executor.submit(self._execute, key, lambda: self._run_statement(key, order))

    def open(self, key: str, order: SessionOrder) -> None:
        """Open a session in a thread; return at once."""
        self._executor.submit(self._execute, key, lambda: self._open_session(key, order))

    def cancel(self, key: str) -> None:
        """Cancel the Spark jobs of one statement and interrupt its thread in the JVM."""
        with self._lock:
            self._canceled.add(key)
            thread = self._threads.get(key)
            if thread is not None and self._pool is not None:
                # While the lock is held, the thread cannot go on to another statement.
                self._pool.context.cancelJobGroupAndFutureJobs(key)
                thread.interrupt()

    def close(self, session: str) -> None:
        """End the session of a client."""
        if self._pool is not None:
            self._pool.close(session)

    def _execute(self, key: str, action: Callable[[], ExecutionResult]) -> None:
        from lakeward.session import is_lost

        self._send({"id": key, "event": "started"})
        try:
            result = action()
            lost = False
        except BaseException as error:  # noqa: BLE001  # whatever a statement raises is its result
            result, lost = failure(error), is_lost(error)
        with self._lock:
            self._canceled.discard(key)
        self._send({"id": key, "event": "ended", **asdict(result)})
        if lost:
            os._exit(1)  # without its JVM this process can run nothing: the next statement starts another one

    def _run_statement(self, key: str, order: StatementOrder) -> ExecutionResult:
        from lakeward.sql import time_limit
        from lakeward.workspace.warehouse.statement_parameters import bind_parameters
        from lakeward.workspace.warehouse.statement_results import write_result

        with (
            self._sessions().session(order.session) as spark,
            self._cancelable(key, spark),
            time_limit(spark),
        ):
            enter(spark, order.catalog, order.schema)
            frame = spark.sql(order.statement, args=bind_parameters(spark, order.parameters) or None)
            return ExecutionResult(write_result(frame, order, self._results / key))

    def _open_session(self, key: str, order: SessionOrder) -> ExecutionResult:
        self._sessions().open(key, order)
        return ExecutionResult()

    def _sessions(self) -> SessionPool:
        from lakeward.workspace.warehouse.statement_sessions import SessionPool

        with self._starting:
            if self._pool is None:
                self._pool = SessionPool(self._settings)
            return self._pool

    @contextmanager
    def _cancelable(self, key: str, spark: SparkSession) -> Iterator[None]:
        """Mark the block's Spark jobs and JVM thread for `cancel`; each Python thread has a JVM thread."""
        assert self._pool is not None
        jvm_thread = self._pool.jvm_thread
        spark.sparkContext.setJobGroup(key, f"statement {key}", interruptOnCancel=True)
        spark.sparkContext.setLocalProperty("spark.scheduler.pool", key)
        with self._lock:
            if key in self._canceled:
                raise RuntimeError("The statement was canceled.")
            self._threads[key] = jvm_thread.currentThread()
        try:
            yield
        finally:
            with self._lock:
                del self._threads[key]
            jvm_thread.interrupted()  # clears an interrupt that came too late

    def _send(self, message: Mapping[str, Any]) -> None:
        line = json.dumps(message) + "\n"
        with self._sending:
            self._answers.write(line)
            self._answers.flush()


def failure(error: BaseException) -> ExecutionResult:
    """Return the error of a statement as its result."""
    from lakeward.session import condition_of, message_of

    if isinstance(error, SqlError):
        # The platform's message for a result that is too large has no condition.
        is_plain = error.condition == "INLINE_BYTE_LIMIT_EXCEEDED"
        return ExecutionResult(error=error.message if is_plain else str(error), sql_state=error.sql_state)
    text = redact(message_of(error))
    state = getattr(error, "getSqlState", lambda: None)()
    message = text if condition_of(error) else f"{type(error).__name__}: {text}"
    return ExecutionResult(error=message, sql_state=state)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
