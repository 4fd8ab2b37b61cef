"""The parameters of a job. Source: https://docs.databricks.com/aws/en/jobs/job-parameters"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lakeward.bundle import suggestion
from lakeward.errors import ConfigurationError

__all__ = ["values_of"]


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


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else "" if value is None else str(value)
