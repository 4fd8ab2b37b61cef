"""Routes that start runs: run-now, submit and repair.

Runs beyond the limit of their job are queued or skipped.

Source: https://docs.databricks.com/api/workspace/jobs/runnow and its siblings.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any

import orjson

from lakeward.databricks_shims.local_workspace import ApiError
from lakeward.workspace.api.jobs import job_of, jobs_routes, settings_of
from lakeward.workspace.api.permissions import access_control_list, require
from lakeward.workspace.api.request_types import parse_object
from lakeward.workspace.api.run_views import run_of
from lakeward.workspace.context import ServerContext, ServerRequest
from lakeward.workspace.runs import run_state
from lakeward.workspace.runs.run_process import ProcessResult
from lakeward.workspace.runs.run_spec import build_job_run_spec
from lakeward.workspace.runs.update_recorder import TaskUpdates
from lakeward.workspace.state.store import Document, Store, now

_one_at_a_time = threading.Lock()
_PARAMETERS = ("python_params", "jar_params", "notebook_params", "python_named_params", "sql_params")
_LONGEST_TOKEN, _MOST_PARAMETERS = 64, 10_000


def run_now(call: ServerRequest) -> Any:
    """Start a run of a job; it is queued or skipped at the job's limit of concurrent runs."""
    job = job_of(call, call.required("job_id"))
    job_id, settings = job["job_id"], job["settings"]
    require(call, "jobs", str(job_id), "CAN_MANAGE_RUN")
    request = _request(call, "jobs/run-now")
    parameters = _parameters(settings, request)
    only = request.get("only") or []
    known = {task["task_key"] for task in settings.get("tasks") or ()}
    unknown = [key for key in only if key not in known]
    if unknown:
        raise ApiError(400, "INVALID_PARAMETER_VALUE", f"The job has no task '{unknown[0]}'.")
    overridden = _with_overrides(settings, request)
    if "queue" in request:
        overridden = {**overridden, "queue": request["queue"]}
    return _started(
        call,
        overridden,
        job_id=job_id,
        run_type="JOB_RUN",
        job_parameters=parameters,
        overriding_parameters=_given_parameters(request),
        only=only,
        flags=_flags(request.get("pipeline_params") or {}),
        trigger="ONE_TIME",
        token=request.get("idempotency_token"),
    )


def trigger_run(call: ServerRequest, job: Document, cause: str) -> None:
    """Start a run of a job for its trigger."""
    settings = job["settings"]
    _started(
        call,
        settings,
        job_id=job["job_id"],
        run_type="JOB_RUN",
        job_parameters=_parameters(settings, {}),
        trigger=cause,
    )


def submit(call: ServerRequest) -> Any:
    """Start a run of tasks that belong to no job."""
    request = _request(call, "jobs/runs/submit")
    acl = access_control_list(call, "jobs", request.get("access_control_list"))
    settings = settings_of({**request, "name": request.get("run_name") or "Untitled"})
    if not settings.get("tasks"):
        raise ApiError(400, "INVALID_PARAMETER_VALUE", "The run has no tasks.")
    token = request.get("idempotency_token")
    return _started(
        call,
        settings,
        job_id=0,
        run_type="SUBMIT_RUN",
        trigger="ONE_TIME",
        token=token,
        access_control_list=acl,
    )


def repair(call: ServerRequest) -> Any:
    """Run tasks of an ended run again, on request with the tasks that depend on them."""
    run = run_of(call, call.required("run_id"), "CAN_MANAGE_RUN")
    _refuse_active(run)
    request = _request(call, "jobs/runs/repair")
    keys = set(request.get("rerun_tasks") or ())
    known = {task["task_key"] for task in run["tasks"]}
    if keys - known:
        raise ApiError(400, "INVALID_PARAMETER_VALUE", f"The run has no task '{min(keys - known)}'.")
    if call.flag("rerun_all_failed_tasks"):
        done = ("SUCCESS", "EXCLUDED", "DISABLED")
        keys |= {task["task_key"] for task in run["tasks"] if task["state"].get("result_state") not in done}
    if call.flag("rerun_dependent_tasks"):
        while more := {
            task["task_key"]
            for task in run["tasks"]
            if task["task_key"] not in keys and any(edge["task_key"] in keys for edge in task["depends_on"])
        }:
            keys |= more
    if not keys:
        raise ApiError(400, "INVALID_PARAMETER_VALUE", "No task to repair was specified.")
    repair_id = call.store.number()
    given = request.get("job_parameters") or {}
    overriding = _given_parameters(request)
    settings = _with_overrides(run["settings"], request)

    def edit(body: Document) -> None:
        # Again, on the run as it is now: another client may have repaired it since it was read.
        _refuse_active(body)
        run_state.repair(body, keys, numbers=call.store.number, repair_id=repair_id, at=now())
        for parameter in body.get("job_parameters") or ():
            parameter["value"] = given.get(parameter["name"], parameter["value"])
        if overriding:
            body.update(settings=settings, overriding_parameters=overriding)
        if "pipeline_params" in request:
            body["flags"] = _flags(request["pipeline_params"])

    changed = call.store.change("run", run["run_id"], edit, active=True)
    assert changed is not None
    _note_tasks(call.context, changed)
    _launch(call, changed)
    return {"repair_id": repair_id}


