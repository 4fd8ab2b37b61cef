"""Job parameters and dynamic value references (`{{job.parameters.x}}`).

Source: https://docs.databricks.com/aws/en/jobs/dynamic-value-references and …/jobs/job-parameters
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from lakeward.bundle import suggestion
from lakeward.errors import ConfigurationError

__all__ = ["references", "substituted", "values_of"]

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
    *, parameters: Mapping[str, str], job_id: int | str, job_name: str, run_id: str, started: datetime
) -> dict[str, str]:
    """Return the value of every dynamic reference that is known before any task has run."""
    return {
        **{f"job.parameters.{name}": value for name, value in parameters.items()},
        "job.id": str(job_id),
        "job.name": job_name,
        "job.run_id": run_id,
        "job.repair_count": "0",
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


def substituted(value: Any, known: Mapping[str, str], *, where: str) -> Any:
    """Return `value` (mappings and lists included) with every dynamic reference replaced.

    Raises ConfigurationError(REFERENCE_UNKNOWN), naming `where`, for a reference that is not in `known`.

    >>> substituted(["--day={{job.parameters.day}}"], {"job.parameters.day": "3"}, where="task t")
    ['--day=3']
    """
    if isinstance(value, Mapping):
        return {key: substituted(child, known, where=where) for key, child in value.items()}
    if isinstance(value, list):
        return [substituted(child, known, where=where) for child in value]
    if not isinstance(value, str):
        return value

    def replacement(match: re.Match[str]) -> str:
        name = match[1]
        if name in known:
            return known[name]
        if name == "input" or name.startswith("tasks."):
            message = (
                f"`{{{{{name}}}}}` in {where} is a value of another task, which cannot be read here yet."
            )
            raise ConfigurationError("TASK_NOT_SUPPORTED", message)
        message = f"`{{{{{name}}}}}` in {where} is not a value of this job."
        next_step = suggestion(name, known, what="values")
        raise ConfigurationError("REFERENCE_UNKNOWN", message, next_step=next_step)

    return _REFERENCE.sub(replacement, value)


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else "" if value is None else str(value)
