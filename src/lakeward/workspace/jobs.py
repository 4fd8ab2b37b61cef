"""Jobs: create, read, change, delete. Source: https://docs.databricks.com/api/workspace/jobs"""

from __future__ import annotations

import re
from typing import Any

from lakeward.standins.local_workspace import Failure
from lakeward.workspace.call import ServerCall, now, page
from lakeward.workspace.permissions import forget, may, require
from lakeward.workspace.store import Document

__all__ = ["create", "delete", "get", "job_of", "list_jobs", "reset", "settings_of", "update"]

# What a job of the API's version 2.0 says beside its name, instead of in a list of tasks.
_SINGLE = (
    *("notebook_task", "spark_python_task", "python_wheel_task", "spark_jar_task", "spark_submit_task"),
    *("pipeline_task", "sql_task", "libraries", "existing_cluster_id", "new_cluster", "max_retries"),
    *("min_retry_interval_millis", "retry_on_timeout"),
)
_MOST_TASKS = 1000


def create(call: ServerCall) -> Any:
    """A new job."""
    settings = settings_of(call.body)
    job_id = call.store.number()
    acl = call.body.get("access_control_list")
    job = {
        "job_id": job_id,
        "creator_user_name": call.asker,
        "run_as_user_name": _run_as(settings, call.asker),
        "created_time": now(),
        "settings": settings,
    }
    call.store.put("job", job_id, job)
    if acl:
        entries = [*acl]
        if not any(entry.get("permission_level") == "IS_OWNER" for entry in entries):
            entries.append({"user_name": call.asker, "permission_level": "IS_OWNER"})
        call.store.put("acl", f"jobs/{job_id}", {"entries": entries})
    return {"job_id": job_id}


def get(call: ServerCall) -> Any:
    """A job with its settings."""
    job = job_of(call, call.given("job_id"))
    require(call, "jobs", str(job["job_id"]), "CAN_VIEW")
    return job


def list_jobs(call: ServerCall) -> Any:
    """All jobs that the user may see, the newest first; their tasks only with `expand_tasks`."""
    jobs = [
        job
        for job in call.store.find("job", newest_first=True)
        if may(call, "jobs", str(job["job_id"]), "CAN_VIEW")
    ]
    name = call.query.get("name")
    if name:
        jobs = [job for job in jobs if str(job["settings"].get("name")).lower() == name.lower()]
    if not call.flag("expand_tasks"):
        for job in jobs:
            job["settings"].pop("tasks", None)
    answer = page(call, jobs, "jobs")
    return {**answer, "has_more": "next_page_token" in answer}


def reset(call: ServerCall) -> None:
    """Other settings instead; without `run_as` the job keeps the one that it has."""
    job_id = call.given("job_id")
    settings = settings_of(call.body.get("new_settings") or {})
    require(call, "jobs", str(job_of(call, job_id)["job_id"]), "CAN_MANAGE")

    def edit(job: Document) -> None:
        if "run_as" not in settings and "run_as" in job["settings"]:
            settings["run_as"] = job["settings"]["run_as"]
        job["settings"] = settings
        job["run_as_user_name"] = _run_as(settings, job["run_as_user_name"])

    call.store.change("job", job_id, edit)


def update(call: ServerCall) -> None:
    """Some settings changed, some removed; lists of tasks and the like are merged by their keys."""
    job_id = call.given("job_id")
    require(call, "jobs", str(job_of(call, job_id)["job_id"]), "CAN_MANAGE")
    given, gone = call.body.get("new_settings") or {}, call.body.get("fields_to_remove") or []

    def edit(job: Document) -> None:
        settings = job["settings"]
        for name, value in given.items():
            settings[name] = _merged(name, settings.get(name), value)
        for path in gone:
            name, _, key = str(path).partition("/")
            field = _KEYS.get(name)
            if key and field:
                settings[name] = [item for item in settings.get(name) or () if item.get(field) != key]
            else:
                settings.pop(name, None)
        job["settings"] = settings_of(settings)

    call.store.change("job", job_id, edit)


def delete(call: ServerCall) -> None:
    """Forget a job; its runs stay known."""
    job_id = call.given("job_id")
    require(call, "jobs", str(job_of(call, job_id)["job_id"]), "CAN_MANAGE")
    call.store.delete("job", job_id)
    forget(call, "jobs", job_id)


def job_of(call: ServerCall, job_id: object) -> Document:
    """A job. Raises Failure for one that does not exist, as the platform does."""
    if not str(job_id).isdecimal():
        raise Failure(400, "INVALID_PARAMETER_VALUE", f"{job_id} is not the id of a job.")
    job = call.store.get("job", job_id)
    if job is None:
        raise Failure(400, "INVALID_PARAMETER_VALUE", f"Job {job_id} does not exist.")
    return job


def settings_of(body: Document) -> Document:
    """The settings of a job as version 2.1 has them, with what the platform adds.

    Raises Failure for tasks that cannot be told apart or depend on what is not there.
    """
    settings = {name: value for name, value in body.items() if name != "access_control_list"}
    single = {name: settings.pop(name) for name in _SINGLE if name in settings}
    if single and not settings.get("tasks"):
        key = re.sub(r"[^A-Za-z0-9_-]+", "_", str(settings.get("name") or "main")) or "main"
        settings["tasks"] = [{"task_key": key, **single}]
    settings.setdefault("name", "Untitled")
    settings.setdefault("format", "MULTI_TASK")
    settings.setdefault("max_concurrent_runs", 1)
    settings.setdefault("timeout_seconds", 0)
    settings.setdefault("email_notifications", {})
    tasks = settings.get("tasks") or []
    if not isinstance(tasks, list) or not all(isinstance(task, dict) for task in tasks):
        raise Failure(400, "MALFORMED_REQUEST", "`tasks` has to be a list of tasks.")
    if len(tasks) > _MOST_TASKS:
        raise Failure(400, "INVALID_PARAMETER_VALUE", f"A job has {_MOST_TASKS} tasks at most.")
    keys = [task.get("task_key") for task in tasks]
    if not all(keys):
        raise Failure(400, "INVALID_PARAMETER_VALUE", "Every task needs a task_key.")
    twice = next((key for key in keys if keys.count(key) > 1), None)
    if twice:
        raise Failure(400, "INVALID_PARAMETER_VALUE", f"Two tasks have the key '{twice}'.")
    for task in tasks:
        for edge in task.get("depends_on") or ():
            if edge.get("task_key") not in keys:
                message = (
                    f"Task '{task['task_key']}' depends on '{edge.get('task_key')}', which does not exist."
                )
                raise Failure(400, "INVALID_PARAMETER_VALUE", message)
    return settings


_KEYS = {
    "tasks": "task_key",
    "job_clusters": "job_cluster_key",
    "environments": "environment_key",
    "parameters": "name",
}


def _merged(name: str, old: Any, new: Any) -> Any:
    field = _KEYS.get(name)
    if field is None or not isinstance(old, list) or not isinstance(new, list):
        return new
    by_key = {item.get(field): item for item in [*old, *new]}
    return list(by_key.values())


def _run_as(settings: Document, otherwise: str) -> str:
    run_as = settings.get("run_as") or {}
    return str(run_as.get("user_name") or run_as.get("service_principal_name") or otherwise)
