"""Routes of existing runs: get, list, cancel and delete; their output, logs, notebooks and streaming queries.

Source: https://docs.databricks.com/api/workspace/jobs/getrun and its siblings.
"""

from __future__ import annotations

import base64
import json
import urllib.parse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lakeward.databricks_shims.local_workspace import (
    ApiError,
    Route,
    invalid_parameter,
    paginate,
    paginate_query,
)
from lakeward.report import batch_of
from lakeward.streaming import ACTIONS, query_file, read_queries, request_file
from lakeward.workspace.api.jobs import job_of, jobs_routes
from lakeward.workspace.api.permissions import is_admin, require
from lakeward.workspace.api.run_start import start_queued
from lakeward.workspace.api.run_views import (
    find_task,
    may_see,
    output_of,
    run_of,
    task_of,
    task_settings,
    view,
)
from lakeward.workspace.context import ServerRequest
from lakeward.workspace.runs import run_state
from lakeward.workspace.runs.run_log import read_log
from lakeward.workspace.runs.run_process import ProcessResult
from lakeward.workspace.state.store import Document, now

_RUN_TYPES = ("JOB_RUN", "SUBMIT_RUN", "WORKFLOW_RUN")


def get(call: ServerRequest) -> Document:
    """Return the current state of a run, or of the run of one task."""
    return view(call, run_of(call, call.required("run_id")), history=call.flag("include_history"))


def list_runs(call: ServerRequest) -> Document:
    """List the runs that the user may see, the newest first."""
    _check_filters(call)
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


def _check_filters(call: ServerRequest) -> None:
    """Raise ApiError for filters that exclude each other or that no run can match."""
    if call.flag("active_only") and call.flag("completed_only"):
        raise invalid_parameter("active_only and completed_only cannot both be true.")
    kind = call.query.get("run_type") or _RUN_TYPES[0]
    if kind not in _RUN_TYPES:
        raise invalid_parameter(f"run_type is {kind[:50]!r}: use {', '.join(_RUN_TYPES)}.")
    job_id = call.query.get("job_id") or "0"
    if not job_id.isdecimal():
        raise invalid_parameter(f"{job_id[:50]} is not the id of a job.")


def _listed(call: ServerRequest, answer: Document) -> Document:
    answer["runs"] = [view(call, run, tasks=call.flag("expand_tasks")) for run in answer["runs"]]
    return {**answer, "has_more": "next_page_token" in answer}


def cancel(call: ServerRequest) -> None:
    """Cancel a run; one that has ended does not change."""
    _cancel(call, run_of(call, call.required("run_id"), "CAN_MANAGE_RUN"))


def cancel_all(call: ServerRequest) -> None:
    """Cancel all runs of a job, or all queued ones: of the job, or without one of the workspace."""
    queued = call.flag("all_queued_runs")
    job_id = call.text("job_id") if queued else call.required("job_id")
    if job_id:
        job_of(call, job_id)
        require(call, "jobs", job_id, "CAN_MANAGE_RUN")
    for run in call.store.find("run", parent=job_id or None, active=True):
        if queued and run["state"]["life_cycle_state"] != "QUEUED":
            continue
        if job_id or may_see(call, run, "CAN_MANAGE_RUN"):
            _cancel(call, run)


def get_output(call: ServerRequest) -> Document:
    """Return the output of a task, also while it runs."""
    run_id = call.required("run_id")
    run = run_of(call, run_id)
    task = task_of(run, run_id, "Retrieving the output of runs")
    return output_of(call, run, task)


def log(call: ServerRequest) -> Document:
    """Return the log of a task from a byte on, for clients that follow it."""
    run_id = call.required("run_id")
    run = run_of(call, run_id)
    task = find_task(run, run_id)
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
    """Delete a run that has ended."""
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


_VIEWS = ("CODE", "DASHBOARDS", "ALL")


