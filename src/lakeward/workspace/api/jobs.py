"""Jobs: create, read, change, delete. Source: https://docs.databricks.com/api/workspace/jobs"""

from __future__ import annotations

import re
from typing import Any

from lakeward.databricks_shims.local_workspace import Handler, Route, invalid_parameter, paginate
from lakeward.workspace.api.job_validation import check_settings
from lakeward.workspace.api.permissions import (
    access_control_list,
    delete_permissions,
    has_permission,
    is_admin,
    require,
    run_as_name,
)
from lakeward.workspace.api.request_types import parse_object
from lakeward.workspace.context import ServerRequest
from lakeward.workspace.state.store import Document, now

# Fields of a job of version 2.0, which has one task.
_SINGLE = (
    *("notebook_task", "spark_python_task", "python_wheel_task", "spark_jar_task", "spark_submit_task"),
    *("pipeline_task", "sql_task", "libraries", "existing_cluster_id", "new_cluster", "max_retries"),
    *("min_retry_interval_millis", "retry_on_timeout"),
)
# Of the request, not of the job.
_NO_SETTINGS = ("access_control_list", "idempotency_token", "run_name")


def create(call: ServerRequest) -> Document:
    """Create a job."""
    settings = settings_of(call.body)
    acl = access_control_list(call, call.body.get("access_control_list"))
    job_id = call.store.number()
    job = {
        "job_id": job_id,
        "creator_user_name": call.caller,
        "run_as_user_name": run_as_name(settings, call.caller),
        "created_time": now(),
        "settings": settings,
    }
    call.store.put("job", job_id, job)
    if acl:
        call.store.put("acl", f"jobs/{job_id}", {"entries": acl})
    return {"job_id": job_id}


def get(call: ServerRequest) -> Document:
    """Return a job with its settings."""
    job = job_of(call, call.required("job_id"))
    require(call, "jobs", str(job["job_id"]), "CAN_VIEW")
    return job


def list_jobs(call: ServerRequest) -> Document:
    """Return all jobs that the user may see, the newest first; their tasks only with `expand_tasks`."""
    jobs = [
        job
        for job in call.store.find("job", newest_first=True)
        if has_permission(call, "jobs", str(job["job_id"]), "CAN_VIEW")
    ]
    name = call.query.get("name")
    if name:
        jobs = [job for job in jobs if str(job["settings"].get("name")).lower() == name.lower()]
    if not call.flag("expand_tasks"):
        for job in jobs:
            job["settings"].pop("tasks", None)
    answer = paginate(call, jobs, "jobs")
    return {**answer, "has_more": "next_page_token" in answer}


def reset(call: ServerRequest) -> None:
    """Replace the settings of a job; without `run_as` it keeps its own."""
    job_id = call.required("job_id")
    given = parse_object(call.body, "jobs/reset").get("new_settings")
    if given is None:
        raise invalid_parameter("Missing required field: new_settings")
    settings = settings_of(given)
    _require_manager(call, job_id)

    def edit(job: Document) -> None:
        if "run_as" not in settings and "run_as" in job["settings"]:
            settings["run_as"] = job["settings"]["run_as"]
        job["settings"] = settings
        job["run_as_user_name"] = run_as_name(settings, job["run_as_user_name"])

    call.store.change("job", job_id, edit)


def _require_manager(call: ServerRequest, job_id: str) -> None:
    """Raise ApiError for a job that does not exist, and without CAN_MANAGE."""
    require(call, "jobs", str(job_of(call, job_id)["job_id"]), "CAN_MANAGE")


def update(call: ServerRequest) -> None:
    """Change some settings and remove others; lists such as tasks are merged by key."""
    job_id = call.required("job_id")
    _require_manager(call, job_id)
    request = parse_object(call.body, "jobs/update")
    given, gone = request.get("new_settings") or {}, request.get("fields_to_remove") or []

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
        job["run_as_user_name"] = run_as_name(settings, job["run_as_user_name"])

    call.store.change("job", job_id, edit)


def delete(call: ServerRequest) -> None:
    """Delete a job; its runs are kept."""
    job_id = call.required("job_id")
    # A damaged one can be deleted by an administrator alone.
    if not (is_admin(call) and call.store.is_damaged("job", job_id)):
        _require_manager(call, job_id)
    call.store.delete("job", job_id)
    delete_permissions(call, "jobs", job_id)


def job_of(call: ServerRequest, job_id: object) -> Document:
    """Return a job. Raises ApiError for one that does not exist, as the platform does."""
    if not str(job_id).isdecimal():
        raise invalid_parameter(f"{job_id} is not the id of a job.")
    job = call.store.get("job", job_id)
    if job is None:
        raise invalid_parameter(f"Job {job_id} does not exist.")
    return job


def settings_of(body: Document) -> Document:
    """Return the settings of a job as version 2.1 has them, with the platform's defaults.

    Raises ApiError for types and values that the platform refuses.
    """
    settings = {name: value for name, value in body.items() if name not in _NO_SETTINGS}
    single = {name: settings.pop(name) for name in _SINGLE if name in settings}
    if single and not settings.get("tasks"):
        key = re.sub(r"[^A-Za-z0-9_-]+", "_", str(settings.get("name") or "main"))[:100] or "main"
        settings["tasks"] = [{"task_key": key, **single}]
    settings = parse_object(settings, "jobs.JobSettings")
    settings.setdefault("name", "Untitled")
    settings.setdefault("format", "MULTI_TASK")
    settings.setdefault("max_concurrent_runs", 1)
    settings.setdefault("timeout_seconds", 0)
    settings.setdefault("email_notifications", {})
    check_settings(settings)
    return settings


_KEYS = {
    "tasks": "task_key",
    "job_clusters": "job_cluster_key",
    "environments": "environment_key",
    "parameters": "name",
}


def _merged(name: str, old: object, new: object) -> Any:
    field = _KEYS.get(name)
    if field is None or not isinstance(old, list) or not isinstance(new, list):
        return new
    by_key = {item.get(field): item for item in [*old, *new]}
    return list(by_key.values())


_VERSIONS = ("2.0", "2.1", "2.2")


def jobs_routes(method: str, path: str, handler: Handler, *, quick: bool = False) -> list[Route]:
    """Return the routes of a request of the Jobs API, which has the same path in every version."""
    return [Route(method, f"/api/{version}/{path}", handler, quick=quick) for version in _VERSIONS]


ROUTES = (
    *jobs_routes("POST", "jobs/create", create),
    *jobs_routes("GET", "jobs/get", get),
    *jobs_routes("GET", "jobs/list", list_jobs),
    *jobs_routes("POST", "jobs/update", update),
    *jobs_routes("POST", "jobs/reset", reset),
    *jobs_routes("POST", "jobs/delete", delete),
)
