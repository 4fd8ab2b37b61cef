"""Job parameters and dynamic value references (`{{job.parameters.x}}`).

Source: https://docs.databricks.com/aws/en/jobs/dynamic-value-references and …/jobs/job-parameters
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from lakeward.bundle import suggestion
from lakeward.errors import ConfigurationError

__all__ = ["of_input", "references", "substituted", "values_of"]

# `{{secrets/scope/key}}` is another language: it is resolved where the value is used.
_REFERENCE = re.compile(r"\{\{\s*([A-Za-z_][\w.\[\]-]*)\s*\}\}")


def values_of(job_key: str, job: Mapping[str, Any], given: Mapping[str, str]) -> dict[str, str]:
    """Return the value of every parameter of `job`: from `given`, else its default.

    Raises ConfigurationError(PARAMETER_UNKNOWN) for a name in `given` that the job does not declare.
    """
    values = {str(item["name"]): _text(item.get("default")) for item in job.get("parameters") or ()}
    for name, value in given.items():
        if name not in values:
            known = suggestion(name, values, what="parameters") if values else "The job has no parameters."
            message = f"The job {job_key} has no parameter `{name}`."
            raise ConfigurationError("PARAMETER_UNKNOWN", message, next_step=known)
        values[name] = value
    return values


def references(
    *,
    parameters: Mapping[str, str],
    job_id: int | str,
    job_name: str,
    run_id: str,
    started: datetime,
    repairs: int = 0,
) -> dict[str, str]:
    """Return the value of every dynamic reference that is known before any task has run."""
    return {
        **{f"job.parameters.{name}": value for name, value in parameters.items()},
        "job.id": str(job_id),
        "job.name": job_name,
        "job.run_id": run_id,
        "job.repair_count": str(repairs),
        "job.start_time.iso_date": started.strftime("%Y-%m-%d"),
        "job.start_time.iso_datetime": started.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "job.start_time.iso_weekday": str(started.isoweekday()),
        "job.start_time.is_weekday": str(started.isoweekday() <= 5).lower(),
        "job.start_time.year": str(started.year),
        "job.start_time.month": str(started.month),
        "job.start_time.day": str(started.day),
        "job.start_time.hour": str(started.hour),
        "job.start_time.minute": str(started.minute),
        "job.start_time.second": str(started.second),
        "job.start_time.timestamp_ms": str(int(started.timestamp() * 1000)),
    }


def is_late(name: str) -> bool:
    """Tell whether the reference `name` is known only while the run goes on: of a task, or of a loop."""
    return name == "input" or name.startswith(("input.", "tasks."))


def of_input(value: Any) -> dict[str, str]:
    """Return what `{{input}}` and `{{input.key}}` stand for in the pass of a loop that has `value`."""
    found = {"input": value if isinstance(value, str) else json.dumps(value)}
    if isinstance(value, Mapping):
        found |= {
            f"input.{key}": each if isinstance(each, str) else json.dumps(each) for key, each in value.items()
        }
    return found


def substituted(value: Any, known: Mapping[str, str], *, where: str, late: bool = False) -> Any:
    """Return `value` (mappings and lists included) with every dynamic reference replaced.

    With `late` those that are known only while the run goes on stay as they are. Raises
    ConfigurationError(REFERENCE_UNKNOWN), naming `where`, for a reference that is not in `known`.

    >>> substituted(["--day={{job.parameters.day}}"], {"job.parameters.day": "3"}, where="task t")
    ['--day=3']
    """
    if isinstance(value, Mapping):
        return {key: substituted(child, known, where=where, late=late) for key, child in value.items()}
    if isinstance(value, list):
        return [substituted(child, known, where=where, late=late) for child in value]
    if not isinstance(value, str):
        return value

    def replacement(match: re.Match[str]) -> str:
        name = match[1]
        if name in known:
            return known[name]
        if late and is_late(name):
            return match[0]
        if is_late(name):
            what, cure = (
                ("no task has set it", "The task has to run before.")
                if name.startswith("tasks.")
                else ("it is outside of a loop", "Only the task of a for_each_task has an input.")
            )
            message = f"`{{{{{name}}}}}` in {where} has no value: {what}."
            raise ConfigurationError("REFERENCE_UNKNOWN", message, next_step=cure)
        message = f"`{{{{{name}}}}}` in {where} is not a value of this job."
        next_step = suggestion(name, known, what="values")
        raise ConfigurationError("REFERENCE_UNKNOWN", message, next_step=next_step)

    return _REFERENCE.sub(replacement, value)


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else "" if value is None else str(value)
