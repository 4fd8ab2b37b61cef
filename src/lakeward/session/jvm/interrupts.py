"""Ctrl-C in a process with a Spark session: cancel its Spark jobs, then raise KeyboardInterrupt.

PySpark installs a handler that does the same through the connection of the main thread. While that thread
waits for the JVM, the connection is busy: the request to cancel is queued behind the very call that is to be
canceled, its failure is discarded, and the job keeps its executor threads. Later queries wait for it.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, NoReturn

from lakeward.session.jvm.shared_jvm import GatewayAddress
from lakeward.spark_internals import scala_context

if TYPE_CHECKING:
    from pyspark import SparkContext

CANCEL_TIMEOUT = 5.0
"""Seconds to wait for the JVM to accept the request."""

_interrupts = 0


def count_interrupts() -> int:
    """Return how often Ctrl-C was pressed in this process."""
    return _interrupts


@contextmanager
def keep_interrupts(since: int | None = None) -> Iterator[None]:
    """Raise KeyboardInterrupt for an error of the block that follows Ctrl-C.

    The KeyboardInterrupt can be lost: clean-up code calls the JVM through a connection that the interrupt has
    closed, and its error replaces it. `since` is an earlier `count_interrupts()`, by default that of now.
    """
    before = _interrupts if since is None else since
    try:
        yield
    except (Exception, SystemExit) as error:
        if _interrupts > before:
            raise KeyboardInterrupt from error
        raise


def cancel_on_interrupt(context: SparkContext, borrowed: GatewayAddress | None) -> None:
    """Replace PySpark's handler of SIGINT; a user's handler and an ignored signal are kept.

    In a JVM of another process, only the jobs with this process's tag are canceled.
    """
    if threading.current_thread() is not threading.main_thread() or not _is_replaceable():
        return

    def interrupt(*_: object) -> NoReturn:
        global _interrupts  # noqa: PLW0603  # a process has one handler of a signal
        _interrupts += 1
        # py4j opens one connection per thread.
        canceling = threading.Thread(target=_cancel, args=(context, borrowed), daemon=True)
        canceling.start()
        canceling.join(CANCEL_TIMEOUT)
        raise KeyboardInterrupt

    signal.signal(signal.SIGINT, interrupt)


def _is_replaceable() -> bool:
    handler: Any = signal.getsignal(signal.SIGINT)
    return getattr(handler, "__module__", None) in ("pyspark.core.context", __name__)


def _cancel(context: Any, borrowed: GatewayAddress | None) -> None:
    with suppress(Exception):  # a JVM that has exited runs no jobs
        if borrowed is None:
            scala_context(context).cancelAllJobs()
        else:
            scala_context(context).cancelJobsWithTag(borrowed.tag)
