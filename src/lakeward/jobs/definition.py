"""The tasks of a job as its resolved definition states them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lakeward.errors import ConfigurationError

__all__ = ["Task", "tasks_of"]

# Run conditions other than the default are the platform's, not yet ours.
_RUN_IF = "ALL_SUCCESS"


@dataclass(frozen=True)
class Task:
    """One task: `kind` is its settings' key (`python_wheel_task` …), `spec` those settings."""

    key: str
    kind: str
    spec: Mapping[str, Any]
    depends_on: tuple[str, ...] = ()
    environment: str | None = None
    libraries: tuple[str, ...] = ()
    disabled: bool = False


def tasks_of(job_key: str, job: Mapping[str, Any]) -> tuple[Task, ...]:
    """Return the tasks of `job` in the order in which they are listed.

    Raises ConfigurationError for a task without a key or kind, a key that is used twice (TASK_INVALID), and
    for what cannot be run here yet (TASK_NOT_SUPPORTED).
    """
    tasks: dict[str, Task] = {}
    for number, definition in enumerate(job.get("tasks") or (), start=1):
        key = definition.get("task_key")
        if not key:
            raise ConfigurationError("TASK_INVALID", f"Task {number} of the job {job_key} has no task_key.")
        if key in tasks:
            raise ConfigurationError("TASK_INVALID", f"The job {job_key} has two tasks `{key}`.")
        tasks[key] = _task(job_key, key, definition)
    if not tasks:
        raise ConfigurationError("JOB_EMPTY", f"The job {job_key} has no tasks.")
    return tuple(tasks.values())


def _task(job_key: str, key: str, definition: Mapping[str, Any]) -> Task:
    kinds = [name for name in definition if name.endswith("_task") and definition[name] is not None]
    if len(kinds) != 1:
        found = " and ".join(kinds) if kinds else "nothing to run"
        message = f"The task `{key}` of the job {job_key} has {found}, where exactly one kind is expected."
        raise ConfigurationError("TASK_INVALID", message, next_step="For example python_wheel_task.")
    run_if = definition.get("run_if") or _RUN_IF
    if run_if != _RUN_IF:
        message = f"The task `{key}` of the job {job_key} has run_if: {run_if}, which cannot be run here yet."
        raise ConfigurationError("TASK_NOT_SUPPORTED", message, next_step=f"Only {_RUN_IF} can.")
    conditions = [edge for edge in definition.get("depends_on") or () if edge.get("outcome") is not None]
    if conditions:
        message = (
            f"The task `{key}` of the job {job_key} depends on an outcome, which cannot be run here yet."
        )
        raise ConfigurationError("TASK_NOT_SUPPORTED", message)
    return Task(
        key=key,
        kind=kinds[0],
        spec=definition[kinds[0]],
        depends_on=tuple(str(edge.get("task_key")) for edge in definition.get("depends_on") or ()),
        environment=definition.get("environment_key"),
        libraries=tuple(
            str(library["whl"]) for library in definition.get("libraries") or () if "whl" in library
        ),
        disabled=definition.get("disabled") is True,
    )
