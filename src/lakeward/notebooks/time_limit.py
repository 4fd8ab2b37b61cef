"""The time limit of a notebook that another one runs.

    watcher thread ── after the limit ── stop the session's streams, cancel the Spark jobs of the block
                                         raise in the thread of the block, unless it waits for the JVM

An exception between a request to the JVM and its answer would leave the answer to the next request. A thread
that waits for the JVM raises before its next request, which comes soon: its jobs are canceled.
"""

from __future__ import annotations

import ctypes
import functools
import signal
import sys
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import TYPE_CHECKING, Any

from lakeward.errors import NotebookError
from lakeward.patching import PatchSpec, install
from lakeward.spark_internals import scala_context

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Seconds between two attempts to raise, attempts between two requests to cancel, and the time for clean-up
# before an error that the notebook has caught is raised again.
_PAUSE, _ATTEMPTS, _GRACE = 0.05, 20, 10.0
# The command of py4j that tells the JVM of an object that Python has let go: it comes from a finalizer.
_FORGET = "m\n"

_expired: set[int] = set()
"""The threads in which to raise, by identifier."""
_switching = threading.Lock()


class _Expired(BaseException):
    """User code that catches Exception lets it pass."""


@contextmanager
def time_limit(spark: SparkSession, seconds: float, path: str) -> Iterator[None]:
    """End the block after `seconds`; 0 or less is no limit. `path` is the notebook that the block runs.

    Code that waits outside of Python is ended when it returns; in the main thread it is interrupted.

    Raises NotebookError(NOTEBOOK_TIMED_OUT).
    """
    if seconds <= 0:
        yield
        return
    install(PATCHES)
    tag = f"lakeward-notebook-{uuid.uuid4().hex}"
    watcher = _Watcher(spark, seconds, tag)
    spark.sparkContext.addJobTag(tag)
    cause: BaseException | None = None
    try:
        with _interruptible():
            watcher.start()
            try:
                yield
            finally:
                watcher.end()
    except (Exception, SystemExit, _Expired) as error:
        if not watcher.has_expired:
            raise
        cause = None if isinstance(error, _Expired) else error
    finally:
        spark.sparkContext.removeJobTag(tag)
    # The notebook may have caught the error of a canceled query, or ended with it.
    if watcher.has_expired:
        raise NotebookError(
            "NOTEBOOK_TIMED_OUT",
            f"com.databricks.WorkflowException: TIMEDOUT: {path} did not end within {seconds:g} seconds.",
            next_step="Raise timeout_seconds of dbutils.notebook.run; 0 is no limit.",
        ) from cause


class _Watcher(threading.Thread):
    """Ends what the thread that made it does, after `seconds`."""

    def __init__(self, spark: SparkSession, seconds: float, tag: str) -> None:
        super().__init__(name="lakeward-notebook-limit", daemon=True)
        self._spark, self._seconds, self._tag = spark, seconds, tag
        self._target = threading.get_ident()
        self._is_main = threading.current_thread() is threading.main_thread()
        self._done = threading.Event()
        self.has_expired = False

    def run(self) -> None:
        if self._done.wait(self._seconds):
            return
        self.has_expired = True
        while not self._done.is_set():
            _expired.add(self._target)
            while self._target in _expired and not self._done.is_set():
                self._cancel()
                self._interrupt()
            self._done.wait(_GRACE)

    def end(self) -> None:
        """Stop watching: nothing is raised in the thread any more.

        An error that was set a moment ago is raised, and dropped, in here. It must not be taken back: CPython
        would keep looking for it, at each line of Python of this process.
        """
        self._done.set()
        is_over = False
        while not is_over:
            with suppress(_Expired):
                self.join()
                for _ in range(100):
                    pass
                is_over = True
        _expired.discard(self._target)

    def _cancel(self) -> None:
        with suppress(Exception):  # a query may end meanwhile
            scala_context(self._spark.sparkContext).cancelJobsWithTag(self._tag)
            for query in self._spark.streams.active:
                query.stop()

    def _interrupt(self) -> None:
        for _ in range(_ATTEMPTS):
            if self._is_main:
                signal.pthread_kill(self._target, signal.SIGALRM)
            else:
                with _no_thread_switch():
                    if not _waits_for_jvm(sys._current_frames().get(self._target)):
                        _expired.discard(self._target)
                        _raise_in(self._target, _Expired)
            if self._done.wait(_PAUSE) or self._target not in _expired:
                return


def _raise_if_expired() -> None:
    """Raise once in a thread whose limit has passed, so that its clean-up runs to the end."""
    if threading.get_ident() in _expired:
        _expired.discard(threading.get_ident())
        raise _Expired


def _raise_in(thread: int, error: type[BaseException]) -> None:
    """Raise an error at the thread's next line of Python."""
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(error))


@contextmanager
def _no_thread_switch() -> Iterator[None]:
    """Let no other thread run Python between two lines of this one."""
    # Two watchers at once would take the other's interval for the one to restore.
    with _switching:
        before = sys.getswitchinterval()
        sys.setswitchinterval(60.0)
        try:
            yield
        finally:
            sys.setswitchinterval(before)


def _waits_for_jvm(frame: FrameType | None) -> bool:
    """Return whether py4j is among the callers; what the JVM calls in Python has it there, too."""
    while frame is not None:
        if frame.f_globals.get("__name__", "").startswith("py4j."):
            return True
        frame = frame.f_back
    return False


@contextmanager
def _interruptible() -> Iterator[None]:
    """Let a signal end what the main thread does, a wait such as `time.sleep` included."""

    def interrupt(_number: int, frame: FrameType | None) -> None:
        if not _waits_for_jvm(frame):
            _raise_if_expired()

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before: Any = signal.signal(signal.SIGALRM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGALRM, before)


def _ending(before: Any) -> Any:
    @functools.wraps(before)
    def send(self: Any, command: str, *arguments: Any, **named: Any) -> Any:
        if _expired and not command.startswith(_FORGET):
            _raise_if_expired()
        return before(self, command, *arguments, **named)

    return send


PATCHES = (
    PatchSpec(
        "py4j.java_gateway:GatewayClient",
        "send_command",
        "notebooks",
        "a notebook that has run longer than timeout_seconds asks the JVM for nothing more",
        _ending,
    ),
)