def export(call: ServerRequest) -> Document:
    """Return the notebook of a task run as HTML, with the model from which clients read the results of cells.

    Source: https://docs.databricks.com/api/workspace/jobs/exportrun
    """
    run_id = call.required("run_id")
    run = run_of(call, run_id)
    wanted = call.query.get("views_to_export") or "CODE"
    if wanted not in _VIEWS:
        raise invalid_parameter(f"views_to_export is {wanted[:20]!r}: use {', '.join(_VIEWS)}.")
    task = task_of(run, run_id, "Exporting runs")
    settings = task_settings(run, task)
    if "notebook_task" not in settings:
        raise invalid_parameter("Only notebook runs can be exported.")
    if wanted == "DASHBOARDS":
        return {}
    folder = call.context.runner.folder_of(run["run_id"]) / task["log"] / "notebooks" / task["task_key"]
    file = next(iter(sorted(folder.glob("*.ipynb"))), None)
    if file is None:
        message = f"Run {run_id} has no results to export: its notebook has not ended."
        raise ApiError(400, "INVALID_STATE", message)
    name = Path(str(settings["notebook_task"].get("notebook_path"))).name
    return {"views": [{"content": _page(file, name), "name": name, "type": "NOTEBOOK"}]}


def _page(file: Path, name: str) -> str:
    """Return the page of an outcome with its model, as base64 of quoted JSON."""
    model = {"name": name, "commands": _commands(json.loads(file.read_bytes()))}
    quoted = urllib.parse.quote(json.dumps(model)).encode()
    script = f"<script>var __DATABRICKS_NOTEBOOK_MODEL = '{base64.b64encode(quoted).decode()}';</script>"
    page = file.with_suffix(".html").read_text(encoding="utf-8")
    head, body, tail = page.rpartition("</body>")
    return f"{head}{script}\n{body}{tail}"


def _commands(notebook: Mapping[str, Any]) -> list[Document]:
    return [
        {
            "position": position,
            "command": cell["source"],
            "results": {
                "type": "listResults",
                "data": [_result(output) for output in cell.get("outputs") or ()],
            },
        }
        for position, cell in enumerate(notebook["cells"], start=1)
    ]


def _result(output: Mapping[str, Any]) -> dict[str, str]:
    """Return an output of nbformat as a result of a command."""
    if output["output_type"] == "stream":
        return {"type": "ansi", "data": output["text"]}
    if output["output_type"] == "error":
        return {"type": "error", "data": "\n".join(output["traceback"])}
    data = output["data"]
    for mime, kind in (("text/html", "html"), ("image/png", "image")):
        if mime in data:
            return {"type": kind, "data": data[mime]}
    return {"type": "text", "data": data.get("text/plain", "")}


def list_streams(call: ServerRequest) -> Any:
    """Return the streaming queries that a task has started, with figures of their newest micro-batches."""
    run_id = call.required("run_id")
    run = run_of(call, run_id)
    found = read_queries(_stream_file(call, run, run_id)) or {}
    return {
        "active": not found.get("ended", True),
        "streams": [
            {**each, "batches": [batch_of(batch) for batch in each.get("batches") or ()]}
            for each in found.get("queries") or ()
        ],
    }


def change_stream(call: ServerRequest) -> Any:
    """Stop or restart one query; the task does so within about a second."""
    run_id, action = call.required("run_id"), call.required("action")
    run = run_of(call, run_id, "CAN_MANAGE_RUN")
    file = _stream_file(call, run, run_id)
    if action not in ACTIONS:
        raise invalid_parameter(f"action is {action[:40]!r}; use {' or '.join(ACTIONS)}.")
    number = call.number("query", -1)
    found = read_queries(file)
    if found is None or found.get("ended", True) or not 0 <= number < len(found["queries"]):
        raise ApiError(
            400, "INVALID_STATE", f"The run {run_id} has no streaming query {number} that is running."
        )
    request_file(file, number, action).touch(mode=0o600)
    return {}


def _stream_file(call: ServerRequest, run: Document, run_id: str) -> Path:
    task = task_of(run, run_id, "Streaming queries of runs")
    folder = call.environment.settings().state / "streams"
    return query_file(folder, str(run["run_id"]), str(task["task_key"]))


ROUTES = (
    *jobs_routes("GET", "jobs/runs/get", get, quick=True),
    *jobs_routes("GET", "jobs/runs/list", list_runs),
    *jobs_routes("GET", "jobs/runs/get-output", get_output),
    *jobs_routes("GET", "jobs/runs/export", export),
    *jobs_routes("POST", "jobs/runs/cancel", cancel),
    *jobs_routes("POST", "jobs/runs/cancel-all", cancel_all),
    *jobs_routes("POST", "jobs/runs/delete", delete),
    Route("GET", "/api/2.0/lakeward/logs", log),
    Route("GET", "/api/2.0/lakeward/streams", list_streams),
    Route("POST", "/api/2.0/lakeward/streams", change_stream),
)
