"""The local SQL warehouse: one process with a session, started by the first statement, ended when idle.

server ── JSON lines: {"id", "statement", "catalog", …} ──> process ── {"id", "columns", "rows"} ──> server
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from lakeward.session import Settings
from lakeward.workspace.sent_settings import as_sent

__all__ = ["WAREHOUSE_ID", "Warehouse"]

WAREHOUSE_ID = "1a6e3a4d00000001"
_IDLE = 600.0


class Warehouse:
    """Statements one after the other; its log is in `folder`."""

    def __init__(self, settings: Settings, folder: Path) -> None:
        self._settings, self._folder = settings, folder
        self._lock = threading.Lock()
        self._process: subprocess.Popen[str] | None = None
        self._asked: dict[str, tuple[Callable[[dict[str, Any]], None], threading.Event]] = {}
        self._idle: threading.Timer | None = None

    def is_running(self) -> bool:
        """Whether the process is there."""
        process = self._process
        return process is not None and process.poll() is None

    def run(
        self, key: str, order: Mapping[str, Any], ended: Callable[[dict[str, Any]], None]
    ) -> threading.Event:
        """Give a statement to the process; the event is set once `ended` has had its answer."""
        done = threading.Event()
        with self._lock:
            process = self._process if self.is_running() else self._started()
            self._asked[key] = (ended, done)
            assert process is not None
            assert process.stdin is not None
            with suppress(BrokenPipeError):
                process.stdin.write(json.dumps({"id": key, **order}) + "\n")
                process.stdin.flush()
        return done

    def cancel(self, key: str) -> None:
        """Give a statement up: the process is ended, since Spark may be deep in it."""
        with self._lock:
            asked = self._asked.pop(key, None)
        if asked is not None:
            asked[0]({"error": "The statement was canceled.", "canceled": True})
            asked[1].set()
            self.close()

    def close(self) -> None:
        """End the process."""
        with self._lock:
            process, self._process = self._process, None
            if self._idle is not None:
                self._idle.cancel()
        if process is not None and process.poll() is None:
            process.terminate()

    def _started(self) -> subprocess.Popen[str]:
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        settings = json.dumps(as_sent(self._settings))
        with (self._folder / "warehouse.log").open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "lakeward.workspace.statement_process", settings],
                cwd=self._folder,
                env={**os.environ, "LAKEWARD_HOME": str(self._settings.home)},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                start_new_session=True,
            )
        threading.Thread(target=self._listen, args=(self._process,), daemon=True).start()
        return self._process

    def _listen(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        for line in process.stdout:
            answer = json.loads(line)
            with self._lock:
                asked = self._asked.pop(answer.pop("id"), None)
            if asked is not None:
                asked[0](answer)
                asked[1].set()
            self._rest()
        process.wait()
        with self._lock:
            left, self._asked = self._asked, {}
        log = self._folder / "warehouse.log"
        for ended, done in left.values():
            ended({"error": f"The warehouse's process ended with {process.returncode}: see {log}."})
            done.set()

    def _rest(self) -> None:
        with self._lock:
            if self._idle is not None:
                self._idle.cancel()
            self._idle = threading.Timer(_IDLE, self.close)
            self._idle.daemon = True
            self._idle.start()