def _refuse_active(run: Document) -> None:
    if run_state.is_active(run):
        raise ApiError(400, "INVALID_STATE", "A run that is active cannot be repaired.")


def _launch(call: ServerRequest, run: Document) -> None:
    """Start a run that is recorded as active. A run that cannot be started ends with the reason."""
    context, run_id = call.context, run["run_id"]
    attempt = len(run.get("repair_history") or [1]) - 1
    updates = TaskUpdates(context.store, run_id)

    def began() -> bool:
        changed = context.store.change("run", run_id, _begin, retry=True)
        return changed is None or run_state.is_active(changed)

    def on_event(event: Mapping[str, Any]) -> None:
        if "step" in event:
            step = event["step"]
            updates.on_event(step["task"], step["pipeline"], step["progress"])
        elif "task" in event:
            updates.task_changed(event["task"], event["state"], event["update"])
            context.store.change(
                "run",
                run_id,
                lambda body: run_state.task_changed(body, event["task"], event["state"], now()),
                retry=True,
            )

    def ended(ending: ProcessResult) -> None:
        try:
            updates.close(canceled=ending.canceled, reason=ending.reason or "The run is over.")
        except Exception as error:  # noqa: BLE001  # the run itself has to end
            context.report_fault(error)
        _finish(call, run, ending)

    try:
        context.runner.start(
            run_id,
            build_job_run_spec(context.store, call.environment.settings(), run, host=context.host),
            began=began,
            on_event=on_event,
            ended=ended,
            timeout=run["settings"].get("timeout_seconds") or None,
            folder=context.runner.folder_of(run_id) / str(attempt),
        )
    except Exception as error:  # noqa: BLE001  # the run is recorded: it has to end
        context.report_fault(error)
        reason = f"The run could not be started: {type(error).__name__}: {error}"
        _finish(call, run, ProcessResult(None, reason, internal=True))


def _begin(run: Document) -> None:
    # It may have been canceled between its recording and its turn.
    if run_state.is_active(run):
        run_state.begin(run, now())


def _finish(call: ServerRequest, run: Document, ending: ProcessResult) -> None:
    """Record the end of a run, whatever its result contains, and start the next one in its queue."""
    store, run_id = call.store, run["run_id"]
    try:
        _change_finally(store, run_id, lambda body: run_state.finish(body, ending, now()))
    except Exception as error:  # noqa: BLE001  # a result of whatever content
        call.context.report_fault(error)
        reason = f"The result of the run cannot be read: {type(error).__name__}: {error}"
        _change_finally(store, run_id, lambda body: run_state.abandon(body, reason, now()))
    start_queued(call, run["job_id"])


def _change_finally(store: Store, run_id: int, edit: Callable[[Document], None]) -> None:
    store.change("run", run_id, edit, active=False, retry=True)


def _request(call: ServerRequest, name: str) -> Document:
    """Return the request by its types. Raises ApiError for one that the platform refuses."""
    request = parse_object(call.body, name)
    if len(request.get("idempotency_token") or "") > _LONGEST_TOKEN:
        message = f"idempotency_token has at most {_LONGEST_TOKEN} characters."
        raise ApiError(400, "INVALID_PARAMETER_VALUE", message)
    for field in (*_PARAMETERS, "job_parameters"):
        if len(orjson.dumps(request.get(field))) > _MOST_PARAMETERS:
            message = f"The JSON representation of {field} has at most {_MOST_PARAMETERS} bytes."
            raise ApiError(400, "INVALID_PARAMETER_VALUE", message)
    return request


