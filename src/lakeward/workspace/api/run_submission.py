"""Routes that start runs: run-now, submit and repair, and the parameters that their requests override.

Runs beyond the limit of their job are queued or skipped.

Source: https://docs.databricks.com/api/workspace/jobs/runnow and its siblings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from lakeward.databricks_shims.local_workspace import ApiError, invalid_parameter
from lakeward.workspace.api.jobs import job_of, jobs_routes, settings_of
from lakeward.workspace.api.permissions import access_control_list, require
from lakeward.workspace.api.request_types import parse_object
from lakeward.workspace.api.run_start import launch, note_tasks, start_run
from lakeward.workspace.api.run_views import run_of
from lakeward.workspace.context import ServerRequest
from lakeward.workspace.runs import run_state
from lakeward.workspace.state.store import Document, now

_LONGEST_TOKEN, _MOST_PARAMETERS = 64, 10_000


def run_now(call: ServerRequest) -> Document:
    """Start a run of a job; it is queued or skipped at the job's limit of concurrent runs."""
    job = job_of(call, call.required("job_id"))
    job_id, settings = job["job_id"], job["settings"]
    require(call, "jobs", str(job_id), "CAN_MANAGE_RUN")
    request = _request(call, "jobs/run-now")
    parameters = job_parameters(settings, request)
    only = request.get("only") or []
    known = {task["task_key"] for task in settings.get("tasks") or ()}
    unknown = [key for key in only if key not in known]
    if unknown:
        raise invalid_parameter(f"The job has no task '{unknown[0]}'.")
    overridden = with_overrides(settings, request)
    if "queue" in request:
        overridden = {**overridden, "queue": request["queue"]}
    return start_run(
        call,
        overridden,
        job_id=job_id,
        run_type="JOB_RUN",
        job_parameters=parameters,
        overriding_parameters=given_parameters(request),
        only=only,
        flags=pipeline_flags(request.get("pipeline_params") or {}),
        trigger="ONE_TIME",
        token=request.get("idempotency_token"),
    )


def trigger_run(call: ServerRequest, job: Document, cause: str) -> None:
    """Start a run of a job for its trigger."""
    settings = job["settings"]
    start_run(
        call,
        settings,
        job_id=job["job_id"],
        run_type="JOB_RUN",
        job_parameters=job_parameters(settings, {}),
        trigger=cause,
    )


def submit(call: ServerRequest) -> Document:
    """Start a run of tasks that belong to no job."""
    request = _request(call, "jobs/runs/submit")
    acl = access_control_list(call, request.get("access_control_list"))
    settings = settings_of({**request, "name": request.get("run_name") or "Untitled"})
    if not settings.get("tasks"):
        raise invalid_parameter("The run has no tasks.")
    token = request.get("idempotency_token")
    return start_run(
        call,
        settings,
        job_id=0,
        run_type="SUBMIT_RUN",
        trigger="ONE_TIME",
        token=token,
        access_control_list=acl,
    )


def repair(call: ServerRequest) -> Document:
    """Run tasks of an ended run again, on request with the tasks that depend on them."""
    run = run_of(call, call.required("run_id"), "CAN_MANAGE_RUN")
    _refuse_active(run)
    request = _request(call, "jobs/runs/repair")
    _require_latest_repair(run, request.get("latest_repair_id"))
    keys = _tasks_to_repair(call, run["tasks"], set(request.get("rerun_tasks") or ()))
    repair_id = call.store.number()
    given = request.get("job_parameters") or {}
    overriding = given_parameters(request)
    settings = with_overrides(run["settings"], request)

    def edit(body: Document) -> None:
        # Again, on the run as it is now: another client may have repaired it since it was read.
        _refuse_active(body)
        _require_latest_repair(body, request.get("latest_repair_id"))
        run_state.repair(body, keys, numbers=call.store.number, repair_id=repair_id, at=now())
        for parameter in body.get("job_parameters") or ():
            parameter["value"] = given.get(parameter["name"], parameter["value"])
        if overriding:
            body.update(settings=settings, overriding_parameters=overriding)
        if "pipeline_params" in request:
            body["flags"] = pipeline_flags(request["pipeline_params"])

    changed = call.store.change("run", run["run_id"], edit, active=True)
    assert changed is not None
    note_tasks(call.context, changed)
    launch(call, changed)
    return {"repair_id": repair_id}


