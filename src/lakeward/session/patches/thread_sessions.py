"""Threads that a notebook's code starts have its session.

A notebook has a session of its own, which is active in its thread. Without this, `getActiveSession()` is None
in other threads, and `toTable`, `currentCatalog` and Delta's builders use the default session, with another
catalog. A thread gets a thread of the JVM when it first calls it, so that threads without Spark cost nothing.
"""

from __future__ import annotations

import threading
from contextlib import suppress
from functools import wraps
from typing import Any

from lakeward.patching import Order, PatchSpec, Wrapped
from lakeward.spark_internals import activate_inherited_session, inherit_session


def inheriting(before: Wrapped) -> Any:
    """Return `Thread.start`, which records the session of the code that starts the thread."""

    @wraps(before)
    def start(self: threading.Thread) -> None:
        inherit_session(self)
        before(self)

    return start


def activating(before: Wrapped) -> Any:
    """Return the method that connects a thread to the JVM, and makes the thread's session active there."""

    @wraps(before)
    def create(self: Any) -> Any:
        connection = before(self)
        activate_inherited_session()
        # The calls have given the connection back, which the caller does again: twice in the queue, it would
        # outlive its thread.
        with suppress(ValueError):
            self.deque.remove(connection)
        return connection

    return create


_REASON = "threads of a notebook's code have the notebook's session"
PATCHES = (
    PatchSpec("threading:Thread", "start", "session", _REASON, inheriting, Order.REPLACEMENT),
    PatchSpec("py4j.clientserver:JavaClient", "_create_new_connection", "session", _REASON, activating),
)
