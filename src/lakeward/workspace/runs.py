"""Runs of jobs as they stand: looked at, listed, canceled, forgotten; their output and logs.

Source: https://docs.databricks.com/api/workspace/jobs/getrun and its siblings.
"""

from __future__ import annotations

from typing import Any

from lakeward.standins.local_workspace import Failure
from lakeward.workspace import run_states
from lakeward.workspace.call import ServerCall, now, page
from lakeward.workspace.jobs import job_of
from lakeward.workspace.log import read_log
from lakeward.workspace.permissions import require
from lakeward.workspace.run_views import may_see, output_of, run_of, view
from lakeward.workspace.store import Document
from lakeward.workspace.worker import Ending

__all__ = ["cancel", "cancel_all", "delete", "get", "get_output", "list_runs", "log"]


def get(call: ServerCall) -> Any:
    """A run, or the run of one task, as it stands."""
    return view(call, run_of(call, call.given("run_id")), history=call.flag("include_history"))


def list_runs(call: ServerCall) -> Any:
    """Runs that the user may see, the newest first."""
    job_id = call.query.get("job_id") or None
    active = True if call.flag("active_only") else False if call.flag("completed_only") else None
    runs = call.store.find("run", parent=job_id, active=active, newest_first=True)
    runs = [run for run in runs if may_see(call, run)]
    kind = call.query.get("run_type")
    runs = [run for run in runs if not kind or run["run_type"] == kind]
    for name, late in (("start_time_from", False), ("start_time_to", True)):
        if call.query.get(name):
            bound = call.number(name, 0)
            runs = [
                run for run in runs if (run["start_time"] <= bound if late else run["start_time"] >= bound)
            ]
    answer = page(call, runs, "runs", most=25)
    answer["runs"] = [view(call, run, tasks=call.flag("expand_tasks")) for run in answer["runs"]]
    return {**answer, "has_more": "next_page_token" in answer}


def cancel(call: ServerCall) -> None:
    """Ask a run to stop; one that has ended stays as it is."""
    _cancel(call, run_of(call, call.given("run_id"), "CAN_MANAGE_RUN"))


def cancel_all(call: ServerCall) -> None:
    """Ask all runs of a job to stop."""
    job_id = call.given("job_id")
    job_of(call, job_id)
    require(call, "jobs", job_id, "CAN_MANAGE_RUN")
    for run in call.store.find("run", parent=job_id, active=True):
        _cancel(call, run)


def get_output(call: ServerCall) -> Any:
    """What a task gave back and printed, also while it runs."""
    run_id = call.given("run_id")
    run = run_of(call, run_id)
    task = next((each for each in run["tasks"] if str(each["run_id"]) == run_id), None)
    if task is None and len(run["tasks"]) != 1:
        raise Failure(
            400,
            "INVALID_PARAMETER_VALUE",
            "Retrieving the output of runs with multiple tasks is not supported. "
            "Please retrieve the output of each individual task run instead.",
        )
    task = task or run["tasks"][0]
    return output_of(call, run, task)


def log(call: ServerCall) -> Any:
    """The log of a task from a byte on, for who follows it."""
    run_id = call.given("run_id")
    run = run_of(call, run_id)
    task = next((each for each in run["tasks"] if str(each["run_id"]) == run_id), None)
    folder = call.office.runner.folder_of(run["run_id"])
    if task is not None:
        folder /= task["log"]
    text, end, _ = read_log(
        folder, task["task_key"] if task else "", offset=call.number("offset", 0), most=2**18
    )
    trace = task.get("trace") if task is not None else None
    return {
        "text": text,
        "next_offset": end,
        "active": run_states.is_active(task or run),
        **({"trace": trace} if trace else {}),
    }


def delete(call: ServerCall) -> None:
    """Forget a run that has ended."""
    # The level is assumed.
    run = run_of(call, call.given("run_id"), "CAN_MANAGE")
    if run_states.is_active(run):
        raise Failure(400, "INVALID_STATE", f"Run {run['run_id']} is active.")
    call.store.delete("run", run["run_id"])
    call.store.delete_children("task_run", run["run_id"])


def _cancel(call: ServerCall, run: Document) -> None:
    if not run_states.is_active(run):
        return

    def edit(body: Document) -> None:
        if body["state"]["life_cycle_state"] == "QUEUED":
            run_states.finish(body, Ending(None, canceled=True), now())
        elif run_states.is_active(body):
            body["state"]["life_cycle_state"] = "TERMINATING"

    queued = run["state"]["life_cycle_state"] == "QUEUED"
    call.store.change("run", run["run_id"], edit, active=not queued)
    call.office.runner.cancel(run["run_id"])
