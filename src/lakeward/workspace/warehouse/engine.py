"""The local SQL warehouse: one process that runs statements concurrently, each in a session.

The process starts with the first statement and ends when it has been idle for ten minutes:

    submit ──> queue ──{"id", "run": …}──> statement process (Spark) ──{"event": "ended", …}──> Execution

A statement has a session of its own, unless its order names one that was opened with `open_session`.
Settings, temporary views and variables of that one last until `close_session`; it lives in the process, and
ends with it.

The engine knows nothing of HTTP; routes and drivers are built on `submit`, `cancel` and the sessions.
"""

from __future__ import annotations

import json
import sys
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path

from lakeward.session import Settings
from lakeward.workspace.process_channel import Message, ProcessChannel
from lakeward.workspace.state.settings_json import settings_to_json
from lakeward.workspace.warehouse.execution import Execution, ExecutionResult, SessionOrder, StatementOrder
from lakeward.workspace.warehouse.result_folder import ResultFolder

CONCURRENT_STATEMENTS = 10
"""Statements that run at the same time; further ones are queued, as on one cluster of a warehouse."""

INVALID_SESSION = ExecutionResult(error="Invalid SessionHandle", error_code="INVALID_SESSION")
"""The result of a statement of a session that has ended."""

_IDLE_SECONDS = 600.0
# A canceled statement that Spark does not stop by then costs the process, once the others are done.
_CANCEL_SECONDS = 10.0


@dataclass(eq=False)
class _Process:
    """A statement process that has not exited: what it runs by key, and what of that was canceled."""

    channel: ProcessChannel
    running: dict[str, Execution] = field(default_factory=dict)
    canceled: set[str] = field(default_factory=set)


