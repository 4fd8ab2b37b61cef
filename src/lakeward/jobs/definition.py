"""The tasks of a job as its resolved definition states them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from lakeward.bundle import suggestion
from lakeward.errors import ConfigurationError
from lakeward.jobs.run_if import ALL_SUCCESS, RUN_IF

__all__ = ["Task", "task_of", "tasks_of"]


@dataclass(frozen=True)
class Task:
    """One task: `kind` is its settings' key (`python_wheel_task` …), `spec` those settings.

    `outcomes` says which outcome of a condition it waits for, by the condition's key. Times are in seconds;
    a `timeout` of 0 is none, and -1 for `retries` is no end to them.
    """

    key: str
    kind: str
    spec: Mapping[str, Any]
    depends_on: tuple[str, ...] = ()
    environment: str | None = None
    libraries: tuple[str, ...] = ()
    disabled: bool = False
    run_if: str = ALL_SUCCESS
    outcomes: Mapping[str, str] = field(default_factory=dict)
    timeout: float = 0.0
    retries: int = 0
    retry_after: float = 0.0
    retry_on_timeout: bool = False


def tasks_of(job_key: str, job: Mapping[str, Any]) -> tuple[Task, ...]:
    """Return the tasks of `job` in the order in which they are listed.

    Raises ConfigurationError for a task without a key or kind, a key that is used twice, or an unknown run_if
    (TASK_INVALID), and for a job without tasks (JOB_EMPTY).
    """
    tasks: dict[str, Task] = {}
    for number, definition in enumerate(job.get("tasks") or (), start=1):
        key = definition.get("task_key")
        if not key:
            raise ConfigurationError("TASK_INVALID", f"Task {number} of the job {job_key} has no task_key.")
        if key in tasks:
            raise ConfigurationError("TASK_INVALID", f"The job {job_key} has two tasks `{key}`.")
        tasks[key] = task_of(job_key, key, definition)
    if not tasks:
        raise ConfigurationError("JOB_EMPTY", f"The job {job_key} has no tasks.")
    return tuple(tasks.values())


def task_of(job_key: str, key: str, definition: Mapping[str, Any]) -> Task:
    """Return the task `key` that `definition` states. Raises ConfigurationError(TASK_INVALID)."""
    kinds = [name for name in definition if name.endswith("_task") and definition[name] is not None]
    if len(kinds) != 1:
        found = " and ".join(kinds) if kinds else "nothing to run"
        message = f"The task `{key}` of the job {job_key} has {found}, where exactly one kind is expected."
        raise ConfigurationError("TASK_INVALID", message, next_step="For example python_wheel_task.")
    run_if = str(definition.get("run_if") or ALL_SUCCESS)
    if run_if not in RUN_IF:
        message = f"The task `{key}` of the job {job_key} has run_if: {run_if}."
        raise ConfigurationError(
            "TASK_INVALID", message, next_step=suggestion(run_if, RUN_IF, what="conditions")
        )
    edges = definition.get("depends_on") or ()
    return Task(
        key=key,
        kind=kinds[0],
        spec=definition[kinds[0]],
        depends_on=tuple(str(edge.get("task_key")) for edge in edges),
        environment=definition.get("environment_key"),
        libraries=tuple(
            str(library["whl"]) for library in definition.get("libraries") or () if "whl" in library
        ),
        disabled=definition.get("disabled") is True,
        run_if=run_if,
        outcomes={
            str(edge["task_key"]): str(edge["outcome"]).lower()
            for edge in edges
            if edge.get("outcome") is not None
        },
        timeout=float(definition.get("timeout_seconds") or 0),
        retries=int(definition.get("max_retries") or 0),
        retry_after=float(definition.get("min_retry_interval_millis") or 0) / 1000,
        retry_on_timeout=definition.get("retry_on_timeout") is True,
    )
