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
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import TYPE_CHECKING, Any, TypeVar

from lakeward.errors import NotebookError
from lakeward.patching import PatchSpec, Wrapped, install
from lakeward.spark_internals import scala_context

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Seconds between two attempts to raise, attempts between two requests to cancel, and the time for clean-up
# before an error that the notebook has caught is raised again.
_PAUSE, _ATTEMPTS, _GRACE = 0.05, 20, 10.0
# The command of py4j that releases an object of the JVM: it comes from a finalizer.
_FORGET = "m\n"

_expired: dict[int, _Watcher] = {}
"""The watchers whose limit has passed, by the thread in which to raise."""
_switching = threading.Lock()

_Result = TypeVar("_Result")


class _Expired(BaseException):
    """User code that catches Exception lets it pass."""


def call_with_limit(spark: SparkSession, seconds: float, path: str, call: Callable[[], _Result]) -> _Result:
    """Return what `call` returns, and end it after some time.

    Code that waits outside of Python is ended when it returns; in the main thread it is interrupted.

    Args:
        spark: The session whose jobs and streams are ended.
        seconds: The limit; 0 or less means none.
        path: The notebook that `call` runs, for the message.
        call: What has the limit.

    Raises:
        NotebookError: NOTEBOOK_TIMED_OUT.
    """
    if seconds <= 0:
        return call()
    install(PATCHES)
    tag = f"lakeward-notebook-{uuid.uuid4().hex}"
    watcher = _Watcher(spark, seconds, tag)
    spark.sparkContext.addJobTag(tag)
    cause: BaseException | None = None
    try:
        with _interruptible():
            watcher.start()
            try:
                result = watcher.call(call)
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
            next_step="Raise timeout_seconds of dbutils.notebook.run; 0 means no limit.",
        ) from cause
    return result


class _Watcher(threading.Thread):
    """Ends what the thread that made it does, after `seconds`."""

    def __init__(self, spark: SparkSession, seconds: float, tag: str) -> None:
        super().__init__(name="lakeward-notebook-limit", daemon=True)
        self._spark, self._seconds, self._tag = spark, seconds, tag
        self._target = threading.get_ident()
        self._is_main = threading.current_thread() is threading.main_thread()
        self._done = threading.Event()
        self.has_expired = False
        self.is_inside = False

    def call(self, call: Callable[[], _Result]) -> _Result:
        """Return what `call` returns. An error of the watcher is raised in here, and nowhere else."""
        self.is_inside = True
        try:
            return call()
        finally:
            # CPython raises an error that another thread has set when a function begins.
            try:
                _begin_function()
            finally:
                self.is_inside = False

    def run(self) -> None:
        if self._done.wait(self._seconds):
            return
        self.has_expired = True
        while not self._done.is_set():
            _expired[self._target] = self
            while _expired.get(self._target) is self and not self._done.is_set():
                self._cancel()
                self._interrupt()
            self._done.wait(_GRACE)

    def end(self) -> None:
        """Stop watching: nothing is raised in the thread any more."""
        self._done.set()
        self.join()
        if _expired.get(self._target) is self:
            del _expired[self._target]

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
                    if self.is_inside and not _waits_for_jvm(sys._current_frames().get(self._target)):
                        _expired.pop(self._target, None)
                        _raise_in(self._target, _Expired)
            if self._done.wait(_PAUSE) or _expired.get(self._target) is not self:
                return


def _begin_function() -> None:
    """Do nothing."""


def _raise_if_expired() -> None:
    """Raise once in a thread whose limit has passed, so that its clean-up runs to the end."""
    watcher = _expired.get(threading.get_ident())
    if watcher is not None and watcher.is_inside:
        del _expired[threading.get_ident()]
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


def _ending(before: Wrapped) -> Any:
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
