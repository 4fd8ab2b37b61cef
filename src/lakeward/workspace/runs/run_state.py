"""State transitions of a run: pure changes of its document."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from lakeward.workspace.runs.run_process import ProcessResult
from lakeward.workspace.state.store import Document

ACTIVE = ("QUEUED", "PENDING", "RUNNING", "WAITING_FOR_RETRY", "TERMINATING")

# State of the job runner -> life cycle state and result state of the API.
_TASK_STATES = {
    "SUCCESS": ("TERMINATED", "SUCCESS"),
    "FAILED": ("TERMINATED", "FAILED"),
    "TIMEDOUT": ("TERMINATED", "TIMEDOUT"),
    "SKIPPED": ("TERMINATED", "UPSTREAM_FAILED"),
    "UPSTREAM_FAILED": ("TERMINATED", "UPSTREAM_FAILED"),
    "CANCELED": ("TERMINATED", "CANCELED"),
    "EXCLUDED": ("TERMINATED", "EXCLUDED"),
    "DISABLED": ("TERMINATED", "DISABLED"),
    "RUNNING": ("RUNNING", None),
    "WAITING_FOR_RETRY": ("WAITING_FOR_RETRY", None),
}


def new_run(
    run_id: int, settings: Document, *, numbers: Callable[[], int], at: int, **facts: object
) -> Document:
    """Return a pending run; `numbers()` returns ids for its tasks."""
    return {
        "run_id": run_id,
        "run_name": settings.get("name") or "Untitled",
        "settings": settings,
        "state": {"life_cycle_state": "PENDING", "state_message": ""},
        "start_time": at,
        "end_time": 0,
        "tasks": [
            {
                "run_id": numbers(),
                "task_key": task["task_key"],
                "attempt_number": 0,
                "log": "0",
                "depends_on": task.get("depends_on") or [],
                "state": {"life_cycle_state": "PENDING", "state_message": ""},
                "start_time": 0,
                "end_time": 0,
            }
            for task in settings.get("tasks") or ()
        ],
        **facts,
    }


def is_active(run: Mapping[str, Any]) -> bool:
    """Return whether a run or task has not ended yet."""
    return run["state"]["life_cycle_state"] in ACTIVE


def begin(run: Document, at: int) -> None:
    """Mark a run as running."""
    run["state"] = {"life_cycle_state": "RUNNING", "state_message": ""}
    run["setup_end"] = at


def task_changed(run: Document, key: str, state: str, at: int) -> None:
    """Set the state of a task; a repair leaves that of tasks which it does not run."""
    if state == "EXCLUDED" and run.get("repair_history") and key not in run.get("only", ()):
        return
    for task in run["tasks"]:
        if task["task_key"] == key:
            life, result = _TASK_STATES[state]
            task["state"] = {"life_cycle_state": life, "state_message": ""}
            if state == "RUNNING":
                # It has run already: this is another attempt.
                task["attempt_number"] += bool(task["start_time"] and not task["end_time"])
                task["start_time"] = at
            elif result is not None:
                task["state"]["result_state"] = result
                task["end_time"] = at


def finish(run: Document, ending: ProcessResult, at: int) -> None:
    """End a run with the result of its process, and its remaining tasks with it.

    A failed run of several tasks is INTERNAL_ERROR/FAILED, a job's run of one task TERMINATED/FAILED, as on
    the platform. A submitted run is INTERNAL_ERROR, too: otherwise dbt would take a Python model for built.
    """
    result = ending.result or {}
    refused = result.get("refused")
    for task_result in result.get("tasks") or ():
        if task_result["state"] != "EXCLUDED":
            _apply_task_result(run, task_result)
    outcome, reason = _outcome_of(ending, result)
    for task in run["tasks"]:
        if is_active(task):
            task["state"] = {
                "life_cycle_state": "INTERNAL_ERROR" if refused or ending.internal else "TERMINATED",
                "result_state": outcome,
                "state_message": reason,
            }
            task["error"] = reason
            task["end_time"] = at
    if outcome == "FAILED":
        failed = [task["task_key"] for task in run["tasks"] if _failed(task)]
        outcome = "FAILED" if failed or result.get("state") != "COMPLETED" else "SUCCESS"
        if failed and not reason:
            reason = f"Task {failed[0]} failed with message: {_message(run, failed[0])}"
    submitted = run.get("run_type") == "SUBMIT_RUN"
    is_internal = refused or ending.internal or submitted or len(run["tasks"]) > 1
    run["state"] = {
        "life_cycle_state": "INTERNAL_ERROR" if outcome == "FAILED" and is_internal else "TERMINATED",
        "result_state": outcome,
        "state_message": reason,
    }
    run["end_time"] = at


def _outcome_of(ending: ProcessResult, result: Mapping[str, Any]) -> tuple[str, str]:
    """Return (state, reason) of the tasks that have not ended when the process has."""
    if ending.timed_out:
        return "TIMEDOUT", "The run took longer than its timeout."
    if ending.canceled or result.get("state") == "CANCELED":
        return "CANCELED", ending.reason or "Run cancelled."
    return "FAILED", result.get("refused") or ending.reason


def abandon(run: Document, reason: str, at: int) -> None:
    """End a run whose result is unknown as an internal error."""
    for each in (run, *run["tasks"]):
        if is_active(each):
            each["state"] = {
                "life_cycle_state": "INTERNAL_ERROR",
                "result_state": "FAILED",
                "state_message": reason,
            }
            each["end_time"] = at
            each["error"] = reason


def repair(run: Document, keys: set[str], *, numbers: Callable[[], int], repair_id: int, at: int) -> None:
    """Give tasks a new attempt and make the run pending again."""
    history = run["repair_history"] = history_of(run) or [{"type": "ORIGINAL", **_attempt(run)}]
    for task in run["tasks"]:
        if task["task_key"] in keys:
            task.update(
                run_id=numbers(),
                attempt_number=task["attempt_number"] + 1,
                log=str(len(history)),
                state={"life_cycle_state": "PENDING", "state_message": ""},
                start_time=0,
                end_time=0,
            )
            task.pop("error", None)
            task.pop("trace", None)
    run["state"] = {"life_cycle_state": "PENDING", "state_message": ""}
    run["end_time"] = 0
    run["only"] = sorted(keys)
    history.append({"type": "REPAIR", "id": repair_id, **_attempt(run), "start_time": at})


def history_of(run: Mapping[str, Any]) -> list[Document]:
    """Return the attempts of a repaired run; the last one is in the state of the run itself."""
    history = list(run.get("repair_history") or ())
    if not history:
        return []
    last = {**history[-1], "state": run["state"], "end_time": run["end_time"]}
    return [*history[:-1], last]


def _attempt(run: Mapping[str, Any]) -> Document:
    return {
        "start_time": run["start_time"],
        "end_time": run["end_time"],
        "state": run["state"],
        "task_run_ids": [task["run_id"] for task in run["tasks"]],
    }


def _apply_task_result(run: Document, result: Mapping[str, Any]) -> None:
    for task in run["tasks"]:
        if task["task_key"] == result["task_key"]:
            task_changed(
                run,
                result["task_key"],
                result["state"],
                task["end_time"] or run["start_time"],
            )
            task["notebook_result"] = result.get("exit_value")
            if result.get("error"):
                task["error"], task["trace"] = result["error"], result.get("trace")
                task["state"]["state_message"] = result["error"]


def _failed(task: Mapping[str, Any]) -> bool:
    return task["state"].get("result_state") in ("FAILED", "TIMEDOUT", "UPSTREAM_FAILED")


def _message(run: Mapping[str, Any], key: str) -> str:
    task = next(task for task in run["tasks"] if task["task_key"] == key)
    return str(task.get("error") or task["state"].get("result_state"))
