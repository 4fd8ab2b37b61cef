"""What clients order of the warehouse, and the execution of an order."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class StatementOrder:
    """A statement, and the form of its result.

    Attributes:
        statement: The text.
        session: The session to run it in, None for one of its own.
        catalog: The current catalog; by default that of the session. `schema` is the current schema.
        parameters: Values by name, or in order, as in the REST API.
        row_limit: Maximum of rows.
        byte_limit: Maximum of bytes.
        disposition: `INLINE` or `EXTERNAL_LINKS`.
        format: `JSON_ARRAY`, `ARROW_STREAM` or `CSV`.
        text_types: The types whose values are written as text in Arrow.
        native_intervals: Whether intervals are written to Arrow as such, not as Hive's texts.
    """

    statement: str
    session: str | None = None
    catalog: str | None = None
    schema: str | None = None
    parameters: Sequence[Mapping[str, Any]] = ()
    row_limit: int | None = None
    byte_limit: int | None = None
    disposition: str = "INLINE"
    format: str = "JSON_ARRAY"
    text_types: Sequence[str] = ()
    native_intervals: bool = False


@dataclass(frozen=True)
class SessionOrder:
    """What a session starts with: catalog and schema, which need not exist, and its configuration."""

    catalog: str | None = None
    schema: str | None = None
    configuration: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class ExecutionResult:
    """How an execution ended. Without an error and a cancellation it succeeded.

    Attributes:
        manifest: The manifest of a statement's result.
        error: The message of an error, with the REST API's code and the SQLSTATE if it has one.
        canceled: Whether a client canceled it.
    """

    manifest: dict[str, Any] | None = None
    error: str | None = None
    error_code: str = "BAD_REQUEST"
    sql_state: str | None = None
    canceled: bool = False

    @property
    def succeeded(self) -> bool:
        """Return whether it ended without an error and was not canceled."""
        return self.error is None and not self.canceled


class Execution:
    """A statement that was submitted, or a session that is opened.

    `on_start` and `on_end` are called in threads of the warehouse, `on_end` exactly once.

    Attributes:
        key: The id of the statement or session.
        message: What the process gets, with the id.
        session: The session that it belongs to, None without one.
    """

    def __init__(
        self,
        key: str,
        message: Mapping[str, Any],
        *,
        session: str | None = None,
        on_start: Callable[[], None],
        on_end: Callable[[ExecutionResult], None],
    ) -> None:
        self.key, self.message, self.session = key, message, session
        self._on_start, self._on_end = on_start, on_end
        self._lock = threading.Lock()
        self._ending = False
        self._done = False
        self._waiters: list[Callable[[], None]] = []

    @property
    def is_done(self) -> bool:
        """Return whether `on_end` has returned."""
        return self._done

    async def wait(self, seconds: float) -> bool:
        """Wait for the end without occupying a thread; whether the statement has ended."""
        loop, woken = asyncio.get_running_loop(), asyncio.Event()

        def wake() -> None:
            loop.call_soon_threadsafe(woken.set)

        with self._lock:
            if self._done:
                return True
            self._waiters.append(wake)
        try:
            await asyncio.wait_for(woken.wait(), seconds)
        except asyncio.TimeoutError:
            pass
        finally:
            with self._lock:
                if wake in self._waiters:
                    self._waiters.remove(wake)
        return self._done

    def start(self) -> None:
        """Report that the statement left the queue, unless it has ended meanwhile."""
        with self._lock:
            if not self._ending:
                self._on_start()

    def end(self, result: ExecutionResult) -> None:
        """Report the end; only the first call counts."""
        with self._lock:
            if self._ending:
                return
            self._ending = True
        try:
            self._on_end(result)
        finally:
            with self._lock:
                self._done = True
                waiters, self._waiters = self._waiters, []
            for wake in waiters:
                try:
                    wake()
                except RuntimeError:  # the event loop has been closed
                    continue
