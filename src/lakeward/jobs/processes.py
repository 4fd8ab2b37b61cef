"""A task in a process of its own: with its log, its end whatever that is, and nothing left when it stops."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from lakeward.dbutils import remember
from lakeward.jobs.logs import TaskLog
from lakeward.jobs.schedule import End
from lakeward.jobs.waiting import Waiting, kill
from lakeward.jobs.work import Begun, Event, Finished, Secret, Value, Wanted, Work

if TYPE_CHECKING:
    from lakeward.session import Offer

__all__ = ["TaskProcess"]

# How long a process may take to end by itself when asked to, or when its task is done.
_GRACE = 3.0


class TaskProcess:
    """`work` in the process `waiting`: its output goes to `log`, what it tells to `on_event` and `on_value`.

    `lend` opens a JVM for it when it asks for Spark; that is closed, and `release` called, when the process
    is gone.
    """

    def __init__(
        self,
        work: Work,
        waiting: Waiting,
        *,
        log: TaskLog,
        on_event: Callable[[object], object],
        on_value: Callable[[tuple[str, str], str], object],
        lend: Callable[[], Offer | None],
        release: Callable[[], None] = lambda: None,
    ) -> None:
        self._process, self._connection = waiting.process, waiting.connection
        self._log, self._on_event, self._on_value, self._lend = log, on_event, on_value, lend
        self._release = release
        self._end: End | None = None
        self._offer: Offer | None = None
        self._said: deque[object] = deque()
        self._receiving = threading.Lock()
        self.begun = False
        self._pump = threading.Thread(target=self._carry, daemon=True)
        self._pump.start()
        with suppress(BrokenPipeError, ConnectionResetError):
            self._connection.send(work)

    def poll(self) -> End | None:
        """Take what the process has said; how the task ended, when it has."""
        self._listen()
        if self._end is None and self._process.poll() is None:
            return None
        self._listen()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_GRACE)
        code = self._process.poll()
        self._clear()
        return self._end or End("FAILED", self._death(code))

    def stop(self) -> None:
        """End the process and all that it started: asked first, then killed."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_GRACE)
        self._clear()

    def _receive(self) -> None:
        """Take what the process has said; what is secret is known from then on."""
        with self._receiving, suppress(EOFError, OSError):
            while self._connection.poll():
                said = self._connection.recv()
                if isinstance(said, Secret):
                    remember(said.text.encode())
                else:
                    self._said.append(said)

    def _listen(self) -> None:
        self._receive()
        while self._said:
            said = self._said.popleft()
            if isinstance(said, Begun):
                self.begun = True
            elif isinstance(said, Event):
                self._on_event(said.event)
            elif isinstance(said, Value):
                self._on_value(said.name, said.text)
            elif isinstance(said, Wanted):
                self._offer = self._lend()
                with suppress(OSError):
                    self._connection.send(self._offer.shared if self._offer else None)
            elif isinstance(said, Finished):
                self._end = said.end

    def _carry(self) -> None:
        stream = self._process.stdout
        assert stream is not None
        while piece := os.read(stream.fileno(), 1 << 16):
            # A secret that is in it was told before it was printed.
            self._receive()
            self._log.write(piece)

    def _clear(self) -> None:
        kill(self._process)
        self._pump.join(_GRACE)
        assert self._process.stdout is not None
        self._process.stdout.close()
        self._connection.close()
        self._log.close()
        if self._offer is not None:
            self._offer.close()
        self._release()

    def _death(self, code: int | None) -> str:
        if code is not None and code < 0:
            name = signal.Signals(-code).name
            hint = " It may have needed more memory than there is." if -code == signal.SIGKILL else ""
            told = f"Its process was ended by {name}.{hint}"
        else:
            told = f"Its process ended with exit code {code} before the task was done."
        lines = self._log.last_lines
        return f"{told} Its last lines:\n{lines}" if lines else f"{told} It had printed nothing."
