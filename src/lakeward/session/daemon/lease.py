"""The lease of a daemon: connection, forwarded output, crash detection."""

from __future__ import annotations

import atexit
import json
import os
import shutil
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lakeward.errors import SessionError
from lakeward.session.daemon.registry import is_running
from lakeward.spark_internals import current_gateway, scala_context

if TYPE_CHECKING:
    from pyspark import SparkContext


class Lease:
    """A leased daemon: its gateway and process. The daemon ends the lease when this process ends."""

    def __init__(self, gateway: Any, pid: int, file: Path) -> None:
        self.gateway = gateway
        self.pid = pid
        self.file = file
        self.output = OutputForwarder(file.with_suffix(".out"), file.with_suffix(".err"))
        self._folders: list[str] = []
        self._new: str | None = None

    def find_context(self, conf: Mapping[str, str]) -> Any:
        """Return the Java context that earlier clients created with the settings `conf`, or None."""
        settings = json.dumps(dict(conf))
        java = self.gateway.jvm.lakeward.Daemon.settled(settings)
        self._new = None if java else settings
        return java

    def record_context(self, context: SparkContext) -> None:
        """Record the context of this process; the daemon resets it for the next client."""
        if self._new is not None:
            self.gateway.jvm.lakeward.Daemon.learn(scala_context(context), self._new)
            self._new = None
        # Files of Python broadcasts; a JVM of this process would remove them at exit.
        with suppress(AttributeError):
            self._folders.append(context._temp_dir)

    def end(self) -> None:
        """Release the lease; the last use of the JVM by this process."""
        self.output.end()
        for folder in self._folders:
            shutil.rmtree(folder, ignore_errors=True)


_lease: Lease | None = None


def set_lease(lease: Lease) -> None:
    """Make `lease` the lease of this process."""
    global _lease  # noqa: PLW0603  # one JVM a process, as in Spark itself
    _lease = lease
    atexit.register(lease.end)


def current_lease() -> Lease | None:
    """Return the lease of this process, or None."""
    return _lease


def drain() -> None:
    """Print the pending output of the daemon; no effect for a JVM of this process."""
    if _lease is not None:
        _lease.output.drain()


_INTERVAL = 0.05


class OutputForwarder:
    """Forwards the output files of a JVM; earlier output belongs to other clients and is skipped."""

    def __init__(self, out: Path, err: Path) -> None:
        self._lock = threading.Lock()
        self._ended = threading.Event()
        # The current streams of this process, as a child process would inherit them.
        self._pairs = [(_open_emptied(out), os.dup(1)), (_open_emptied(err), os.dup(2))]
        threading.Thread(target=self._follow, name="lakeward-relay", daemon=True).start()

    def drain(self) -> None:
        """Forward all pending output."""
        with self._lock:
            for source, target in self._pairs:
                while data := os.read(source, 65536):
                    with suppress(OSError):
                        os.write(target, data)

    def end(self) -> None:
        """Forward the rest and stop."""
        self._ended.set()
        with suppress(OSError):
            self.drain()

    def _follow(self) -> None:
        while not self._ended.wait(_INTERVAL):
            with suppress(OSError):
                self.drain()


def _open_emptied(file: Path) -> int:
    os.truncate(file, 0)
    return os.open(file, os.O_RDONLY)


# The connection breaks shortly before the process exits.
_PATIENCE = 1.0


def is_lost(error: BaseException) -> bool:
    """Return whether `error` was caused by the exit of Spark's JVM: py4j only reports a failed call."""
    from py4j.protocol import Py4JError, Py4JJavaError

    if isinstance(error, Py4JJavaError) or not isinstance(error, Py4JError | ConnectionError | EOFError):
        return False
    deadline = time.monotonic() + _PATIENCE
    while _is_alive():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def jvm_lost() -> SessionError:
    """Return the error for the end of Spark's JVM."""
    name = f"the daemon {_lease.pid}" if _lease else "Spark's JVM"
    return SessionError(
        "JVM_LOST",
        f"{name} ended in the middle of the work: it was killed, or there was not enough memory.",
        next_step="Run the same command again: it starts a new one, and what was committed stays.",
    )


def _is_alive() -> bool:
    if _lease is not None:
        return is_running(_lease.file, _lease.pid)
    process = getattr(current_gateway(), "proc", None)
    return process is None or process.poll() is None
