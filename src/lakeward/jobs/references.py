"""Dynamic value references (`{{job.parameters.x}}`): what each stands for, and texts with them filled in.

Source: https://docs.databricks.com/aws/en/jobs/dynamic-value-references
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from lakeward.bundle import suggestion
from lakeward.errors import ConfigurationError
from lakeward.jobs.tasks.notebook import EXIT
from lakeward.jobs.tasks.sql import OUTPUT

__all__ = ["BY_HAND", "Origin", "of_input", "of_job", "of_task", "of_values", "parameters_of", "substituted"]

# `{{secrets/scope/key}}` is another language: it is resolved where the value is used.
_PART = r"[\w.\[\]-]|`[^`{}]*`"
_REFERENCE = re.compile(rf"\{{\{{\s*((?:[A-Za-z_]|`[^`{{}}]*`)(?:{_PART})*)\s*\}}\}}")

_PARAMETER = "job.parameters."

_NAMESPACES = ("job", "task", "tasks", "input", "workspace")
"""What begins otherwise is no reference but text, as on the platform."""


@dataclass(frozen=True)
class Origin:
    """Where a run comes from: what started it and when, and the workspace in which it is.

    `trigger` is the reference's word; `location` is the folder whose new files started the run. `task_runs`
    are the ids of its tasks' runs, where they have any.
    """

    trigger: str = "onetime"
    at: datetime | None = None
    location: str = ""
    workspace_id: str = ""
    workspace_url: str = ""
    task_runs: Mapping[str, str] = field(default_factory=dict)


BY_HAND = Origin()
"""A run that somebody started."""


def of_job(
    parameters: Mapping[str, str],
    *,
    job_id: int | str,
    job_name: str,
    run_id: str,
    started: datetime,
    origin: Origin = BY_HAND,
    repairs: int = 0,
) -> dict[str, str]:
    """Return the value of every reference that is known before any task has run.

    A parameter may be made of all the others: `default: "{{job.start_time.iso_date}}"`.
    """
    times = {f"job.start_time.{name}": text for name, text in _times(started).items()}
    times |= {f"job.trigger.time.{name}": text for name, text in _times(origin.at or started).items()}
    known = {
        "job.id": str(job_id),
        "job.name": job_name,
        "job.run_id": run_id,
        "job.repair_count": str(repairs),
        "job.trigger.type": origin.trigger,
        "job.trigger.file_arrival.location": origin.location,
        "workspace.id": origin.workspace_id,
        "workspace.url": origin.workspace_url,
        **times,
        # The names of before 2024, which go on working.
        "job_id": str(job_id),
        "parent_run_id": run_id,
        "start_date": times["job.start_time.iso_date"],
        "start_time": times["job.start_time.timestamp_ms"],
    }
    filled = {
        _PARAMETER + name: substituted(value, known, where=f"the parameter `{name}`", others=(_PARAMETER,))
        for name, value in parameters.items()
    }
    return {**known, **filled}


def parameters_of(known: Mapping[str, str]) -> dict[str, str]:
    """Return the parameters of the job whose references are `known`, filled in."""
    return {
        name.removeprefix(_PARAMETER): value for name, value in known.items() if name.startswith(_PARAMETER)
    }


def of_task(key: str, spec: Mapping[str, Any], *, run_id: str, execution: int) -> dict[str, str]:
    """Return what a task's own references stand for in its `execution`-th run."""
    return {
        "task.name": key,
        "task.run_id": run_id,
        "task.execution_count": str(execution),
        "task.notebook_path": str(spec.get("notebook_path") or ""),
        "task_key": key,
        "run_id": run_id,
        "task_retry_count": str(execution - 1),
    }


def of_input(value: Any) -> dict[str, str]:
    """Return what `{{input}}` and `{{input.key}}` stand for in the pass of a loop that has `value`."""
    found = {"input": _text(value)}
    if isinstance(value, Mapping):
        found |= {f"input.{key}": _text(each) for key, each in value.items()}
    return found


def of_values(values: Mapping[tuple[str, str], str]) -> dict[str, str]:
    """Return the references to what tasks have handed over: values by task and key, as JSON."""
    known = {}
    for (task, name), text in values.items():
        value = json.loads(text)
        if name == OUTPUT:
            known[f"tasks.{task}.output.rows"] = text
            first, row = value[0] if value else {}, f"tasks.{task}.output.first_row"
            known |= {f"{row}.{column}": _text(each) for column, each in first.items()}
        elif name != EXIT:
            known[f"tasks.{task}.values.{name}"] = _text(value)
    return known


def substituted(
    value: Any, known: Mapping[str, str], *, where: str, late: bool = False, others: tuple[str, ...] = ()
) -> Any:
    """Return `value` (mappings and lists included) with every dynamic reference replaced.

    With `late` those that are known only while the run goes on stay as they are, and always those that begin
    with one of `others`. Raises ConfigurationError(REFERENCE_UNKNOWN), naming `where`, for another reference
    that is not in `known`.

    >>> substituted(["--day={{job.parameters.day}}"], {"job.parameters.day": "3"}, where="task t")
    ['--day=3']
    """
    if isinstance(value, Mapping):
        return {
            key: substituted(child, known, where=where, late=late, others=others)
            for key, child in value.items()
        }
    if isinstance(value, list):
        return [substituted(child, known, where=where, late=late, others=others) for child in value]
    if not isinstance(value, str):
        return value

    def replacement(match: re.Match[str]) -> str:
        name = match[1].replace("`", "")
        if name in known:
            return known[name]
        if name.partition(".")[0] not in _NAMESPACES or name.startswith(others) or (late and _is_late(name)):
            return match[0]
        raise _unknown(name, known, where)

    return _REFERENCE.sub(replacement, value)


def _times(at: datetime) -> dict[str, str]:
    return {
        "iso_date": at.strftime("%Y-%m-%d"),
        "iso_datetime": at.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "iso_weekday": str(at.isoweekday()),
        "is_weekday": str(at.isoweekday() <= 5).lower(),
        "year": str(at.year),
        "month": str(at.month),
        "day": str(at.day),
        "hour": str(at.hour),
        "minute": str(at.minute),
        "second": str(at.second),
        "timestamp_ms": str(int(at.timestamp() * 1000)),
    }


def _is_late(name: str) -> bool:
    """Tell whether a reference is known only while the run goes on: of another task, or of a loop."""
    return name == "input" or name.startswith(("input.", "tasks."))


def _unknown(name: str, known: Mapping[str, str], where: str) -> ConfigurationError:
    if not _is_late(name):
        message = f"`{{{{{name}}}}}` in {where} is not a value of this job."
        in_use = [each for each in known if "." in each]
        next_step = suggestion(name, in_use, what="values")
        return ConfigurationError("REFERENCE_UNKNOWN", message, next_step=next_step)
    what, cure = (
        ("no task has set it", "The task has to run before.")
        if name.startswith("tasks.")
        else ("it is outside of a loop", "Only the task of a for_each_task has an input.")
    )
    message = f"`{{{{{name}}}}}` in {where} has no value: {what}."
    return ConfigurationError("REFERENCE_UNKNOWN", message, next_step=cure)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
