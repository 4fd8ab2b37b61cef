"""Errors of streaming queries, and which of them the running code has received.

A query that fails while no code waits for it would end a run as if nothing had happened.
"""

from __future__ import annotations

import re
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Any

from lakeward.patching import Wrapped

_RUN_ID = re.compile(r"\brunId = (?P<id>[0-9a-f-]{36})")
_received: set[str] = set()
"""Run ids of queries."""
_is_peeking: ContextVar[bool] = ContextVar("lakeward_is_peeking", default=False)

_CALL_OF_JAVA = "py4j.protocol.Py4JJavaError: An error occurred while calling"
_INTERRUPTION = "java.lang.InterruptedException"
_INTERRUPTIONS = (
    _INTERRUPTION,
    "java.io.InterruptedIOException",
    "java.nio.channels.ClosedByInterruptException",
)


@contextmanager
def _peeking() -> Iterator[None]:
    token = _is_peeking.set(True)
    try:
        yield
    finally:
        _is_peeking.reset(token)


def query_error(query: Any) -> Exception | None:
    """Return the error of a query that has failed; the code that runs has not received it by this call."""
    with _peeking():
        error: Exception | None = query.exception()
    return error


def unreceived_error(query: Any) -> Exception | None:
    """Return what code that waits for a query that has failed gets; None if code has received it."""
    error = None if str(query.runId) in _received else query_error(query)
    if error is None:
        return None
    try:
        with _peeking():
            query.awaitTermination()
    except Exception as raised:  # noqa: BLE001  # it names the cause, which `exception` does not
        return raised
    return error


def receive_errors(before: Wrapped) -> Any:
    """Return a method of a query, or of the session's queries, whose errors are received by its caller."""

    @wraps(before)
    def method(self: Any, *arguments: Any, **named: Any) -> Any:
        try:
            result = before(self, *arguments, **named)
        except Exception as error:
            _note(self, error)
            raise
        if isinstance(result, Exception):
            _note(self, result)
        return result

    return method


def _note(owner: Any, error: Exception) -> None:
    if _is_peeking.get():
        return
    named = _RUN_ID.search(str(error))
    identifier = getattr(owner, "runId", None) or (named and named["id"])
    if identifier:
        _received.add(str(identifier))


def shorten_interruptions(before: Wrapped) -> Any:
    """Return `foreachBatch`, whose function reports in a few words that its query was stopped.

    Spark compares the text of the error with a regular expression that recurses for each character, and ends
    the query's thread with a StackOverflowError where the text is long. Reproducible in a JVM that has just
    started: compiled code needs less of the stack.
    """

    @wraps(before)
    def foreach_batch(self: Any, func: Any) -> Any:
        @wraps(func)
        def apply(*arguments: Any, **named: Any) -> None:
            try:
                func(*arguments, **named)
            except Exception as error:
                text = "".join(traceback.format_exception(error))
                if _CALL_OF_JAVA in text and any(each in text for each in _INTERRUPTIONS):
                    raise InterruptedError(f"{_CALL_OF_JAVA} the batch: {_INTERRUPTION}") from None
                raise

        return before(self, apply)

    return foreach_batch
