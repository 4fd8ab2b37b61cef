"""Routes of existing runs: get, list, cancel and delete; their output and logs.

Source: https://docs.databricks.com/api/workspace/jobs/getrun and its siblings.
"""

from __future__ import annotations

from typing import Any

from lakeward.databricks_shims.local_workspace import ApiError
from lakeward.workspace.api.jobs import job_of
from lakeward.workspace.api.permissions import is_admin, require
from lakeward.workspace.api.run_submission import start_queued
from lakeward.workspace.api.run_views import may_see, output_of, run_of, task_of, view
from lakeward.workspace.context import ServerRequest, paginate, paginate_query
from lakeward.workspace.runs import run_state
from lakeward.workspace.runs.run_log import read_log
from lakeward.workspace.runs.run_process import ProcessResult
from lakeward.workspace.state.store import Document, now


def get(call: ServerRequest) -> Any:
    """Return the current state of a run, or of the run of one task."""
    return view(call, run_of(call, call.required("run_id")), history=call.flag("include_history"))


def list_runs(call: ServerRequest) -> Any:
    """Runs that the user may see, the newest first."""
    job_id = call.query.get("job_id") or None
    active = True if call.flag("active_only") else False if call.flag("completed_only") else None
    filters = ("run_type", "start_time_from", "start_time_to")
    if is_admin(call) and not any(call.query.get(each) for each in filters):

        def newest(limit: int, offset: int) -> list[Document]:
            return call.store.find(
                "run", parent=job_id, active=active, newest_first=True, limit=limit, offset=offset
            )

        return _listed(call, paginate_query(call, newest, "runs", most=25))
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
    return _listed(call, paginate(call, runs, "runs", most=25))


def _listed(call: ServerRequest, answer: Document) -> Document:
    answer["runs"] = [view(call, run, tasks=call.flag("expand_tasks")) for run in answer["runs"]]
    return {**answer, "has_more": "next_page_token" in answer}


def cancel(call: ServerRequest) -> None:
    """Ask a run to stop; one that has ended stays as it is."""
    _cancel(call, run_of(call, call.required("run_id"), "CAN_MANAGE_RUN"))


def cancel_all(call: ServerRequest) -> None:
    """Ask all runs of a job to stop."""
    job_id = call.required("job_id")
    job_of(call, job_id)
    require(call, "jobs", job_id, "CAN_MANAGE_RUN")
    for run in call.store.find("run", parent=job_id, active=True):
        _cancel(call, run)


def get_output(call: ServerRequest) -> Any:
    """Return the output of a task, also while it runs."""
    run_id = call.required("run_id")
    run = run_of(call, run_id)
    task = task_of(run, run_id, "Retrieving the output of runs")
    return output_of(call, run, task)


def log(call: ServerRequest) -> Any:
    """Return the log of a task from a byte on, for clients that follow it."""
    run_id = call.required("run_id")
    run = run_of(call, run_id)
    task = next((each for each in run["tasks"] if str(each["run_id"]) == run_id), None)
    folder = call.context.runner.folder_of(run["run_id"])
    if task is not None:
        folder /= task["log"]
    text, end, _ = read_log(
        folder, task["task_key"] if task else "", offset=call.number("offset", 0), most=2**18
    )
    trace = task.get("trace") if task is not None else None
    return {
        "text": text,
        "next_offset": end,
        "active": run_state.is_active(task or run),
        **({"trace": trace} if trace else {}),
    }


def delete(call: ServerRequest) -> None:
    """Forget a run that has ended."""
    # The level is assumed.
    run = run_of(call, call.required("run_id"), "CAN_MANAGE")
    if run_state.is_active(run):
        raise ApiError(400, "INVALID_STATE", f"Run {run['run_id']} is active.")
    call.store.delete("run", run["run_id"])
    call.store.delete_children("task_run", run["run_id"])


def _cancel(call: ServerRequest, run: Document) -> None:
    if not run_state.is_active(run):
        return

    def edit(body: Document) -> None:
        if body["state"]["life_cycle_state"] == "QUEUED":
            run_state.finish(body, ProcessResult(None, canceled=True), now())
        elif run_state.is_active(body):
            body["state"]["life_cycle_state"] = "TERMINATING"

    # Computed from the edited run: it may have ended since it was read.
    call.store.change("run", run["run_id"], edit, active=run_state.is_active, retry=True)
    if not call.context.runner.cancel(run["run_id"]):
        # It has no process and does not wait for one: without this it would never end.
        call.store.change("run", run["run_id"], _end_canceled, active=False, retry=True)
        start_queued(call, run["job_id"])


def _end_canceled(run: Document) -> None:
    if run_state.is_active(run):
        run_state.finish(run, ProcessResult(None, canceled=True), now())
