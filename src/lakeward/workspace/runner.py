"""Who carries out runs and updates: as many at a time as processors and memory allow, the others wait."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from lakeward.dbutils import FileSecrets
from lakeward.jobs import free_memory
from lakeward.session import Settings
from lakeward.workspace.sent_settings import as_sent
from lakeward.workspace.worker import Ending, Worker

__all__ = ["Runner"]

_PER_RUN = 2**30  # what a run with a JVM of its own is taken to need
_SHORTEST = 6  # a shorter secret would take ordinary words out of a log that it was never given to


class Runner:
    """Workers by the id of their run or update. `folder` is where their logs are, `free` bytes of memory."""

    def __init__(
        self,
        settings: Settings,
        folder: Path,
        *,
        at_once: int | None = None,
        free: Callable[[], int] = free_memory,
    ) -> None:
        self._settings, self._folder = settings, folder
        self._at_once = at_once or max(2, os.cpu_count() or 1)
        self._free = free
        self._lock = threading.Lock()
        self._waiting: deque[tuple[str, Worker, Callable[[], None]]] = deque()
        self._running: dict[str, Worker] = {}
        self._closed = False

    def folder_of(self, key: object) -> Path:
        """Where the logs of a run are."""
        return self._folder / str(key)

    def start(
        self,
        key: object,
        order: Mapping[str, Any],
        *,
        began: Callable[[], None],
        hear: Callable[[Mapping[str, Any]], None],
        ended: Callable[[Ending], None],
        timeout: float | None = None,
        folder: Path | None = None,
    ) -> None:
        """Carry out an order, now or when there is room; `began` is called when it is its turn."""
        name = str(key)

        def done(ending: Ending) -> None:
            with self._lock:
                self._running.pop(name, None)
            ended(ending)
            self._next()

        worker = Worker(
            folder or self.folder_of(key),
            {**order, "settings": as_sent(self._settings)},
            hear,
            done,
            known=self._secrets,
            timeout=timeout,
            environ={"LAKEWARD_HOME": str(self._settings.home)},
        )
        with self._lock:
            self._waiting.append((name, worker, began))
        self._next()

    def cancel(self, key: object, reason: str = "") -> None:
        """Stop a run; one that still waits ends at once."""
        name = str(key)
        with self._lock:
            waiting = next((entry for entry in self._waiting if entry[0] == name), None)
            if waiting is not None:
                self._waiting.remove(waiting)
            worker = self._running.get(name)
        if waiting is not None:
            waiting[1].ended(Ending(None, reason, canceled=True))
        elif worker is not None:
            worker.cancel(reason)

    def close(self, reason: str) -> None:
        """Stop everything."""
        with self._lock:
            self._closed = True
            keys = [*self._running, *(name for name, _, _ in self._waiting)]
        for key in keys:
            self.cancel(key, reason)

    def _next(self) -> None:
        with self._lock:
            begin: list[tuple[Worker, Callable[[], None]]] = []
            most = self._room() if self._waiting else 0
            while self._waiting and len(begin) < most and not self._closed:
                name, worker, began = self._waiting.popleft()
                self._running[name] = worker
                begin.append((worker, began))
        for worker, began in begin:
            began()
            worker.start()

    def _room(self) -> int:
        """How many may begin now; where nothing runs always one, whatever else fills the memory."""
        free = min(self._at_once - len(self._running), self._free() // _PER_RUN)
        return free if self._running else max(1, free)

    def _secrets(self) -> set[str]:
        store = FileSecrets(self._settings.secrets)
        found = (store.get(scope, key) for scope in store.scopes() for key in store.keys(scope))
        texts = (value.decode(errors="replace") for value in found if value)
        return {text for text in texts if len(text) >= _SHORTEST}
