"""The lease of a resident JVM: connection, forwarded output, detection of a crash."""

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
from lakeward.session.resident.registry import is_there
from lakeward.spark_internals import current_gateway, scala_context

if TYPE_CHECKING:
    from pyspark import SparkContext


class Lease:
    """A held JVM: its gateway and process. It ends with this process; the JVM sees to that."""

    def __init__(self, gateway: Any, pid: int, file: Path) -> None:
        self.gateway = gateway
        self.pid = pid
        self.file = file
        self.relay = Relay(file.with_suffix(".out"), file.with_suffix(".err"))
        self._folders: list[str] = []
        self._new: str | None = None

    def context(self, conf: Mapping[str, str]) -> Any:
        """The Java context that those before have left, with the settings `conf`; None where none is."""
        settings = json.dumps(dict(conf))
        java = self.gateway.jvm.lakeward.Resident.settled(settings)
        self._new = None if java else settings
        return java

    def note(self, context: SparkContext) -> None:
        """Take note of the context that this process uses; the JVM is to hand on a new one."""
        if self._new is not None:
            self.gateway.jvm.lakeward.Resident.learn(scala_context(context), self._new)
            self._new = None
        # Python's broadcasts; a JVM of one's own removes them when it ends.
        with suppress(AttributeError):
            self._folders.append(context._temp_dir)

    def end(self) -> None:
        """The last thing this process does with it."""
        self.relay.end()
        for folder in self._folders:
            shutil.rmtree(folder, ignore_errors=True)


_held: Lease | None = None


def hold(lease: Lease) -> None:
    """From now on this process holds `lease`."""
    global _held  # noqa: PLW0603  # one JVM a process, as in Spark itself
    _held = lease
    atexit.register(lease.end)


def held() -> Lease | None:
    """The resident JVM that this process holds, None where it holds none."""
    return _held


def drain() -> None:
    """Let through what the JVM has printed up to now; one of this process's own has done so already."""
    if _held is not None:
        _held.relay.drain()


_EVERY = 0.05


class Relay:
    """Follows the files of a JVM; what stood in them before belongs to others and is dropped."""

    def __init__(self, out: Path, err: Path) -> None:
        self._lock = threading.Lock()
        self._ended = threading.Event()
        # As a child would have: what this process's streams are at this moment.
        self._pairs = [(_emptied(out), os.dup(1)), (_emptied(err), os.dup(2))]
        threading.Thread(target=self._follow, name="lakeward-relay", daemon=True).start()

    def drain(self) -> None:
        """Pass on all that the JVM has printed up to now."""
        with self._lock:
            for source, target in self._pairs:
                while data := os.read(source, 65536):
                    with suppress(OSError):
                        os.write(target, data)

    def end(self) -> None:
        """Pass on the rest and stop."""
        self._ended.set()
        with suppress(OSError):
            self.drain()

    def _follow(self) -> None:
        while not self._ended.wait(_EVERY):
            with suppress(OSError):
                self.drain()


def _emptied(file: Path) -> int:
    os.truncate(file, 0)
    return os.open(file, os.O_RDONLY)


# The connection breaks some moments before the process is gone.
_PATIENCE = 1.0


def is_lost(error: BaseException) -> bool:
    """Whether `error` came because Spark's JVM is gone: py4j itself only says that a call has failed."""
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
    """What to tell about it."""
    lease = held()
    name = f"The resident JVM {lease.pid}" if lease else "Spark's JVM"
    return SessionError(
        "JVM_LOST",
        f"{name} ended in the middle of the work: it was killed, or there was not enough memory.",
        next_step="Run the same command again: it starts a new one, and what was committed stays.",
    )


def _is_alive() -> bool:

    lease = held()
    if lease is not None:
        return is_there(lease.file, lease.pid)
    process = getattr(current_gateway(), "proc", None)
    return process is None or process.poll() is None
