"""Runs of deployed jobs and updates of deployed pipelines: progress, result, errors."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from typing import Any

from lakeward.cli.formatting import plain
from lakeward.cli.workspace_client import WorkspaceApi
from lakeward.update_states import UPDATE_ENDS

_JOB_ENDS = ("TERMINATED", "SKIPPED", "INTERNAL_ERROR")
_STATES = {"SUCCESS": "COMPLETED", "CANCELED": "CANCELED"}
_POLL_SECONDS = 0.5


def run_job(
    api: WorkspaceApi, identifier: str, parameters: Mapping[str, str], only: Sequence[str], *, quiet: bool
) -> dict[str, Any]:
    """Run a job, print its progress unless `quiet`, and return the object that `-o json` prints."""
    body = {"job_id": int(identifier), "job_parameters": dict(parameters), "only": list(only)}
    run_id = api.ask("POST", "/api/2.2/jobs/run-now", body)["run_id"]
    run = _await_end(api, run_id, quiet=quiet)
    result = _state(run)
    tasks = [
        {
            "task_key": task["task_key"],
            "state": _state(task),
            "seconds": task["run_duration"] / 1000,
            "error": _error(api, task),
        }
        for task in run.get("tasks") or ()
    ]
    if not quiet:
        for task in tasks:
            if task["error"]:
                print(plain(f"  {task['task_key']}: {task['error']}"), file=sys.stderr)
        # A workspace that ends with this command cannot answer at its address later.
        page = f"  {run['run_page_url']}" if api.outlives_command else ""
        print(plain(f"{run['run_name']}  {result}{page}", keep=""))
    return {
        "state": _STATES.get(result, "FAILED"),
        "run_id": run_id,
        "run_page_url": run["run_page_url"],
        "tasks": tasks,
        "seconds": run["run_duration"] / 1000,
    }


def _await_end(api: WorkspaceApi, run_id: int, *, quiet: bool) -> dict[str, Any]:
    """Return the run once it has ended; print each new state of a task unless `quiet`."""
    reported: dict[str, str] = {}
    while True:
        run: dict[str, Any] = api.ask("GET", f"/api/2.2/jobs/runs/get?run_id={run_id}")
        for task in run.get("tasks") or ():
            state = _state(task)
            if not quiet and reported.get(task["task_key"]) != state:
                reported[task["task_key"]] = state
                _report_task(task)
        if run["state"]["life_cycle_state"] in _JOB_ENDS:
            return run
        time.sleep(_POLL_SECONDS)


def run_pipeline(api: WorkspaceApi, identifier: str, *, quiet: bool) -> dict[str, Any]:
    """Update a pipeline, print the result unless `quiet`, and return the object that `-o json` prints."""
    path = f"/api/2.0/pipelines/{identifier}"
    update_id = api.ask("POST", f"{path}/updates", {})["update_id"]
    while True:
        update = api.ask("GET", f"{path}/updates/{update_id}")["update"]
        if update["state"] in UPDATE_ENDS:
            break
        time.sleep(_POLL_SECONDS)
    events = api.ask("GET", f"{path}/events?max_results=100").get("events") or ()
    errors = [str(event.get("message")) for event in events if event.get("level") == "ERROR"]
    if not quiet:
        for error in errors:
            print(plain(f"  {error}"), file=sys.stderr)
        print(f"update {update_id}  {update['state']}")
    return {
        "state": update["state"],
        "update_id": update_id,
        "datasets": update.get("datasets") or [],
        "errors": errors,
    }


def _report_task(task: Mapping[str, Any]) -> None:
    """Report the state of a task: its result on stdout, progress on stderr."""
    key, state = task["task_key"], _state(task)
    if state == "RUNNING":
        print(f"  {key}  {state}", file=sys.stderr)
    elif "result_state" in task["state"]:
        took = f"  {task['run_duration'] / 1000:.1f} s" if task["run_duration"] else ""
        print(f"  {key}  {state}{took}", flush=True)


def _state(run: Mapping[str, Any]) -> str:
    return str(run["state"].get("result_state") or run["state"]["life_cycle_state"])


def _error(api: WorkspaceApi, task: Mapping[str, Any]) -> str | None:
    if _state(task) in ("SUCCESS", "EXCLUDED", "DISABLED"):
        return None
    output = api.ask("GET", f"/api/2.2/jobs/runs/get-output?run_id={task['run_id']}")
    return output.get("error") or task["state"].get("state_message") or None
