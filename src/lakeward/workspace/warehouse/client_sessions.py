"""Sessions of the warehouse that clients open and close, and the operations of each. Kept in memory."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field

from lakeward.workspace.warehouse.engine import Warehouse
from lakeward.workspace.warehouse.execution import Execution, ExecutionResult, SessionOrder

IDLE_SECONDS = 3600.0
"""A session without a request for so long is closed."""

_CHECK_SECONDS = 60.0


@dataclass
class Operation:
    """A statement or metadata request of a session, by the id of its statement.

    Attributes:
        execution: The statement in the warehouse.
        kind: TOperationType.
        arrow: Whether the client reads Arrow.
        position: The row that the next fetch starts with; guarded by `lock`.
    """

    execution: Execution
    kind: int
    arrow: bool
    position: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def key(self) -> str:
        """Return the id of the statement."""
        return self.execution.key


@dataclass
class ClientSession:
    """A session: who opened it, where, and its operations by id."""

    key: str
    user: str
    warehouse_id: str
    used: float
    operations: dict[str, Operation] = field(default_factory=dict)


class ClientSessions:
    """The open sessions of all clients. `clock` returns seconds."""

    def __init__(self, warehouse: Warehouse, clock: Callable[[], float] = time.monotonic) -> None:
        self._warehouse, self._clock = warehouse, clock
        self._lock = threading.Lock()
        self._sessions: dict[str, ClientSession] = {}
        self._timer: threading.Timer | None = None

    def open(
        self, user: str, warehouse_id: str, order: SessionOrder, on_end: Callable[[ExecutionResult], None]
    ) -> tuple[ClientSession, Execution]:
        """Open a session; return it, and the execution that ends when it is ready or has failed."""
        session = ClientSession(str(uuid.uuid4()), user, warehouse_id, self._clock())
        with self._lock:
            self._sessions[session.key] = session
            self._watch()

        def opened(result: ExecutionResult) -> None:
            if not result.succeeded:
                with self._lock:
                    self._sessions.pop(session.key, None)
            on_end(result)

        return session, self._warehouse.open_session(session.key, order, on_end=opened)

    def find(self, key: str, user: str) -> ClientSession | None:
        """Return an open session; only its user finds it."""
        with self._lock:
            found = self._sessions.get(key)
            if found is None or found.user != user:
                return None
            if not self._warehouse.has_session(key):
                del self._sessions[key]
                return None
            found.used = self._clock()
            return found

    def find_operation(self, key: str, user: str) -> tuple[ClientSession, Operation] | None:
        """Return an operation that has not been closed, and its session."""
        with self._lock:
            for session in self._sessions.values():
                found = session.operations.get(key)
                if found is not None and session.user == user:
                    session.used = self._clock()
                    return session, found
        return None

    def add_operation(self, session: ClientSession, operation: Operation) -> None:
        """Add an operation that has been started."""
        with self._lock:
            session.operations[operation.key] = operation

    def close(self, session: ClientSession) -> None:
        """Close a session and its operations: running statements are canceled."""
        with self._lock:
            self._sessions.pop(session.key, None)
            operations = list(session.operations.values())
        for operation in operations:
            self.close_operation(session, operation)
        self._warehouse.close_session(session.key)

    def close_operation(self, session: ClientSession, operation: Operation) -> None:
        """Cancel an operation that is running, and remove its result."""
        with self._lock:
            session.operations.pop(operation.key, None)
        if not operation.execution.is_done:
            self._warehouse.cancel(operation.key)
        self._warehouse.results.remove(operation.key)

    def close_idle(self) -> None:
        """Close the sessions without a request for an hour and without a running statement."""
        oldest = self._clock() - IDLE_SECONDS
        with self._lock:
            idle = [
                each
                for each in self._sessions.values()
                if each.used < oldest and all(o.execution.is_done for o in each.operations.values())
            ]
        for session in idle:
            self.close(session)

    def _watch(self) -> None:
        """Look for idle sessions every minute while there are sessions. The lock is held."""
        if self._timer is None and self._sessions:
            self._timer = threading.Timer(_CHECK_SECONDS, self._check)
            self._timer.daemon = True
            self._timer.start()

    def _check(self) -> None:
        self.close_idle()
        with self._lock:
            self._timer = None
            self._watch()