def _tasks_to_repair(call: ServerRequest, tasks: Sequence[Document], named: set[str]) -> set[str]:
    """Return the tasks that the request names, as failed ones and as their dependents. Raises ApiError."""
    unknown = named - {task["task_key"] for task in tasks}
    if unknown:
        raise invalid_parameter(f"The run has no task '{min(unknown)}'.")
    keys = named
    if call.flag("rerun_all_failed_tasks"):
        done = ("SUCCESS", "EXCLUDED", "DISABLED")
        keys |= {task["task_key"] for task in tasks if task["state"].get("result_state") not in done}
    if call.flag("rerun_dependent_tasks"):
        while more := {
            task["task_key"]
            for task in tasks
            if task["task_key"] not in keys and any(edge["task_key"] in keys for edge in task["depends_on"])
        }:
            keys |= more
    if not keys:
        raise invalid_parameter("No task to repair was specified.")
    return keys


def _refuse_active(run: Document) -> None:
    if run_state.is_active(run):
        raise ApiError(400, "INVALID_STATE", "A run that is active cannot be repaired.")


def _require_latest_repair(run: Document, given: object) -> None:
    """Refuse a repair that does not name the one before it: its client has not seen what that changed."""
    repairs = [each["id"] for each in run.get("repair_history") or () if "id" in each]
    if repairs and given != repairs[-1]:
        found = "none was given" if given is None else f"{given} is not the latest"
        raise invalid_parameter(
            f"latest_repair_id is required to repair a run again, and {found}. "
            "The repair_history of jobs/runs/get with include_history=true has it last."
        )


def _request(call: ServerRequest, name: str) -> Document:
    """Return the request by its types. Raises ApiError for one that the platform refuses."""
    request = parse_object(call.body, name)
    if len(request.get("idempotency_token") or "") > _LONGEST_TOKEN:
        raise invalid_parameter(f"idempotency_token has at most {_LONGEST_TOKEN} characters.")
    for field in (*PARAMETERS, "job_parameters"):
        if len(orjson.dumps(request.get(field))) > _MOST_PARAMETERS:
            raise invalid_parameter(
                f"The JSON representation of {field} has at most {_MOST_PARAMETERS} bytes."
            )
    return request


PARAMETERS = ("python_params", "jar_params", "notebook_params", "python_named_params", "sql_params")


def job_parameters(settings: Document, body: Document) -> list[dict[str, str]]:
    """Return the parameters of a job with the values of a request. Raises ApiError for unknown ones."""
    given = dict(body.get("job_parameters") or {})
    declared = settings.get("parameters") or []
    values = [
        {
            "name": each["name"],
            "default": str(each.get("default", "")),
            "value": given.pop(each["name"], str(each.get("default", ""))),
        }
        for each in declared
    ]
    if given:
        raise invalid_parameter(f"The job has no parameter '{min(given)}'.")
    return values


def given_parameters(body: Document) -> Document:
    """Return the parameters of the request's old kinds, which override those of the tasks."""
    return {name: body[name] for name in PARAMETERS if body.get(name)}


def with_overrides(settings: Document, body: Document) -> Document:
    """Return the settings with the parameters of the request's old kind in every task that takes them."""
    given = given_parameters(body)
    if not given:
        return settings
    if settings.get("parameters"):
        raise invalid_parameter(f"The job has job parameters, so the run cannot have {min(given)}.")
    tasks = [_with_overrides(task, given) for task in settings.get("tasks") or ()]
    return {**settings, "tasks": tasks}


def _with_overrides(task: Document, given: Document) -> Document:
    changed = dict(task)
    for kind in ("spark_python_task", "python_wheel_task"):
        if kind in task and "python_params" in given:
            changed[kind] = {**task[kind], "parameters": given["python_params"]}
    if "python_wheel_task" in task and "python_named_params" in given:
        named = {"named_parameters": given["python_named_params"]}
        changed["python_wheel_task"] = {**task["python_wheel_task"], **named}
    for kind, field, name in _MERGED:
        if kind in task and name in given:
            changed[kind] = {**task[kind], field: {**(task[kind].get(field) or {}), **given[name]}}
    return changed


# Tasks whose parameters of the request are added to their own: kind, its field, field of the request.
_MERGED = (
    ("notebook_task", "base_parameters", "notebook_params"),
    ("sql_task", "parameters", "sql_params"),
)
_SELECTIONS = {
    "refresh_selection": "refresh",
    "full_refresh_selection": "full_refresh",
    "reset_checkpoint_selection": "reset_checkpoints",
}


def pipeline_flags(given: Mapping[str, Any]) -> Document:
    """Return the selection of `pipeline_params` as the updates of the run get it."""
    flags: Document = {flag: given[name] for name, flag in _SELECTIONS.items() if given.get(name)}
    return {**flags, "full_refresh_all": True} if given.get("full_refresh") else flags


ROUTES = (
    *jobs_routes("POST", "jobs/run-now", run_now),
    *jobs_routes("POST", "jobs/runs/submit", submit),
    *jobs_routes("POST", "jobs/runs/repair", repair),
)
