"""Retries, continuous mode and an update that starts again (spec §4): what needs no session."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest

from lakeward.errors import ConfigurationError
from lakeward.pipelines.continuous import seconds_between
from lakeward.pipelines.elements import Hook
from lakeward.pipelines.hooks import Hooks
from lakeward.pipelines.live import Live, follow
from lakeward.pipelines.transient import flow_attempts, is_transient, with_retries
from lakeward.pipelines.waiting import Waiting, to_the_end


class Faster(Exception):
    """As Delta raises it when another writer was faster."""

    def getCondition(self) -> str:  # noqa: N802  # PySpark's name
        return "DELTA_CONCURRENT_APPEND.WITHOUT_HINT"


def tries(*errors: Exception) -> tuple[list[float], list[int], Any]:
    pauses: list[float] = []
    noted: list[int] = []
    left = list(errors)

    def work() -> Waiting[str]:
        if left:
            raise left.pop(0)
        yield from ()
        return "done"

    def go(retries: int) -> str:
        return to_the_end(with_retries(work, retries, note=lambda _, n: noted.append(n), pause=pauses.append))

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
    assert flow_attempts({}, production=False) == 0
    assert flow_attempts({}, production=True) == 2
    assert flow_attempts({"pipelines.maxFlowRetryAttempts": "7"}, production=True) == 7
    assert flow_attempts({"spark.sql.pipelines.maxFlowRetryAttempts": "0"}, production=True) == 0


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
    assert seconds_between({"Pipelines.Trigger.Interval": text}) == seconds


def test_there_is_an_interval_when_none_is_given() -> None:
    assert seconds_between({}) == 5


@pytest.mark.parametrize("text", ["soon", "10", "10 fortnights", "1 minute or so", ""])
def test_what_is_no_interval_is_refused(text: str) -> None:
    with pytest.raises(ConfigurationError, match="INVALID_TRIGGER_INTERVAL"):
        seconds_between({"pipelines.trigger.interval": text})


def event(state: str) -> dict[str, Any]:
    return {"event_type": "update_progress", "details": {"update_progress": {"state": state}}}


def test_events_are_followed_while_they_are_written(tmp_path: Path) -> None:
    live, turns = Live(tmp_path), iter(["RUNNING", "STOPPING", "COMPLETED", "never read"])
    seen = [
        each["details"]["update_progress"]["state"]
        for each in follow(tmp_path, lambda: live.write(event(next(turns))))
    ]
    assert seen == ["RUNNING", "STOPPING", "COMPLETED"]


def test_half_a_line_waits_for_its_other_half(tmp_path: Path) -> None:
    text = json.dumps(event("FAILED")) + "\n"
    (tmp_path / "events.jsonl").write_text(text[:20])

    def wait() -> None:
        with (tmp_path / "events.jsonl").open("a") as file:
            file.write(text[20:])

    assert list(follow(tmp_path, wait)) == [event("FAILED")]


def test_an_update_that_cannot_write_its_events_goes_on(tmp_path: Path) -> None:
    (tmp_path / "events.jsonl").mkdir()
    live = Live(tmp_path)
    live.write(event("RUNNING"))
    live.write(event("COMPLETED"))


def test_a_hook_is_disabled_after_more_failures_in_a_row_than_it_may_have() -> None:
    noted: list[str] = []
    heard: list[int] = []

    def flaky(told: dict[str, Any]) -> None:
        heard.append(told["n"])
        if told["n"] not in (2,):
            raise ValueError

    hooks = Hooks(lambda hook, status, error: noted.append(f"{hook.name} {status} {error}"))
    hooks.tell({"n": 0})
    hooks.set([Hook("flaky", flaky, 1)])
    for n in range(1, 7):
        hooks.tell({"n": n})
    # 0 and 1 would disable it; it hears of what came before it was known.
    assert heard == [0, 1]
    assert noted == ["flaky FAILED ValueError: ", "flaky DISABLED ValueError: "]


def test_a_success_in_between_begins_the_count_anew_and_no_limit_means_none() -> None:
    heard: list[int] = []

    def flaky(told: dict[str, Any]) -> None:
        heard.append(told["n"])
        if told["n"] % 2:
            raise ValueError

    hooks = Hooks(lambda *_: None)
    hooks.set([Hook("limited", flaky, 1), Hook("endless", flaky)])
    for n in range(6):
        hooks.tell({"n": n})
    assert heard == [n for n in range(6) for _ in range(2)]


def test_sigterm_is_asked_for_in_the_main_thread_alone() -> None:
    import os
    import signal

    from lakeward.pipelines.continuous import stopping

    before = signal.getsignal(signal.SIGTERM)
    with stopping() as asked:
        os.kill(os.getpid(), signal.SIGTERM)
        assert asked.wait(5)
    assert signal.getsignal(signal.SIGTERM) is before
    in_thread: list[bool] = []

    def elsewhere() -> None:
        with stopping() as never:
            in_thread.append(never.is_set())

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert in_thread == [False]
