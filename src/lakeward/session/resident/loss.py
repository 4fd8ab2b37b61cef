"""A JVM that ended while its process was at work."""

from __future__ import annotations

import time

from lakeward.errors import SessionError
from lakeward.session.resident.lease import held
from lakeward.session.resident.processes import is_there

__all__ = ["is_lost", "jvm_lost"]

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
    from pyspark import SparkContext

    lease = held()
    if lease is not None:
        return is_there(lease.file, lease.pid)
    process = getattr(SparkContext._gateway, "proc", None)
    return process is None or process.poll() is None
