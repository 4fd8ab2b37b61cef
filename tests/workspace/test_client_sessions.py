"""Sessions that clients open: found by their user alone, closed when idle, with their operations."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from lakeward.workspace.warehouse.client_sessions import (
    IDLE_SECONDS,
    ClientSession,
    ClientSessions,
    Operation,
)
from lakeward.workspace.warehouse.execution import Execution, ExecutionResult, SessionOrder


class FakeWarehouse:
    """Opens sessions at once; `calls` are the others."""

    def __init__(self) -> None:
        self.open: set[str] = set()
        self.calls: list[tuple[str, str]] = []
        self.results = self

    def open_session(
        self, key: str, order: SessionOrder, *, on_end: Callable[[ExecutionResult], None]
    ) -> Execution:
        self.open.add(key)
        execution = Execution(key, {}, on_start=lambda: None, on_end=on_end)
        execution.end(ExecutionResult(error="no" if order.catalog == "missing" else None))
        return execution

    def has_session(self, key: str) -> bool:
        return key in self.open

    def close_session(self, key: str) -> None:
        self.open.discard(key)
        self.calls.append(("close", key))

    def cancel(self, key: str) -> None:
        self.calls.append(("cancel", key))

    def remove(self, key: str) -> None:
        """Remove the result of a statement, as the folder `results` does."""
        self.calls.append(("remove", key))


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def warehouse() -> FakeWarehouse:
    return FakeWarehouse()


@pytest.fixture
def sessions(warehouse: FakeWarehouse, clock: Clock) -> ClientSessions:
    return ClientSessions(warehouse, clock)  # type: ignore[arg-type]


def opened(sessions: ClientSessions, catalog: str = "main") -> ClientSession:
    session, _ = sessions.open("ann", "w", SessionOrder(catalog), lambda _: None)
    return session


def operation(session: ClientSession, key: str, *, done: bool) -> Operation:
    execution = Execution(key, {}, on_start=lambda: None, on_end=lambda _: None)
    if done:
        execution.end(ExecutionResult())
    made = Operation(execution, 0, True)
    session.operations[key] = made
    return made


def test_only_its_user_finds_a_session_and_its_operations(sessions: ClientSessions) -> None:
    session = opened(sessions)
    operation(session, "o", done=True)
    assert sessions.find(session.key, "ann") is session
    assert sessions.find(session.key, "bob") is None
    assert sessions.find_operation("o", "bob") is None
    assert sessions.find_operation("o", "ann") == (session, session.operations["o"])


def test_a_session_that_failed_to_open_is_not_found(sessions: ClientSessions) -> None:
    assert sessions.find(opened(sessions, "missing").key, "ann") is None


def test_a_session_ends_with_the_process_of_the_warehouse(
    sessions: ClientSessions, warehouse: FakeWarehouse
) -> None:
    session = opened(sessions)
    warehouse.open.clear()
    assert sessions.find(session.key, "ann") is None


def test_closing_cancels_what_is_running_and_removes_results(
    sessions: ClientSessions, warehouse: FakeWarehouse
) -> None:
    session = opened(sessions)
    operation(session, "running", done=False)
    operation(session, "done", done=True)
    sessions.close(session)
    assert warehouse.calls == [
        ("cancel", "running"),
        ("remove", "running"),
        ("remove", "done"),
        ("close", session.key),
    ]
    assert sessions.find_operation("done", "ann") is None


def test_sessions_without_a_request_for_an_hour_are_closed(
    sessions: ClientSessions, warehouse: FakeWarehouse, clock: Clock
) -> None:
    idle, used, busy = opened(sessions), opened(sessions), opened(sessions)
    running = operation(busy, "running", done=False)
    clock.now = IDLE_SECONDS - 1
    sessions.find(used.key, "ann")
    sessions.close_idle()
    assert warehouse.calls == []
    clock.now = IDLE_SECONDS + 1
    sessions.close_idle()
    assert warehouse.calls == [("close", idle.key)]
    running.execution.end(ExecutionResult())
    sessions.close_idle()
    assert warehouse.open == {used.key}
