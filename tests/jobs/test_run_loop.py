"""The schedule of a run, without processes: its laws hold for every graph and every condition."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakeward.jobs.definition import Task
from lakeward.jobs.run_loop import RunLoop
from lakeward.jobs.run_results import TaskProgress
from lakeward.jobs.task_graph import AttemptResult, TaskGraphState
from lakeward.run_conditions import RUN_IF, RunDecision, Upstream, evaluate_run_if

SUCCESS, FAILED = AttemptResult("SUCCESS"), AttemptResult("FAILED", "no bread")


def task(key: str, after: str = "", **settings: object) -> Task:
    return replace(Task(key, "spark_python_task", {}, tuple(after.split())), **settings)


def played(
    schedule: TaskGraphState, ends: Callable[[str, int], AttemptResult], seconds: float = 1.0
) -> tuple[TaskGraphState, list[str]]:
    """Run a schedule to its end in which each attempt takes `seconds`; also the order of starts."""
    now, order = 0.0, []
    while not (schedule := schedule.with_skipped()).is_done:
        for each in schedule.ready_tasks(now):
            schedule = schedule.with_started(each.key, now)
            order.append(each.key)
        running = [key for key, record in schedule.states.items() if record.running]
        now += seconds
        for key in running:
            schedule = schedule.with_ended(key, ends(key, schedule.states[key].attempt), now)
    return schedule, order


def states(schedule: TaskGraphState) -> dict[str, str]:
    return {key: record.end.state for key, record in schedule.states.items() if record.end}


@st.composite
def graphs(draw: st.DrawFn) -> list[Task]:
    count = draw(st.integers(1, 7))
    conditions = st.sampled_from(sorted(RUN_IF))
    return [
        task(
            str(number),
            " ".join(str(up) for up in sorted(draw(st.sets(st.integers(0, number - 1)))) if number),
            run_if=draw(conditions),
            retries=draw(st.integers(0, 2)),
        )
        if number
        else task("0")
        for number in range(count)
    ]


@given(graphs(), st.dictionaries(st.integers(0, 6), st.booleans()), st.integers(1, 3))
def test_every_run_ends_with_each_task_in_its_place(
    tasks: list[Task], good: dict[int, bool], limit: int
) -> None:
    schedule, order = played(
        TaskGraphState.of(tasks, limit=limit), lambda key, _: SUCCESS if good.get(int(key), True) else FAILED
    )
    ended = states(schedule)
    assert ended.keys() == {each.key for each in tasks}
    for each in tasks:
        upstream: list[Upstream] = [
            "failed"
            if ended[key] in ("FAILED", "SKIPPED")
            else "untaken"
            if ended[key] == "UNTAKEN"
            else "succeeded"
            for key in each.depends_on
        ]
        decided = evaluate_run_if(each.run_if, upstream)
        if decided == "RUN":
            tries = 1 if good.get(int(each.key), True) else 1 + each.retries
            assert order.count(each.key) == tries
            assert ended[each.key] == ("SUCCESS" if good.get(int(each.key), True) else "FAILED")
            assert all(
                key not in order or order.index(key) < order.index(each.key) for key in each.depends_on
            )
        else:
            assert ended[each.key] == decided
            assert each.key not in order


@given(graphs(), st.integers(1, 3))
def test_never_more_run_at_once_than_may(tasks: list[Task], limit: int) -> None:
    schedule = TaskGraphState.of(tasks, limit=limit)
    while not (schedule := schedule.with_skipped()).is_done:
        for each in schedule.ready_tasks(0.0):
            schedule = schedule.with_started(each.key, 0.0)
        running = [key for key, record in schedule.states.items() if record.running]
        assert 1 <= len(running) <= limit
        schedule = schedule.with_ended(running[0], SUCCESS, 1.0)


@given(graphs(), st.integers(0, 5))
def test_a_cancel_ends_everything_and_changes_no_end(tasks: list[Task], steps: int) -> None:
    schedule = TaskGraphState.of(tasks, limit=2).with_skipped()
    for _ in range(steps):
        for each in schedule.ready_tasks(0.0):
            schedule = schedule.with_started(each.key, 0.0)
        running = [key for key, record in schedule.states.items() if record.running]
        if running:
            schedule = schedule.with_ended(running[0], SUCCESS, 1.0).with_skipped()
    before = states(schedule)
    canceled = schedule.with_canceled("Ctrl-C", 2.0)
    assert canceled.is_done
    assert before.items() <= states(canceled).items()
    assert {state for key, state in states(canceled).items() if key not in before} <= {"CANCELED"}


# Source: https://docs.databricks.com/aws/en/jobs/run-if
@pytest.mark.parametrize(
    ("run_if", "upstream", "expected"),
    [
        ("ALL_SUCCESS", "ss", "RUN"),
        ("ALL_SUCCESS", "sf", "SKIPPED"),
        ("ALL_SUCCESS", "su", "UNTAKEN"),
        ("ALL_DONE", "ff", "RUN"),
        ("ALL_DONE", "uu", "UNTAKEN"),
        ("NONE_FAILED", "su", "RUN"),
        ("NONE_FAILED", "sf", "SKIPPED"),
        ("NONE_FAILED", "uu", "UNTAKEN"),
        ("AT_LEAST_ONE_SUCCESS", "sf", "RUN"),
        ("AT_LEAST_ONE_SUCCESS", "ff", "SKIPPED"),
        ("ALL_FAILED", "ff", "RUN"),
        ("ALL_FAILED", "sf", "EXCLUDED"),
        ("AT_LEAST_ONE_FAILED", "sf", "RUN"),
        ("AT_LEAST_ONE_FAILED", "ss", "EXCLUDED"),
    ],
)
def test_each_condition_decides_as_documented(run_if: str, upstream: str, expected: RunDecision) -> None:
    words: dict[str, Upstream] = {"s": "succeeded", "f": "failed", "u": "untaken"}
    assert evaluate_run_if(run_if, [words[letter] for letter in upstream]) == expected


def test_a_condition_takes_one_branch_and_the_join_runs() -> None:
    tasks = [
        task("if"),
        task("yes", "if", outcomes={"if": "true"}),
        task("no", "if", outcomes={"if": "false"}),
        task("later", "no"),
        task("join", "yes later", run_if="NONE_FAILED"),
    ]
    schedule, order = played(
        TaskGraphState.of(tasks),
        lambda key, _: AttemptResult("SUCCESS", outcome="true") if key == "if" else SUCCESS,
    )
    assert order == ["if", "yes", "join"]
    assert states(schedule)["later"] == "UNTAKEN"
    assert schedule.result == "COMPLETED"


def test_a_retry_waits_its_time_and_a_later_success_counts() -> None:
    schedule = TaskGraphState.of([task("a", retries=2, retry_after=10.0)])
    schedule = schedule.with_started("a", 0.0).with_ended("a", FAILED, 1.0)
    assert schedule.ready_tasks(10.9) == ()
    (again,) = schedule.ready_tasks(11.0)
    schedule = schedule.with_started(again.key, 11.0).with_ended("a", SUCCESS, 12.0)
    assert (schedule.result, schedule.states["a"].attempt, schedule.states["a"].seconds) == (
        "COMPLETED",
        2,
        2.0,
    )


class Attempt:
    """An attempt that has ended when it is polled first."""

    has_started = True

    def __init__(self, end: AttemptResult) -> None:
        self.end = end

    def poll(self) -> AttemptResult:
        return self.end

    def stop(self) -> None:
        raise AssertionError("nothing runs too long")


def reports_of(graph: TaskGraphState, ends: list[AttemptResult]) -> list[TaskProgress]:
    """Return what a run loop reports while the attempts at its only task end so."""
    reports: list[TaskProgress] = []
    now = [0.0]
    loop = RunLoop(graph, lambda _, n: Attempt(ends[n - 1]), clock=lambda: now[0], report=reports.append)
    while not loop.state.is_done:
        loop.tick()
        now[0] += 5.0
    return reports


@pytest.mark.parametrize(
    ("retry_after", "pause"), [(0.0, "0 s"), (10.0, "10 s"), (60.0, "60 s"), (1.5, "1.5 s")]
)
@pytest.mark.parametrize(
    ("end", "reason"),
    [(FAILED, ": no bread"), (AttemptResult("FAILED"), ""), (AttemptResult("TIMEDOUT", "late"), ": late")],
)
def test_a_task_that_waits_for_its_retry_is_reported(
    end: AttemptResult, reason: str, retry_after: float, pause: str
) -> None:
    only = task("a", retries=2, retry_after=retry_after, retry_on_timeout=True)
    reports = reports_of(TaskGraphState.of([only]), [end, end, SUCCESS])
    assert [(each.state, each.message) for each in reports] == [
        ("RUNNING", ""),
        ("WAITING_FOR_RETRY", f"attempt 1 failed, the next attempt starts in {pause}{reason}"),
        ("RUNNING", ""),
        ("WAITING_FOR_RETRY", f"attempt 2 failed, the next attempt starts in {pause}{reason}"),
        ("RUNNING", ""),
        ("SUCCESS", ""),
    ]


@pytest.mark.parametrize("end", [FAILED, AttemptResult("TIMEDOUT", "late")])
def test_the_last_attempt_waits_for_none(end: AttemptResult) -> None:
    reports = reports_of(TaskGraphState.of([task("a")]), [end])
    assert [each.state for each in reports] == ["RUNNING", "FAILED"]


@pytest.mark.parametrize(("retry", "is_done"), [(False, True), (True, False)])
def test_a_time_that_is_over_is_tried_again_only_on_request(retry: bool, is_done: bool) -> None:
    schedule = TaskGraphState.of([task("a", timeout=5.0, retries=1, retry_on_timeout=retry)]).with_started(
        "a", 0.0
    )
    assert (schedule.overdue_tasks(4.9), schedule.overdue_tasks(5.0)) == ((), ("a",))
    assert schedule.with_ended("a", AttemptResult("TIMEDOUT"), 5.0).is_done is is_done


def test_the_time_of_the_run_counts_for_all_of_its_tasks() -> None:
    schedule = TaskGraphState.of([task("a"), task("b")], limit=2, timeout=10.0).with_started("a", 0.0)
    assert (schedule.overdue_tasks(9.0), schedule.overdue_tasks(10.0)) == ((), ("a",))


def test_a_failure_that_a_later_task_handles_does_not_fail_the_run() -> None:
    tasks = [task("work"), task("tidy", "work", run_if="ALL_DONE")]
    schedule, _ = played(TaskGraphState.of(tasks), lambda key, _: FAILED if key == "work" else SUCCESS)
    assert schedule.result == "COMPLETED"
    assert played(TaskGraphState.of(tasks[:1]), lambda *_: FAILED)[0].result == "FAILED"
