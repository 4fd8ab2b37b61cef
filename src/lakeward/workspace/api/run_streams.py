"""Routes of the streaming queries of a run's tasks, for the pages: figures, stop and restart."""

from __future__ import annotations

from typing import Any

from lakeward.databricks_shims.local_workspace import ApiError
from lakeward.report import batch_of
from lakeward.streaming import ACTIONS, query_file, read_queries, request_file
from lakeward.workspace.api.run_views import run_of, task_of
from lakeward.workspace.context import ServerRequest
from lakeward.workspace.state.store import Document


def list_streams(call: ServerRequest) -> Any:
    """Return the streaming queries that a task has started, with figures of their newest micro-batches."""
    run_id = call.required("run_id")
    run = run_of(call, run_id)
    found = read_queries(_file(call, run, task_of(run, run_id, "Streaming queries of runs"))) or {}
    return {
        "active": not found.get("ended", True),
        "streams": [
            {**each, "batches": [batch_of(batch) for batch in each.get("batches") or ()]}
            for each in found.get("queries") or ()
        ],
    }


def change(call: ServerRequest) -> Any:
    """Stop or restart one query; the task does so within about a second."""
    run_id, action = call.required("run_id"), call.required("action")
    run = run_of(call, run_id, "CAN_MANAGE_RUN")
    file = _file(call, run, task_of(run, run_id, "Streaming queries of runs"))
    if action not in ACTIONS:
        raise ApiError(
            400, "INVALID_PARAMETER_VALUE", f"action is {action[:40]!r}; use {' or '.join(ACTIONS)}."
        )
    number = call.number("query", -1)
    found = read_queries(file)
    if found is None or found.get("ended", True) or not 0 <= number < len(found["queries"]):
        raise ApiError(
            400, "INVALID_STATE", f"The run {run_id} has no streaming query {number} that is running."
        )
    request_file(file, number, action).touch(mode=0o600)
    return {}


def _file(call: ServerRequest, run: Document, task: Document) -> Any:
    folder = call.environment.settings().state / "streams"
    return query_file(folder, str(run["run_id"]), str(task["task_key"]))
