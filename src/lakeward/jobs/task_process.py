"""The process of one task: started before the task, its messages, its log, its result, its termination.

Imports only fast modules until a task runs: Python starts in the new process while the others are imported.
"""

from __future__ import annotations

import codecs
import os
import secrets
import signal
import socket
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING

from lakeward.process_tree import TASK_MARK, kill_left, kill_tree, signal_name

if TYPE_CHECKING:
    from lakeward.jobs.definition import Task
    from lakeward.jobs.task_graph import AttemptResult
    from lakeward.jobs.tasks.user_code import Context
    from lakeward.pipelines import Progress
    from lakeward.session import GatewayServer


class PrestartedWorker:
    """A worker process started before its task: Python's start-up takes longer than many tasks.

    It runs `python` with the variables `environ`; default: those of this process.
    """

    def __init__(self, python: Path | None = None, environ: Mapping[str, str] | None = None) -> None:
        ours, theirs = socket.socketpair()
        self.mark = (TASK_MARK, secrets.token_hex(8))
        with theirs:
            self.process = subprocess.Popen(
                _command(theirs.fileno(), python),
                env={**(os.environ if environ is None else environ), **dict([self.mark])},
                pass_fds=(theirs.fileno(),),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self.connection = Connection(ours.detach())

    def dismiss(self) -> None:
        """End the unused worker."""
        self.connection.close()
        self.kill()
        assert self.process.stdout is not None
        self.process.stdout.close()

    def kill(self) -> None:
        """Kill the process and its descendants."""
        if self.process.poll() is None:
            kill_tree(self.process.pid, self.mark)
            self.process.wait()
        else:
            kill_left(self.process.pid, self.mark)


def _command(descriptor: int, python: Path | None) -> list[str]:
    """Return the command line of a worker at the connection with this number.

    Neither the working directory nor this file's folder precedes the standard library on its path.
    """
    root = str(Path(__file__).resolve().parents[2])
    code = (
        f"import sys; sys.path[:1] = []; sys.path.append({root!r}); "
        "from lakeward.jobs.task_worker import main; main()"
    )
    return [str(python or sys.executable), "-c", code, str(descriptor)]


@dataclass(frozen=True)
class TaskRequest:
    """A task with all that its process needs: the run that it belongs to, and the secrets to redact."""

    context: Context
    task: Task
    secrets: frozenset[str] = frozenset()


@dataclass(frozen=True)
class TaskStarted:
    """The task's code starts."""


@dataclass(frozen=True)
class PipelineEvent:
    """An event of the task's pipeline."""

    event: Progress


@dataclass(frozen=True)
class JvmRequested:
    """The task needs Spark; the answer is a `GatewayAddress`, or None if it must start its own JVM."""


@dataclass(frozen=True)
class SecretRead:
    """The task is about to read a secret, which must be redacted."""

    text: str


@dataclass(frozen=True)
class TaskValueSet:
    """The task has set a value."""

    name: tuple[str, str]
    text: str


@dataclass(frozen=True)
class TaskFinished:
    """The task has ended."""

    end: AttemptResult


_LOG_LIMIT = 8 * 1024 * 1024
_TAIL = 16 * 1024
_LINES = 20


class TaskLog:
    """Writes output to `file`, up to `largest` bytes, and as text to `show`.

    Further output is counted and dropped except for its end, which `close` appends. Secrets that the task has
    read are redacted, also across writes.
    """

    def __init__(self, file: Path, show: Callable[[str], object], *, largest: int = _LOG_LIMIT) -> None:
        from lakeward.dbutils import StreamRedactor, redactor

        file.parent.mkdir(parents=True, exist_ok=True)
        file.unlink(missing_ok=True)  # an existing file may have another mode
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        self._file = os.fdopen(descriptor, "wb", buffering=0)
        self._show = show
        self._largest = largest
        self._size = 0
        self._tail = b""
        self._redacted = StreamRedactor(redactor)
        # Bytes that are not text are preserved.
        self._printed = codecs.getincrementaldecoder("utf-8")("surrogateescape")
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def write(self, piece: bytes) -> None:
        """Append a piece of output."""
        self._take(_bytes(self._redacted.feed(self._printed.decode(piece))))

    def _take(self, piece: bytes) -> None:
        free = max(0, self._largest - self._size)
        kept = piece[:free]
        self._size += len(piece)
        self._tail = (self._tail + piece)[-_TAIL:]
        if kept:
            self._file.write(kept)
            self._show(self._decoder.decode(kept))

    def close(self) -> None:
        """Close the log, with a note on dropped output."""
        rest = self._redacted.feed(self._printed.decode(b"", final=True))
        self._take(_bytes(rest + self._redacted.finish()))
        dropped = self._size - self._largest
        if dropped > 0:
            end = self._tail[-min(dropped, _TAIL) :]
            note = (
                f"\n[lakeward: the log is kept up to {self._largest:,} bytes; {dropped:,} more were printed, "
                f"of which these are the last]\n"
            )
            self._file.write(note.encode() + end)
            self._show(note + end.decode(errors="replace"))
        self._file.close()

    @property
    def last_lines(self) -> str:
        """Return the last lines of output; empty without output."""
        return "\n".join(self._tail.decode(errors="replace").rstrip().splitlines()[-_LINES:])


def _bytes(text: str) -> bytes:
    return text.encode(errors="surrogateescape")


# Seconds that a process has to exit after SIGTERM, or after its task is done.
_GRACE = 3.0


class TaskProcess:
    """Executes `work` in the worker `waiting`: copies output to `log`, passes messages to the callbacks.

    `lend` opens a JVM for the task on its first use of Spark. At the end of the process the JVM is closed and
    `release` called.
    """

    def __init__(
        self,
        work: TaskRequest,
        waiting: PrestartedWorker,
        *,
        log: TaskLog,
        on_event: Callable[[Progress], object],
        on_value: Callable[[tuple[str, str], str], object],
        lend: Callable[[], GatewayServer | None],
        release: Callable[[], None],
    ) -> None:
        self._waiting = waiting
        self._process, self._connection = waiting.process, waiting.connection
        self._log, self._on_event, self._on_value, self._lend = log, on_event, on_value, lend
        self._release = release
        self._end: AttemptResult | None = None
        self._offer: GatewayServer | None = None
        self._messages: deque[object] = deque()
        self._receiving = threading.Lock()
        self.has_started = False
        self._pump = threading.Thread(target=self._copy_output, daemon=True)
        self._pump.start()
        with suppress(BrokenPipeError, ConnectionResetError):
            self._connection.send(work)

    def poll(self) -> AttemptResult | None:
        """Handle messages of the process; return the result once the task has ended."""
        from lakeward.jobs.task_graph import AttemptResult

        self._handle_messages()
        if self._end is None and self._process.poll() is None:
            return None
        self._handle_messages()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_GRACE)
        code = self._process.poll()
        self._clear()
        return self._end or AttemptResult("FAILED", self._exit_message(code))

    def stop(self) -> None:
        """Terminate the process and its descendants: SIGTERM, then SIGKILL."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_GRACE)
        self._clear()

    def _receive_messages(self) -> None:
        """Receive messages; secrets are redacted from then on."""
        from lakeward.dbutils import record_secret

        with self._receiving, suppress(EOFError, OSError):
            while self._connection.poll():
                said = self._connection.recv()
                if isinstance(said, SecretRead):
                    record_secret(said.text.encode())
                else:
                    self._messages.append(said)

    def _handle_messages(self) -> None:
        self._receive_messages()
        while self._messages:
            said = self._messages.popleft()
            if isinstance(said, TaskStarted):
                self.has_started = True
            elif isinstance(said, PipelineEvent):
                self._on_event(said.event)
            elif isinstance(said, TaskValueSet):
                self._on_value(said.name, said.text)
            elif isinstance(said, JvmRequested):
                self._offer = self._lend()
                with suppress(OSError):
                    self._connection.send(self._offer.shared if self._offer else None)
            elif isinstance(said, TaskFinished):
                self._end = said.end

    def _copy_output(self) -> None:
        stream = self._process.stdout
        assert stream is not None
        while piece := os.read(stream.fileno(), 1 << 16):
            # Secrets are reported before they can be printed.
            self._receive_messages()
            self._log.write(piece)

    def _clear(self) -> None:
        self._waiting.kill()
        self._pump.join(_GRACE)
        assert self._process.stdout is not None
        self._process.stdout.close()
        self._connection.close()
        self._log.close()
        if self._offer is not None:
            self._offer.close()
        self._release()

    def _exit_message(self, code: int | None) -> str:
        if code is not None and code < 0:
            name = signal_name(-code)
            hint = " The process may have run out of memory." if -code == signal.SIGKILL else ""
            note = f"The task process was ended by {name}.{hint}"
        else:
            note = f"The task process ended with exit code {code} before reporting a result."
        lines = self._log.last_lines
        return f"{note} Last lines:\n{lines}" if lines else f"{note} It printed nothing."
