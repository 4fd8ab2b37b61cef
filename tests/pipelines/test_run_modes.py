"""Retries, continuous mode and restarts; no session is needed (SDP-4.10, SDP-4.11)."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest

from lakeward.errors import ConfigurationError
from lakeward.pipelines.events.event_log import EventFileWriter, tail_events
from lakeward.pipelines.events.progress_reporter import EventHooks
from lakeward.pipelines.execution.flow_execution import is_transient, max_retries, with_retries
from lakeward.pipelines.execution.update_context import stop_on_sigterm, trigger_interval
from lakeward.pipelines.graph.elements import EventHook
from lakeward.pipelines.storage.streaming_query_task import QueryTask, run_to_completion


class Faster(Exception):
    """As Delta raises it when another writer was faster."""

    def getCondition(self) -> str:  # noqa: N802  # PySpark's name
        return "DELTA_CONCURRENT_APPEND.WITHOUT_HINT"


def tries(*errors: Exception) -> tuple[list[float], list[int], Any]:
    pauses: list[float] = []
    noted: list[int] = []
    left = list(errors)

    def work() -> QueryTask[str]:
        if left:
            raise left.pop(0)
        yield from ()
        return "done"

    def go(retries: int) -> str:
        return run_to_completion(
            with_retries(work, retries, note=lambda _, n: noted.append(n), pause=pauses.append)
        )

    return pauses, noted, go


def test_a_passing_failure_is_tried_again_with_growing_pauses() -> None:
    pauses, noted, go = tries(Faster(), ConnectionResetError("peer"))
    assert go(2) == "done"
    assert (pauses, noted) == ([5.0, 10.0], [1, 2])


def test_only_so_often() -> None:
    pauses, _, go = tries(Faster(), Faster(), Faster("the last one"))
    with pytest.raises(Faster, match="the last one"):
        go(2)
    assert len(pauses) == 2


@pytest.mark.parametrize(
    "error", [ValueError("x"), KeyError("connection"), OSError(28, "No space left on device")]
)
def test_what_would_fail_again_is_not_repeated(error: Exception) -> None:
    pauses, _, go = tries(error)
    with pytest.raises(type(error)):
        go(2)
    assert pauses == [] and not is_transient(error)


def test_a_cause_in_the_jvm_counts_too() -> None:
    error = RuntimeError("Query terminated")
    error.__cause__ = RuntimeError("java.net.SocketTimeoutException: Read timed out")
    assert is_transient(error)


def test_development_never_tries_again_and_settings_say_how_often() -> None:
    assert max_retries({}, production=False) == 0
    assert max_retries({}, production=True) == 2
    assert max_retries({"pipelines.maxFlowRetryAttempts": "7"}, production=True) == 7
    assert max_retries({"spark.sql.pipelines.maxFlowRetryAttempts": "0"}, production=True) == 0


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("10 seconds", 10),
        ("1 minute", 60),
        ("500ms", 0.5),
        ("1 hour 30 MINUTES", 5400),
        ("INTERVAL 2 days", 172800),
    ],
)
def test_intervals_are_read_as_they_are_written(text: str, seconds: float) -> None:
    assert trigger_interval({"Pipelines.Trigger.Interval": text}) == seconds


def test_there_is_an_interval_when_none_is_given() -> None:
    assert trigger_interval({}) == 5


@pytest.mark.parametrize("text", ["soon", "10", "10 fortnights", "1 minute or so", ""])
def test_what_is_no_interval_is_refused(text: str) -> None:
    with pytest.raises(ConfigurationError, match="INVALID_TRIGGER_INTERVAL"):
        trigger_interval({"pipelines.trigger.interval": text})


def event(state: str) -> dict[str, Any]:
    return {"event_type": "update_progress", "details": {"update_progress": {"state": state}}}


def test_events_are_followed_while_they_are_written(tmp_path: Path) -> None:
    live, turns = EventFileWriter(tmp_path), iter(["RUNNING", "STOPPING", "COMPLETED", "never read"])
    seen = [
        each["details"]["update_progress"]["state"]
        for each in tail_events(tmp_path, lambda: live.write(event(next(turns))))
    ]
    assert seen == ["RUNNING", "STOPPING", "COMPLETED"]


def test_half_a_line_waits_for_its_other_half(tmp_path: Path) -> None:
    text = json.dumps(event("FAILED")) + "\n"
    (tmp_path / "events.jsonl").write_text(text[:20])

    def wait() -> None:
        with (tmp_path / "events.jsonl").open("a") as file:
            file.write(text[20:])

    assert list(tail_events(tmp_path, wait)) == [event("FAILED")]


def test_an_update_that_cannot_write_its_events_continues(tmp_path: Path) -> None:
    (tmp_path / "events.jsonl").mkdir()
    live = EventFileWriter(tmp_path)
    live.write(event("RUNNING"))
    live.write(event("COMPLETED"))


def test_a_hook_is_disabled_after_more_failures_in_a_row_than_it_may_have() -> None:
    noted: list[str] = []
    heard: list[int] = []

    def flaky(event: dict[str, Any]) -> None:
        heard.append(event["n"])
        if event["n"] not in (2,):
            raise ValueError

    hooks = EventHooks(lambda hook, status, error: noted.append(f"{hook.name} {status} {error}"))
    hooks.emit({"n": 0})
    hooks.set([EventHook("flaky", flaky, 1)])
    for n in range(1, 7):
        hooks.emit({"n": n})
    # 0 and 1 would disable it; it hears of what came before it was known.
    assert heard == [0, 1]
    assert noted == ["flaky FAILED ValueError: ", "flaky DISABLED ValueError: "]


def test_a_success_in_between_resets_the_count_and_no_limit_means_none() -> None:
    heard: list[int] = []

    def flaky(event: dict[str, Any]) -> None:
        heard.append(event["n"])
        if event["n"] % 2:
            raise ValueError

    hooks = EventHooks(lambda *_: None)
    hooks.set([EventHook("limited", flaky, 1), EventHook("endless", flaky)])
    for n in range(6):
        hooks.emit({"n": n})
    assert heard == [n for n in range(6) for _ in range(2)]


def test_sigterm_is_requested_in_the_main_thread_alone() -> None:
    import os
    import signal

    before = signal.getsignal(signal.SIGTERM)
    with stop_on_sigterm() as stop:
        os.kill(os.getpid(), signal.SIGTERM)
        assert stop.wait(5)
    assert signal.getsignal(signal.SIGTERM) is before
    in_thread: list[bool] = []

    def elsewhere() -> None:
        with stop_on_sigterm() as never:
            in_thread.append(never.is_set())

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert in_thread == [False]
