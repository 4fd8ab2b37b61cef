"""Lookup of runs by id, and their representation in responses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lakeward.databricks_shims.local_workspace import ApiError, ApiResponse, Route, invalid_parameter
from lakeward.run_files import dbt_artifacts_file
from lakeward.workspace.api.permissions import has_permission, is_admin, is_granted
from lakeward.workspace.context import ServerRequest
from lakeward.workspace.runs.run_log import read_log
from lakeward.workspace.runs.run_state import history_of, is_active
from lakeward.workspace.state.store import Document
from lakeward.workspace.warehouse.result_links import RESULTS_PATH

# The fields of a task's settings that runs repeat.
_SETTINGS = (
    *("notebook_task", "spark_python_task", "python_wheel_task", "pipeline_task", "sql_task", "run_job_task"),
    *(
        "alert_task",
        "dashboard_task",
        "dbt_task",
        "condition_task",
        "for_each_task",
        "environment_key",
        "job_cluster_key",
        "existing_cluster_id",
    ),
    *("run_if", "libraries", "timeout_seconds", "disabled"),
)
_CODES = {"SUCCESS": "SUCCESS", "CANCELED": "USER_CANCELED", "TIMEDOUT": "RUN_EXECUTION_ERROR"}


def run_of(call: ServerRequest, run_id: str, level: str = "CAN_VIEW") -> Document:
    """Return a run by its id or by that of one of its tasks.

    Raises ApiError for one that does not exist, and where the user does not have this level on its job.
    """
    run = call.store.get("run", run_id) if run_id.isdecimal() else None
    if run is None and run_id.isdecimal():
        task = call.store.get("task_run", run_id)
        run = call.store.get("run", task["run_id"]) if task else None
    if run is None:
        raise invalid_parameter(f"Run {run_id} does not exist.")
    if not may_see(call, run, level):
        raise ApiError(
            403, "PERMISSION_DENIED", f"{call.caller} does not have {level} permission on the run."
        )
    return run


def find_task(run: Document, run_id: str) -> Document | None:
    """Return the task of a run id; None for that of the whole run."""
    return next((each for each in run["tasks"] if str(each["run_id"]) == run_id), None)


def task_settings(run: Document, task: Document) -> Document:
    """Return the settings of a task in those of its run."""
    return next((each for each in run["settings"]["tasks"] if each["task_key"] == task["task_key"]), {})


def task_of(run: Document, run_id: str, action: str) -> Document:
    """Return the task of a run id. Raises ApiError where it is that of a run with several tasks.

    `action` begins the message: `Retrieving the output of runs`.
    """
    task = find_task(run, run_id)
    if task is None and len(run["tasks"]) != 1:
        raise invalid_parameter(
            f"{action} with multiple tasks is not supported. "
            "Please retrieve the output of each individual task run instead."
        )
    first: Document = task or run["tasks"][0]
    return first


def may_see(call: ServerRequest, run: Document, level: str = "CAN_VIEW") -> bool:
    """Return whether a run is listed for the user, or whether the user has a higher level on it."""
    if is_admin(call):
        # Clients poll each run: the job need not be read for those who may do everything.
        return True
    if run["job_id"] and call.store.get("job", run["job_id"]) is not None:
        return has_permission(call, "jobs", str(run["job_id"]), level)
    # Without a job, the creator has all levels, others have those of the run's list.
    if run["creator_user_name"] == call.caller:
        return True
    return is_granted(call, "jobs", run.get("access_control_list") or (), level)


def view(call: ServerRequest, run: Document, *, tasks: bool = True, history: bool = False) -> Document:
    """Return a run as the API shows it."""
    run_id, job_id = run["run_id"], run["job_id"]
    shown = {
        "run_id": run_id,
        # A submitted run has a job of its own on the platform, which no list of jobs contains.
        "job_id": job_id or run_id,
        "number_in_job": run_id,
        "original_attempt_run_id": run_id,
        "creator_user_name": run["creator_user_name"],
        "run_name": run["run_name"],
        "run_type": run["run_type"],
        "run_page_url": f"{call.host}/#job/{job_id}/run/{run_id}",
        "format": "MULTI_TASK",
        "trigger": run.get("trigger"),
        "job_parameters": run.get("job_parameters") or [],
        "status": _status(run["state"]),
        **_times(run),
    }
    if tasks:
        by_key = {task["task_key"]: task for task in run["settings"].get("tasks") or ()}
        shown["tasks"] = [
            {
                **{
                    name: by_key[task["task_key"]][name]
                    for name in _SETTINGS
                    if name in by_key[task["task_key"]]
                },
                **{name: task[name] for name in ("run_id", "task_key", "attempt_number", "depends_on")},
                "run_page_url": f"{call.host}/#job/{job_id}/run/{task['run_id']}",
                "status": _status(task["state"]),
                **_times(task),
            }
            for task in run["tasks"]
        ]
    if history and run.get("repair_history"):
        shown["repair_history"] = history_of(run)
    if run.get("overriding_parameters"):
        shown["overriding_parameters"] = run["overriding_parameters"]
    return shown


def output_of(call: ServerRequest, run: Document, task: Document) -> Document:
    """Return the result of a task."""
    folder = call.context.runner.folder_of(run["run_id"]) / task["log"]
    text, _, more = read_log(folder, task["task_key"])
    shown = view(call, run, tasks=False)
    shown.update(run_id=task["run_id"], task_key=task["task_key"], **_times(task))
    answer: Document = {"metadata": shown, "logs": text, "logs_truncated": more}
    if task.get("error"):
        answer["error"] = task["error"]
        answer["error_trace"] = task.get("trace") or text[-4096:]
    settings = task_settings(run, task)
    if "notebook_task" in settings:
        answer["notebook_output"] = {"result": task.get("notebook_result") or "", "truncated": False}
    if "alert_task" in settings and task.get("notebook_result"):
        answer["alert_output"] = {"alert_state": task["notebook_result"]}
    if "dbt_task" in settings:
        answer["dbt_output"] = dbt_output(call, str(run["run_id"]), task["task_key"])
    return answer


def _times(run: Mapping[str, Any]) -> Document:
    begin, end = run["start_time"], run["end_time"]
    # The clock may have been set back meanwhile.
    took = max(0, end - begin) if begin and end else 0
    state = {
        **run["state"],
        "user_cancelled_or_timedout": run["state"].get("result_state") in ("CANCELED", "TIMEDOUT"),
    }
    return {
        "state": state,
        "start_time": begin,
        "end_time": end,
        "setup_duration": 0,
        "execution_duration": took,
        "cleanup_duration": 0,
        "run_duration": took,
    }


def _status(state: Mapping[str, Any]) -> Document:
    if is_active({"state": state}):
        return {"state": state["life_cycle_state"].removesuffix("_FOR_RETRY")}
    result = state.get("result_state")
    code = _CODES.get(str(result), "RUN_EXECUTION_ERROR")
    if state["life_cycle_state"] == "INTERNAL_ERROR" and code != "SUCCESS":
        code = "INTERNAL_ERROR" if result is None else code
    kind = "SUCCESS" if code == "SUCCESS" else "CLIENT_ERROR"
    return {
        "state": "TERMINATED",
        "termination_details": {"code": code, "type": kind, "message": state.get("state_message", "")},
    }


_ARTIFACTS = "dbt/"


def dbt_output(call: ServerRequest, run_id: str, task_key: str) -> Document:
    """Return the link to the artifacts of a task, which needs no headers; {} before there are any."""
    if not dbt_artifacts_file(call.environment.settings().jobs, run_id, task_key).is_file():
        return {}
    links = call.context.result_links.link(call.host, f"{_ARTIFACTS}{run_id}/{task_key}")
    return {"artifacts_link": links["external_link"], "artifacts_headers": {}}


def download_artifacts(call: ServerRequest) -> ApiResponse:
    """Return the archive to a request with a signed link.

    Source: https://docs.databricks.com/api/workspace/jobs/getrunoutput (dbt_output)
    """
    call.require_link(f"{_ARTIFACTS}{call.path_parameter}")
    run_id, _, task_key = call.path_parameter.partition("/")
    file = dbt_artifacts_file(call.environment.settings().jobs, run_id, task_key)
    return ApiResponse(file=file, headers={"Content-Type": "application/gzip", "Cache-Control": "no-store"})


ROUTES = (Route("GET", f"{RESULTS_PATH}{_ARTIFACTS}{{}}/{{}}", download_artifacts),)