class Warehouse:
    """Runs statements; its log, and the results under `results`, are in `folder`.

    The lock guards the queue and the table of running statements. While it is held, nothing is written to a
    pipe, no callback is called and the store is not used.
    """

    def __init__(self, settings: Settings, folder: Path) -> None:
        self._settings, self._folder = settings, folder
        self.results = ResultFolder(folder / "results")
        self._lock = threading.Lock()
        self._queue: deque[Execution] = deque()
        # The process of new statements; others run what they have, then they are stopped.
        self._process: _Process | None = None
        self._processes: list[_Process] = []
        # The process of each open session, None until the process has been chosen.
        self._sessions: dict[str, _Process | None] = {}
        self._idle: threading.Timer | None = None
        self._closed = False

    @property
    def is_running(self) -> bool:
        """Return whether the process runs."""
        process = self._process
        return process is not None and process.channel.is_alive

    def submit(
        self,
        key: str,
        order: StatementOrder,
        *,
        on_start: Callable[[], None] = lambda: None,
        on_end: Callable[[ExecutionResult], None],
    ) -> Execution:
        """Queue a statement and return at once.

        Args:
            key: Unique id of the statement.
            order: The statement.
            on_start: Called when the statement starts.
            on_end: Called with the result.
        """
        message = {"run": asdict(order)}
        return self._submit(Execution(key, message, session=order.session, on_start=on_start, on_end=on_end))

    def _submit(self, execution: Execution) -> Execution:
        with self._lock:
            closed = self._closed
            if not closed:
                self._queue.append(execution)
        if closed:
            reason = "The workspace's server is shutting down."
            execution.end(ExecutionResult(error=reason, error_code="ABORTED"))
        self._dispatch()
        return execution

    def open_session(
        self, session: str, order: SessionOrder, *, on_end: Callable[[ExecutionResult], None]
    ) -> Execution:
        """Open a session for the statements whose order has its id as `session`.

        Args:
            session: Unique id.
            order: What the session starts with.
            on_end: Called with the result: without success, the session is not open.
        """

        def opened(result: ExecutionResult) -> None:
            if not result.succeeded:
                with self._lock:
                    self._sessions.pop(session, None)
            on_end(result)

        with self._lock:
            self._sessions[session] = None
        message = {"open": asdict(order)}
        return self._submit(
            Execution(session, message, session=session, on_start=lambda: None, on_end=opened)
        )

    def close_session(self, session: str) -> None:
        """End a session; its statements that are running continue."""
        with self._lock:
            process = self._sessions.pop(session, None)
        if process is not None:
            process.channel.send({"close": session})
        self._rest()

    def has_session(self, session: str) -> bool:
        """Return whether a session is open: it ends with the process, too."""
        with self._lock:
            return session in self._sessions

    def cancel(self, key: str) -> None:
        """Cancel one statement; the others are not affected. Nothing happens if it has ended."""
        with self._lock:
            execution = next((each for each in self._queue if each.key == key), None)
            if execution is not None:
                self._queue.remove(execution)
            process = next((each for each in self._processes if key in each.running), None)
            if process is not None:
                execution = process.running[key]
                process.canceled.add(key)
        if execution is not None:
            execution.end(ExecutionResult(canceled=True))
        if process is not None:
            process.channel.send({"cancel": key})
            _timer(_CANCEL_SECONDS, lambda: self._give_up(process, key))

    def start(self) -> None:
        """Start the process unless it runs. Spark starts with the first statement."""
        with self._lock:
            if not self._closed and not self.is_running:
                self._spawn()
        self._rest()

    def stop(self, reason: str = "The SQL warehouse was stopped.") -> None:
        """End the process and all statements; the next statement starts a new process."""
        with self._lock:
            queued, self._queue = list(self._queue), deque()
            processes = list(self._processes)
            running = [execution for process in processes for execution in process.running.values()]
            self._process = None
            self._sessions.clear()
            if self._idle is not None:
                self._idle.cancel()
        for process in processes:
            process.channel.stop()
        for execution in (*queued, *running):
            execution.end(ExecutionResult(error=reason, error_code="ABORTED"))
        for process in processes:
            process.channel.wait(1.0)

    def close(self) -> None:
        """End the process and all statements; later statements are aborted."""
        with self._lock:
            self._closed = True
        self.stop("The workspace's server was stopped.")

    def _dispatch(self) -> None:
        """Start queued statements while there is room."""
        with self._lock:
            started, failed = self._assign_queued()
            if started and self._idle is not None:
                self._idle.cancel()
                self._idle = None
        for process, execution in started:
            process.channel.send({"id": execution.key, **execution.message})
        for execution, result in failed:
            execution.end(result)

    def _assign_queued(
        self,
    ) -> tuple[list[tuple[_Process, Execution]], list[tuple[Execution, ExecutionResult]]]:
        """Take statements from the queue; return those with a process, and those that cannot run."""
        started: list[tuple[_Process, Execution]] = []
        failed: list[tuple[Execution, ExecutionResult]] = []
        while self._queue and not self._closed:
            execution = self._queue[0]
            session = execution.session
            if session is not None and session not in self._sessions:
                failed.append((self._queue.popleft(), INVALID_SESSION))
                continue
            try:
                process = self._sessions.get(session or "") or self._process or self._spawn()
            except OSError as error:
                result = ExecutionResult(error=f"The warehouse did not start: {error}.")
                failed += [(each, result) for each in self._queue]
                self._queue.clear()
                break
            if len(process.running) >= CONCURRENT_STATEMENTS:
                break
            self._queue.popleft()
            if session is not None:
                self._sessions[session] = process
            process.running[execution.key] = execution
            started.append((process, execution))
        return started, failed

    def _spawn(self) -> _Process:
        self.results.path.mkdir(parents=True, exist_ok=True, mode=0o700)
        settings = json.dumps(settings_to_json(self._settings))
        module = "lakeward.workspace.warehouse.statement_process"
        channel = ProcessChannel(
            [sys.executable, "-m", module, settings, str(self.results.path)],
            environ={"LAKEWARD_HOME": str(self._settings.home)},
            log=self._folder / "warehouse.log",
            on_message=lambda message: self._receive(process, message),
            on_exit=lambda code: self._exited(process, code),
        )
        process = self._process = _Process(channel)
        self._processes.append(process)
        channel.start()
        return process

    def _receive(self, process: _Process, message: Message) -> None:
        key = message.pop("id")
        event = message.pop("event")
        with self._lock:
            execution = process.running.get(key)
            if event == "ended":
                process.running.pop(key, None)
                process.canceled.discard(key)
        if execution is None:
            return
        if event == "started":
            execution.start()
            return
        try:
            execution.end(ExecutionResult(**message))
        finally:
            self._stop_retired(process)
            self._dispatch()
            self._rest()

    def _exited(self, process: _Process, code: int) -> None:
        with self._lock:
            self._processes.remove(process)
            left = list(process.running.values())
            process.running.clear()
            self._sessions = {key: each for key, each in self._sessions.items() if each is not process}
            if self._process is process:
                self._process = None
        log = self._folder / "warehouse.log"
        for execution in left:
            error = f"The warehouse's process ended with exit code {code}. See {log}."
            execution.end(ExecutionResult(error=error))
        self._dispatch()

    def _give_up(self, process: _Process, key: str) -> None:
        """Retire a process in which a canceled statement is still running."""
        with self._lock:
            if key not in process.running:
                return
            if self._process is process:
                self._process = None
        self._stop_retired(process)
        self._dispatch()

    def _stop_retired(self, process: _Process) -> None:
        """Stop a retired process once it runs nothing but canceled statements."""
        with self._lock:
            is_retired = process in self._processes and process is not self._process
            if not is_retired or process.running.keys() - process.canceled:
                return
        process.channel.stop()

    def _rest(self) -> None:
        with self._lock:
            if self._closed or self._queue or self._sessions or any(each.running for each in self._processes):
                return
            if self._idle is not None:
                self._idle.cancel()
            self._idle = _timer(_IDLE_SECONDS, self._end_idle)

    def _end_idle(self) -> None:
        with self._lock:
            process = self._process
            if process is None or process.running or self._sessions:
                return
            self._process = None
        process.channel.stop()


def _timer(seconds: float, action: Callable[[], None]) -> threading.Timer:
    timer = threading.Timer(seconds, action)
    timer.daemon = True
    timer.start()
    return timer
