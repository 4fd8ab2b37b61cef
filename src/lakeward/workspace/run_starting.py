"""Runs of jobs begin: at once or when there is room, and carried out in the background.

Source: https://docs.databricks.com/api/workspace/jobs/runnow and its siblings.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

from lakeward.standins.local_workspace import Failure
from lakeward.workspace import run_states
from lakeward.workspace.call import Office, ServerCall, now
from lakeward.workspace.jobs import job_of, settings_of
from lakeward.workspace.orders import job_order
from lakeward.workspace.permissions import require
from lakeward.workspace.run_views import run_of
from lakeward.workspace.store import Document
from lakeward.workspace.task_updates import TaskUpdates
from lakeward.workspace.worker import Ending

__all__ = ["fire", "repair", "run_now", "submit"]

_one_at_a_time = threading.Lock()
_PARAMETERS = ("python_params", "jar_params", "notebook_params", "python_named_params", "sql_params")


def run_now(call: ServerCall) -> Any:
    """Start a run of a job; it waits or is skipped where as many run as may."""
    job = job_of(call, call.given("job_id"))
    job_id, settings = job["job_id"], job["settings"]
    require(call, "jobs", str(job_id), "CAN_MANAGE_RUN")
    parameters = _parameters(settings, call.body)
    only = call.body.get("only") or []
    known = {task["task_key"] for task in settings.get("tasks") or ()}
    unknown = [key for key in only if key not in known]
    if unknown:
        raise Failure(400, "INVALID_PARAMETER_VALUE", f"The job has no task '{unknown[0]}'.")
    return _started(
        call,
        _with_overrides(settings, call.body),
        job_id=job_id,
        run_type="JOB_RUN",
        job_parameters=parameters,
        only=only,
        flags=_flags(call.body.get("pipeline_params") or {}),
        trigger="ONE_TIME",
    )


def fire(call: ServerCall, job: Document, cause: str) -> None:
    """Start a run of a job because its trigger says so."""
    settings = job["settings"]
    _started(
        call,
        settings,
        job_id=job["job_id"],
        run_type="JOB_RUN",
        job_parameters=_parameters(settings, {}),
        trigger=cause,
    )


def submit(call: ServerCall) -> Any:
    """Start a run of tasks that belong to no job."""
    body = {**call.body, "name": call.body.get("run_name") or "Untitled"}
    settings = settings_of(body)
    if not settings.get("tasks"):
        raise Failure(400, "INVALID_PARAMETER_VALUE", "There is no task to run.")
    return _started(call, settings, job_id=0, run_type="SUBMIT_RUN", trigger="ONE_TIME")


def repair(call: ServerCall) -> Any:
    """Run some tasks of a run that has ended once more, with those that depend on them if asked to."""
    run = run_of(call, call.given("run_id"), "CAN_MANAGE_RUN")
    if run_states.is_active(run):
        raise Failure(400, "INVALID_STATE", "A run that goes on cannot be repaired.")
    keys = {str(key) for key in call.body.get("rerun_tasks") or ()}
    known = {task["task_key"] for task in run["tasks"]}
    if keys - known:
        raise Failure(400, "INVALID_PARAMETER_VALUE", f"The run has no task '{min(keys - known)}'.")
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
        raise Failure(400, "INVALID_PARAMETER_VALUE", "No task is to be repaired.")
    repair_id = call.store.number()
    given = {str(name): str(value) for name, value in (call.body.get("job_parameters") or {}).items()}

    def edit(body: Document) -> None:
        run_states.repair(body, keys, numbers=call.store.number, repair_id=repair_id, at=now())
        for parameter in body.get("job_parameters") or ():
            parameter["value"] = given.get(parameter["name"], parameter["value"])

    changed = call.store.change("run", run["run_id"], edit, active=True)
    assert changed is not None
    _note_tasks(call.office, changed)
    _launch(call, changed)
    return {"repair_id": repair_id}


def _launch(call: ServerCall, run: Document) -> None:
    """Let a run begin that is known as active."""
    office, run_id = call.office, run["run_id"]
    attempt = len(run.get("repair_history") or [1]) - 1
    settings = call.environment.settings()

    updates = TaskUpdates(office.store, run_id)

    def hear(event: Mapping[str, Any]) -> None:
        if "step" in event:
            step = event["step"]
            updates.hear(step["task"], step["pipeline"], step["progress"])
        elif "task" in event:
            updates.task_changed(event["task"], event["state"], event["update"])
            office.store.change(
                "run",
                run_id,
                lambda body: run_states.task_changed(body, event["task"], event["state"], now()),
            )

    def ended(ending: Ending) -> None:
        updates.close(canceled=ending.canceled, reason=ending.reason or "The run is over.")
        office.store.change("run", run_id, lambda body: run_states.finish(body, ending, now()), active=False)
        _start_queued(call, run["job_id"])

    office.runner.start(
        run_id,
        job_order(office.store, settings, run, host=office.host),
        began=lambda: _void(office.store.change("run", run_id, lambda body: run_states.begin(body, now()))),
        hear=hear,
        ended=ended,
        timeout=run["settings"].get("timeout_seconds") or None,
        folder=office.runner.folder_of(run_id) / str(attempt),
    )


def _void(_: object) -> None:
    """For a callback whose value nobody wants."""


def _started(call: ServerCall, settings: Document, *, job_id: int, **facts: Any) -> dict[str, Any]:
    token = call.body.get("idempotency_token")
    with _one_at_a_time:
        known = call.store.get("idempotency", token) if token else None
        if known is not None:
            return dict(known)
        run_id = call.store.number()
        run = run_states.new_run(
            run_id,
            settings,
            numbers=call.store.number,
            at=now(),
            job_id=job_id,
            creator_user_name=call.asker,
            **facts,
        )
        going = len(call.store.find("run", parent=job_id, active=True)) if job_id else 0
        full = bool(job_id) and going >= int(settings.get("max_concurrent_runs") or 1)
        queue = (settings.get("queue") or {}).get("enabled", False)
        if full:
            _full(run, queue=queue)
        call.store.put("run", run_id, run, parent=job_id, active=not full or queue)
        _note_tasks(call.office, run)
        answer = {"run_id": run_id, "number_in_job": run_id}
        if token:
            call.store.put("idempotency", token, answer)
    if not full:
        _launch(call, run)
    return answer


def _full(run: Document, *, queue: bool) -> None:
    """As many runs go on as may: this one waits, or is skipped."""
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


def _start_queued(call: ServerCall, job_id: int) -> None:
    if not job_id:
        return
    with _one_at_a_time:
        active = call.store.find("run", parent=job_id, active=True)
        queued = [run for run in active if run["state"]["life_cycle_state"] == "QUEUED"]
        if not queued or len(active) - len(queued) >= int(
            queued[0]["settings"].get("max_concurrent_runs") or 1
        ):
            return
        run = queued[0]
        call.store.change(
            "run",
            run["run_id"],
            lambda body: body.update(state={"life_cycle_state": "PENDING", "state_message": ""}),
        )
    _launch(call, run)


def _note_tasks(office: Office, run: Document) -> None:
    for task in run["tasks"]:
        office.store.put("task_run", task["run_id"], {"run_id": run["run_id"]}, parent=run["run_id"])


def _parameters(settings: Document, body: Document) -> list[dict[str, str]]:
    given = {str(name): str(value) for name, value in (body.get("job_parameters") or {}).items()}
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
        raise Failure(400, "INVALID_PARAMETER_VALUE", f"The job has no parameter '{min(given)}'.")
    return values


def _with_overrides(settings: Document, body: Document) -> Document:
    """The settings with the parameters of the request's old kind in every task that takes them."""
    given = {name: body[name] for name in _PARAMETERS if body.get(name)}
    if not given:
        return settings
    if settings.get("parameters"):
        message = f"The job has job parameters, so the run cannot have {min(given)}."
        raise Failure(400, "INVALID_PARAMETER_VALUE", message)
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
        tasks.append(changed)
    return {**settings, "tasks": tasks}


def _flags(given: Mapping[str, Any]) -> dict[str, Any]:
    return {"full_refresh_all": True} if given.get("full_refresh") else {}