def _started(
    call: ServerRequest, settings: Document, *, job_id: int, token: str | None = None, **facts: Any
) -> dict[str, Any]:
    # A token is one of its job or, for a submitted run, of its user.
    key = f"job/{job_id}/{token}" if job_id else f"user/{call.caller}/{token}"
    with _one_at_a_time:
        known = call.store.get("idempotency", key) if token else None
        if known is not None:
            if call.store.get("run", known["run_id"]) is None:
                message = f"The run {known['run_id']} of this idempotency_token was deleted."
                raise ApiError(400, "INVALID_PARAMETER_VALUE", message)
            return dict(known)
        run_id = call.store.number()
        run = run_state.new_run(
            run_id,
            settings,
            numbers=call.store.number,
            at=now(),
            job_id=job_id,
            creator_user_name=call.caller,
            **facts,
        )
        going = len(call.store.find("run", parent=job_id, active=True)) if job_id else 0
        full = bool(job_id) and going >= _most_runs(settings)
        queue = (settings.get("queue") or {}).get("enabled", False)
        if full:
            _full(run, queue=queue)
        call.store.put("run", run_id, run, parent=job_id, active=not full or queue)
        _note_tasks(call.context, run)
        answer = {"run_id": run_id, "number_in_job": run_id}
        if token:
            call.store.put("idempotency", key, answer, retry=True)
    if not full:
        _launch(call, run)
    return answer


def _most_runs(settings: Document) -> int:
    return int(settings.get("max_concurrent_runs", 1))


def _full(run: Document, *, queue: bool) -> None:
    """Queue or skip a run that exceeds the limit of concurrent runs."""
    message = "The maximum number of concurrent runs has been reached."
    if queue:
        run["state"] = {"life_cycle_state": "QUEUED", "state_message": message}
        return
    for each in (run, *run["tasks"]):
        each["state"] = {
            "life_cycle_state": "SKIPPED",
            "result_state": "MAXIMUM_CONCURRENT_RUNS_REACHED",
            "state_message": message,
        }
        each["end_time"] = run["start_time"]


def start_queued(call: ServerRequest, job_id: int) -> None:
    """Start the oldest queued run of a job if its concurrency limit allows it."""
    if not job_id:
        return
    with _one_at_a_time:
        active = call.store.find("run", parent=job_id, active=True)
        queued = [run for run in active if run["state"]["life_cycle_state"] == "QUEUED"]
        if not queued or len(active) - len(queued) >= _most_runs(queued[0]["settings"]):
            return
        run = queued[0]
        call.store.change(
            "run",
            run["run_id"],
            lambda body: body.update(state={"life_cycle_state": "PENDING", "state_message": ""}),
            retry=True,
        )
    _launch(call, run)


def _note_tasks(context: ServerContext, run: Document) -> None:
    for task in run["tasks"]:
        context.store.put(
            "task_run", task["run_id"], {"run_id": run["run_id"]}, parent=run["run_id"], retry=True
        )


def _parameters(settings: Document, body: Document) -> list[dict[str, str]]:
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
        raise ApiError(400, "INVALID_PARAMETER_VALUE", f"The job has no parameter '{min(given)}'.")
    return values


def _given_parameters(body: Document) -> Document:
    """Return the parameters of the request's old kinds, which override those of the tasks."""
    return {name: body[name] for name in _PARAMETERS if body.get(name)}


def _with_overrides(settings: Document, body: Document) -> Document:
    """Return the settings with the parameters of the request's old kind in every task that takes them."""
    given = _given_parameters(body)
    if not given:
        return settings
    if settings.get("parameters"):
        message = f"The job has job parameters, so the run cannot have {min(given)}."
        raise ApiError(400, "INVALID_PARAMETER_VALUE", message)
    tasks = []
    for task in settings.get("tasks") or ():
        changed = dict(task)
        for kind in ("spark_python_task", "python_wheel_task"):
            if kind in task and "python_params" in given:
                changed[kind] = {**task[kind], "parameters": given["python_params"]}
        if "python_wheel_task" in task and "python_named_params" in given:
            changed["python_wheel_task"] = {
                **task["python_wheel_task"],
                "named_parameters": given["python_named_params"],
            }
        if "notebook_task" in task and "notebook_params" in given:
            merged = {**(task["notebook_task"].get("base_parameters") or {}), **given["notebook_params"]}
            changed["notebook_task"] = {**task["notebook_task"], "base_parameters": merged}
        if "sql_task" in task and "sql_params" in given:
            merged = {**(task["sql_task"].get("parameters") or {}), **given["sql_params"]}
            changed["sql_task"] = {**task["sql_task"], "parameters": merged}
        tasks.append(changed)
    return {**settings, "tasks": tasks}


_SELECTIONS = {
    "refresh_selection": "refresh",
    "full_refresh_selection": "full_refresh",
    "reset_checkpoint_selection": "reset_checkpoints",
}


def _flags(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the selection of `pipeline_params` as the updates of the run get it."""
    flags: dict[str, Any] = {flag: given[name] for name, flag in _SELECTIONS.items() if given.get(name)}
    return {**flags, "full_refresh_all": True} if given.get("full_refresh") else flags


ROUTES = (
    *jobs_routes("POST", "jobs/run-now", run_now),
    *jobs_routes("POST", "jobs/runs/submit", submit),
    *jobs_routes("POST", "jobs/runs/repair", repair),
)
