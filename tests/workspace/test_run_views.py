"""What requests show of a run."""

from __future__ import annotations

from itertools import count
from types import SimpleNamespace
from typing import Any, cast

from lakeward.workspace.api.run_views import view
from lakeward.workspace.runs import run_state
from lakeward.workspace.runs.run_process import ProcessResult

AT = 1_790_000_000_000


def _begun_run() -> Any:
    numbers = count(2)
    facts = {"job_id": 5, "creator_user_name": "ada", "run_type": "JOB_RUN"}
    settings = {"tasks": [{"task_key": "a"}]}
    run = run_state.new_run(1, settings, numbers=lambda: next(numbers), at=AT, **facts)
    run_state.begin(run, AT)
    return run


def test_a_clock_that_is_set_back_gives_no_negative_duration() -> None:
    run = _begun_run()
    run_state.task_changed(run, "a", "RUNNING", AT)
    run_state.task_changed(run, "a", "SUCCESS", AT - 60_000)
    run_state.finish(run, ProcessResult({"state": "COMPLETED", "tasks": []}), AT - 60_000)
    shown = view(cast("Any", SimpleNamespace(host="")), run)
    assert shown["state"]["result_state"] == "SUCCESS"
    for each in (shown, *shown["tasks"]):
        assert (each["execution_duration"], each["run_duration"]) == (0, 0)


def test_a_task_that_waits_for_its_retry_is_active_and_counts_each_attempt_once() -> None:
    run = _begun_run()
    seen = []
    for seconds, state in enumerate(("RUNNING", "WAITING_FOR_RETRY", "RUNNING", "FAILED")):
        run_state.task_changed(run, "a", state, AT + seconds * 1000)
        task = view(cast("Any", SimpleNamespace(host="")), run)["tasks"][0]
        life, status = task["state"]["life_cycle_state"], task["status"]["state"]
        seen.append((life, status, task["attempt_number"], task["start_time"] - AT))
    assert seen == [
        ("RUNNING", "RUNNING", 0, 0),
        ("WAITING_FOR_RETRY", "WAITING", 0, 0),
        ("RUNNING", "RUNNING", 1, 2000),
        ("TERMINATED", "TERMINATED", 1, 2000),
    ]
