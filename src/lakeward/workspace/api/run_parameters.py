"""Parameters of runs: those of the job, and those of a request that override the ones of tasks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lakeward.databricks_shims.local_workspace import invalid_parameter
from lakeward.workspace.state.store import Document

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


def pipeline_flags(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the selection of `pipeline_params` as the updates of the run get it."""
    flags: dict[str, Any] = {flag: given[name] for name, flag in _SELECTIONS.items() if given.get(name)}
    return {**flags, "full_refresh_all": True} if given.get("full_refresh") else flags
