"""A process of its own for each run and update: started, listened to, and ended.

The process has a session (so that all it starts can be ended with it), a pipe on which it tells what happens
as JSON lines, and a standard input that closes when this server dies: it then ends itself.
"""

from __future__ import annotations

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
from typing import Any

from lakeward.dbutils import redacted
from lakeward.workspace.log import Log
from lakeward.workspace.told import Told

__all__ = ["Ending", "Worker"]

_GRACE = 5.0  # seconds between the request to stop and the end


@dataclass(frozen=True)
class Ending:
    """How a process ended: its last word, if it had one, else why there is none."""

    result: Mapping[str, Any] | None
    reason: str = ""
    canceled: bool = False
    timed_out: bool = False


@dataclass
class Worker:
    """One process; `hear` gets each event, `ended` how it ended, both in a thread of the worker's.

    `known` are secrets that are not shown, beside those that the process itself was given.
    """

    folder: Path
    order: Mapping[str, Any]
    hear: Callable[[Mapping[str, Any]], None]
    ended: Callable[[Ending], None]
    known: Callable[[], set[str]] = set
    timeout: float | None = None
    environ: Mapping[str, str] = field(default_factory=dict)
    _stop: threading.Event = field(default_factory=threading.Event)
    _reason: str = ""

    def start(self) -> None:
        """Return at once; the process is started in a thread."""
        threading.Thread(target=self._run, name=f"run {self.folder.name}", daemon=True).start()

    def cancel(self, reason: str = "") -> None:
        """Ask the process to stop, and end it soon."""
        self._reason = reason
        self._stop.set()

    def _run(self) -> None:
        try:
            ending = self._carried_out()
        except OSError as error:
            ending = Ending(None, f"The process could not be started: {error.strerror or error}.")
        self.ended(ending)

    def _carried_out(self) -> Ending:
        given: set[str] = set(self.known())
        log = Log(self.folder, lambda text: redacted(text, given))
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        order = self.folder / "order.json"
        order.touch(mode=0o600)
        order.write_text(json.dumps(self.order), encoding="utf-8")
        reading, writing = os.pipe()
        command = [sys.executable, "-m", "lakeward.workspace.child", str(self.folder), str(writing)]
        try:
            process = subprocess.Popen(
                command,
                # Nothing lies here that could be imported by mistake; the process goes elsewhere itself.
                cwd=self.folder,
                env={**os.environ, **self.environ, "PYTHONUNBUFFERED": "1"},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                pass_fds=(writing,),
                start_new_session=True,
            )
        finally:
            os.close(writing)
        with process, os.fdopen(reading, "rb", buffering=0) as events:
            told = Told(log, given, self.hear)
            timed_out = self._listen(process, events, told)
        reason = "" if told.result is not None else _last_words(process.returncode, log.last)
        return Ending(told.result, self._reason or reason, self._stop.is_set(), timed_out)

    def _listen(self, process: subprocess.Popen[bytes], events: Any, told: Told) -> bool:
        """Hear the process until it is gone; whether that was because its time was over."""
        assert process.stdout is not None
        output = process.stdout.fileno()
        os.set_blocking(output, False)
        os.set_blocking(events.fileno(), False)
        stopping, timed_out = 0.0, False
        with selectors.DefaultSelector() as selector:
            selector.register(output, selectors.EVENT_READ)
            selector.register(events, selectors.EVENT_READ)
            while True:
                gone = process.poll() is not None
                ready = selector.select(0 if gone else 0.1)
                printed = _available(output)
                new = told.take(printed, _available(events.fileno()))
                if gone and not new:
                    break
                if ready and not new:
                    time.sleep(0.02)  # a closed pipe is always ready
                now = time.monotonic()
                timed_out = timed_out or (not stopping and self._is_over(told, now))
                if (self._stop.is_set() or timed_out) and not stopping:
                    stopping = now
                    _signal(process, signal.SIGINT)
                elif stopping and now - stopping > _GRACE:
                    _signal(process, signal.SIGKILL)
        if stopping:
            # What ignored the request and outlived its parent.
            _signal(process, signal.SIGKILL)
        return timed_out

    def _is_over(self, told: Told, now: float) -> bool:
        return self.timeout is not None and told.began is not None and now - told.began > self.timeout


def _available(descriptor: int) -> bytes:
    with suppress(BlockingIOError):
        return os.read(descriptor, 2**20)
    return b""


def _signal(process: subprocess.Popen[bytes], number: int) -> None:
    # Only while it is unwaited for, or its group lives on, is the number still the group's.
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)


def _last_words(code: int, last: list[str]) -> str:
    how = (
        f"was killed by signal {-code} ({signal.Signals(-code).name})"
        if code < 0
        else f"ended with exit code {code}"
    )
    lines = "\n".join(last)
    return f"The process {how} before it could say how it went." + (
        f" Its last lines:\n{lines}" if lines else ""
    )
