"""The queue of runs and pipeline updates: as many run at a time as processors and memory allow."""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from lakeward.dbutils import FileSecrets
from lakeward.errors import ConfigurationError
from lakeward.jobs import free_memory
from lakeward.session import Settings
from lakeward.workspace.runs.run_messages import Emit, RunOrder
from lakeward.workspace.runs.run_process import ProcessResult, RunProcess
from lakeward.workspace.state.settings_json import settings_to_json

_PER_RUN = 2**30  # what a run with a JVM of its own is taken to need
_SHORTEST = 6  # a shorter secret would take ordinary words out of a log that it was never given to


class Runner:
    """Workers by the id of their run or update.

    `folder` is where their logs are, `free` gives bytes of memory; `fault` gets what fails in a thread of a
    run: no failure keeps a run's slot.
    """

    def __init__(
        self,
        settings: Settings,
        folder: Path,
        *,
        at_once: int | None = None,
        free: Callable[[], int] = free_memory,
        fault: Callable[[BaseException], None] = lambda _: None,
    ) -> None:
        self._settings, self._folder = settings, folder
        self._at_once = at_once or max(2, os.cpu_count() or 1)
        self._free, self._fault = free, fault
        self._lock = threading.Lock()
        self._waiting: deque[tuple[str, RunProcess, Callable[[], bool]]] = deque()
        self._running: dict[str, RunProcess] = {}
        self._closed = False

    def folder_of(self, key: object) -> Path:
        """Return the folder with the logs of a run."""
        return self._folder / str(key)

    def start(
        self,
        key: object,
        order: RunOrder,
        *,
        began: Callable[[], bool],
        on_event: Emit,
        ended: Callable[[ProcessResult], None],
        timeout: float | None = None,
        folder: Path | None = None,
    ) -> None:
        """Execute an order, now or when there is room.

        Args:
            key: The id of the run or update, unique among those that are active.
            order: What its process does.
            began: Called when it is its turn; returns whether it still is to run.
            on_event: Called with each event of its process.
            ended: Called once with its end; not when `began` returned False.
            timeout: Seconds that it may take, counted from its first event.
            folder: Where its order and logs are; `folder_of(key)` if None.
        """
        name = str(key)

        def done(ending: ProcessResult) -> None:
            try:
                ended(ending)
            except Exception as error:  # noqa: BLE001  # the next run has to begin
                self._fault(error)
            with self._lock:
                self._running.pop(name, None)
            self._next()

        worker = RunProcess(
            folder or self.folder_of(key),
            {**order, "settings": settings_to_json(self._settings)},
            on_event,
            done,
            known=self._secrets,
            timeout=timeout,
            environ={"LAKEWARD_HOME": str(self._settings.home)},
            fault=self._fault,
        )
        with self._lock:
            self._waiting.append((name, worker, began))
        self._next()

    def cancel(self, key: object, reason: str = "") -> bool:
        """Stop a run; one that still waits ends at once. Returns False for one that is not here."""
        name = str(key)
        with self._lock:
            waiting = next((entry for entry in self._waiting if entry[0] == name), None)
            if waiting is not None:
                self._waiting.remove(waiting)
            worker = self._running.get(name)
        if waiting is not None:
            waiting[1].ended(ProcessResult(None, reason, canceled=True))
        elif worker is not None:
            worker.cancel(reason)
        return waiting is not None or worker is not None

    def close(self, reason: str) -> None:
        """Stop everything."""
        with self._lock:
            self._closed = True
            keys = [*self._running, *(name for name, _, _ in self._waiting)]
        for key in keys:
            self.cancel(key, reason)

    def wait(self, seconds: float) -> bool:
        """Wait until nothing runs, `seconds` at most; returns whether that is so."""
        end = time.monotonic() + seconds
        while self._running and time.monotonic() < end:
            time.sleep(0.02)
        return not self._running

    def _next(self) -> None:
        with self._lock:
            begin: list[tuple[str, RunProcess, Callable[[], bool]]] = []
            most = self._room() if self._waiting else 0
            while self._waiting and len(begin) < most and not self._closed:
                name, worker, began = self._waiting.popleft()
                self._running[name] = worker
                begin.append((name, worker, began))
        given_up = False
        for name, worker, began in begin:
            try:
                if began():
                    worker.start()
                    continue
                with self._lock:
                    self._running.pop(name, None)
                given_up = True
            except Exception as error:  # noqa: BLE001  # e.g. no more threads
                self._fault(error)
                worker.ended(ProcessResult(None, f"The run could not be started: {error}", internal=True))
        if given_up:
            self._next()

    def _room(self) -> int:
        """Return how many runs may start now; at least one if nothing runs, however little memory is free."""
        free = min(self._at_once - len(self._running), self._free() // _PER_RUN)
        return free if self._running else max(1, free)

    def _secrets(self) -> set[str]:
        """Return the secrets to redact; one that cannot be read is not given to a run either."""
        store = FileSecrets(self._settings.secrets)
        texts: set[str] = set()
        with suppress(OSError):
            for scope in store.scopes():
                texts.update(_readable(store, scope))
        return {text for text in texts if len(text) >= _SHORTEST}


def _readable(store: FileSecrets, scope: str) -> Iterator[str]:
    # A wrong mode or key, a damaged file, a folder, a name that no secret can have.
    unreadable = (ConfigurationError, ValueError, OSError)
    try:
        keys = store.keys(scope)
    except unreadable:
        return
    for key in keys:
        with suppress(*unreadable):
            yield (store.get(scope, key) or b"").decode(errors="replace")
