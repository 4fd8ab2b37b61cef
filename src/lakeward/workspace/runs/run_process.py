"""Processes of runs and pipeline updates, each with its supervisor.

A process leads a session, inherits a mark in its environment, reports events on a pipe as JSON lines, and
ends itself when its standard input closes, which happens when the server dies. `RunProcess` always calls
`ended`, once, whatever fails on either side, and leaves no process behind.
"""

from __future__ import annotations

import codecs
import json
import os
import selectors
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from secrets import token_hex
from typing import Any

from lakeward.dbutils import redact, redactor
from lakeward.process_tree import RUN_MARK, kill_left, kill_tree, signal_name
from lakeward.workspace.runs.run_log import Log
from lakeward.workspace.runs.run_messages import Emit, RunMessage, RunOrder

_GRACE = 5.0  # seconds between the request to stop and the end


@dataclass(frozen=True)
class ProcessResult:
    """How a process ended: its result if it reported one, else the reason.

    `internal` means that lakeward itself failed, not the code of the run.
    """

    result: Mapping[str, Any] | None
    reason: str = ""
    canceled: bool = False
    timed_out: bool = False
    internal: bool = False


@dataclass
class RunProcess:
    """One process; `on_event` receives each event, `ended` the result, both in a thread of the worker.

    An event that cannot be handled is reported to `fault` and does not end the run. `known` gives secrets to
    redact in addition to those that the process itself reads.
    """

    folder: Path
    order: RunOrder
    on_event: Emit
    ended: Callable[[ProcessResult], None]
    known: Callable[[], set[str]] = set
    timeout: float | None = None
    environ: Mapping[str, str] = field(default_factory=dict)
    fault: Callable[[BaseException], None] = lambda _: None
    _stop: threading.Event = field(default_factory=threading.Event)
    _reason: str = ""

    def start(self) -> None:
        """Return at once; the process is started in a thread."""
        threading.Thread(target=self._run, name=f"run {self.folder.name}", daemon=True).start()

    def cancel(self, reason: str = "") -> None:
        """Interrupt the process, and kill it after a grace period."""
        self._reason = reason
        self._stop.set()

    def _run(self) -> None:
        secrets: set[str] = set()
        try:
            ending = self._execute(secrets)
        except Exception as error:  # noqa: BLE001  # a run always ends, with the reason
            self.fault(error)
            what = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            text = f"The run could not be executed: {type(error).__name__}: {what}."
            ending = ProcessResult(
                None, self._reason or redact(text, secrets), self._stop.is_set(), internal=True
            )
        self.ended(ending)

    def _execute(self, secrets: set[str]) -> ProcessResult:
        secrets |= self.known()
        log = Log(self.folder, lambda: redactor(secrets))
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        order = self.folder / "order.json"
        order.touch(mode=0o600)
        order.write_text(json.dumps(self.order), encoding="utf-8")
        reading, writing = os.pipe()
        mark = (RUN_MARK, token_hex(8))
        command = [sys.executable, "-m", "lakeward.workspace.runs.run_main", str(self.folder), str(writing)]
        try:
            process = subprocess.Popen(
                command,
                # Nothing lies here that could be imported by mistake; the process goes elsewhere itself.
                cwd=self.folder,
                env={**os.environ, **self.environ, **dict([mark]), "PYTHONUNBUFFERED": "1"},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                pass_fds=(writing,),
                start_new_session=True,
            )
        except BaseException:
            os.close(reading)
            raise
        finally:
            os.close(writing)
        with process, os.fdopen(reading, "rb", buffering=0) as events:
            reader = RunOutputReader(log, secrets, self._handle)
            try:
                timed_out = self._listen(process, events, reader, mark)
            finally:
                if process.poll() is None:
                    kill_tree(process.pid, mark)
        reason = "" if reader.result is not None else _last_words(process.returncode, log.last)
        return ProcessResult(reader.result, self._reason or reason, self._stop.is_set(), timed_out)

    def _handle(self, event: RunMessage) -> None:
        try:
            self.on_event(event)
        except Exception as error:  # noqa: BLE001  # the run continues
            self.fault(error)

    def _listen(
        self, process: subprocess.Popen[bytes], events: Any, reader: RunOutputReader, mark: tuple[str, str]
    ) -> bool:
        """Read from the process until it is gone; returns whether it was ended by its timeout."""
        assert process.stdout is not None
        output = process.stdout.fileno()
        os.set_blocking(output, False)
        os.set_blocking(events.fileno(), False)
        stopping, timed_out, left = 0.0, False, True
        with selectors.DefaultSelector() as selector:
            selector.register(output, selectors.EVENT_READ)
            selector.register(events, selectors.EVENT_READ)
            while True:
                gone = process.poll() is not None
                ready = selector.select(0 if gone else 0.1)
                printed = _available(output)
                new = reader.take(printed, _available(events.fileno()))
                if gone and left:
                    # Whatever still prints now has outlived its run.
                    kill_left(process.pid, mark, all_sessions=bool(stopping) or reader.result is None)
                    left = False
                if gone and not new:
                    break
                if ready and not new:
                    time.sleep(0.02)  # a closed pipe is always ready
                now = time.monotonic()
                timed_out = timed_out or (not stopping and self._is_over(reader, now))
                if (self._stop.is_set() or timed_out) and not stopping:
                    stopping = now
                    _interrupt(process)
                elif stopping and now - stopping > _GRACE and not gone:
                    kill_tree(process.pid, mark)
        return timed_out

    def _is_over(self, reader: RunOutputReader, now: float) -> bool:
        return self.timeout is not None and reader.began is not None and now - reader.began > self.timeout


def _available(descriptor: int) -> bytes:
    with suppress(BlockingIOError):
        return os.read(descriptor, 2**20)
    return b""


def _interrupt(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGINT)


def _last_words(code: int, last: list[str]) -> str:
    how = (
        f"was killed by signal {-code} ({signal_name(-code)})" if code < 0 else f"ended with exit code {code}"
    )
    lines = "\n".join(last)
    return f"The process {how} before it could say how it went." + (
        f" Its last lines:\n{lines}" if lines else ""
    )


class RunOutputReader:
    """Routes secrets to `given`, output to `log` and other events to `on_event`.

    `result` is the content of the last event. `began` is the time of the first one: the start of the process
    does not count towards the run's timeout.
    """

    def __init__(self, log: Log, given: set[str], on_event: Emit) -> None:
        self._log, self._given, self._hear = log, given, on_event
        self._rest = b""
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self.result: Mapping[str, Any] | None = None
        self.began: float | None = None

    def take(self, printed: bytes, said: bytes) -> bool:
        """Process the next bytes of output and events; return False without output or a complete event."""
        *lines, self._rest = (self._rest + said).split(b"\n")
        # Events first: a secret is reported before it can be printed.
        for line in lines:
            with suppress(ValueError):  # truncated: the process was killed while it wrote
                self._event(json.loads(line))
        if printed:
            self._log.take(self._decoder.decode(printed))
        elif not lines:
            self._log.finish()
        return bool(printed or lines)

    def _event(self, event: RunMessage) -> None:
        self.began = self.began or time.monotonic()
        if "secret" in event:
            self._given.add(event["secret"])
        elif "output" in event:
            self._log.take(event["output"], event["task"])
        elif "result" in event:
            self.result = event["result"]
        else:
            self._hear(event)
