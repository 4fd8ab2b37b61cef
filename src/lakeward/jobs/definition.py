"""The tasks and parameters of a job definition, their order and `--only`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lakeward.bundle import task_kinds
from lakeward.errors import ConfigurationError
from lakeward.run_conditions import ALL_SUCCESS, RUN_IF, find_cycle
from lakeward.suggestions import unknown_name_hint

# Keys of task values that `dbutils.jobs.taskValues` cannot set: a notebook's exit value, the rows of a query,
# the state of an alert.
NOTEBOOK_EXIT = "\0exit"
SQL_OUTPUT = "\0output"
ALERT_OUTPUT = "\0alert"


@dataclass(frozen=True)
class Task:
    """One task: `kind` is its settings' key (`python_wheel_task` …), `spec` those settings.

    `outcomes` are the outcomes of conditions that it waits for, by the condition's key. Times are in seconds;
    a `timeout` of 0 means no limit, and `retries` of -1 too. `libraries` are paths of wheels;
    `packages` what its other libraries name, as lines of a requirements file.
    """

    key: str
    kind: str
    spec: Mapping[str, Any]
    depends_on: tuple[str, ...] = ()
    environment: str | None = None
    libraries: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
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
            raise ConfigurationError(
                "TASK_INVALID",
                f"Task {number} of the job {job_key} has no task_key.",
                next_step="Give each task a task_key of its own.",
            )
        if key in tasks:
            raise ConfigurationError(
                "TASK_INVALID",
                f"The job {job_key} has two tasks `{key}`.",
                next_step="Give each task a task_key of its own.",
            )
        tasks[key] = task_of(job_key, key, definition)
    if not tasks:
        raise ConfigurationError(
            "JOB_EMPTY", f"The job {job_key} has no tasks.", next_step="Add a task to its `tasks`."
        )
    return tuple(tasks.values())


def task_of(job_key: str, key: str, definition: Mapping[str, Any]) -> Task:
    """Return the task `key` that `definition` states. Raises ConfigurationError(TASK_INVALID)."""
    kinds = task_kinds(definition)
    if len(kinds) != 1:
        found = " and ".join(kinds) if kinds else "nothing to run"
        message = f"The task `{key}` of the job {job_key} has {found}, where exactly one kind is expected."
        raise ConfigurationError("TASK_INVALID", message, next_step="For example python_wheel_task.")
    run_if = str(definition.get("run_if") or ALL_SUCCESS)
    if run_if not in RUN_IF:
        message = f"The task `{key}` of the job {job_key} has run_if: {run_if}."
        raise ConfigurationError(
            "TASK_INVALID", message, next_step=unknown_name_hint(run_if, RUN_IF, what="conditions")
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
        packages=tuple(
            line
            for library in definition.get("libraries") or ()
            if "whl" not in library
            for line in library_lines(library)
        ),
        disabled=definition.get("disabled") is True,
        run_if=run_if,
        outcomes={
            str(edge.get("task_key")): str(edge["outcome"]).lower()
            for edge in edges
            if edge.get("outcome") is not None
        },
        timeout=float(definition.get("timeout_seconds") or 0),
        retries=int(definition.get("max_retries") or 0),
        retry_after=float(definition.get("min_retry_interval_millis") or 0) / 1000,
        retry_on_timeout=definition.get("retry_on_timeout") is True,
    )


def nested_task(job_key: str, task: Task) -> Task:
    """Return the task that the loop `task` repeats. Raises ConfigurationError(TASK_INVALID)."""
    definition = task.spec.get("task")
    if not isinstance(definition, dict):
        message = f"The loop `{task.key}` of the job {job_key} has no task."
        raise ConfigurationError("TASK_INVALID", message, next_step="Give it `inputs` and a `task`.")
    return task_of(job_key, str(definition.get("task_key") or task.key), definition)


def library_lines(library: Mapping[str, Any]) -> Iterator[str]:
    """Yield the Python packages of one entry of `libraries`, as lines of a requirements file.

    JARs, Maven and CRAN packages have none.
    """
    if library.get("whl"):
        yield str(library["whl"])
    pypi = library.get("pypi")
    if isinstance(pypi, Mapping) and pypi.get("package"):
        if pypi.get("repo"):
            yield f"--extra-index-url {pypi['repo']}"
        yield str(pypi["package"])
    if library.get("requirements"):
        yield f"-r {library['requirements']}"


def parameter_values(job_key: str, job: Mapping[str, Any], given: Mapping[str, str]) -> dict[str, str]:
    """Return the value of every parameter of `job`: from `given`, else its default.

    Raises ConfigurationError(PARAMETER_UNKNOWN) for a name in `given` that the job does not declare.
    """
    values = {str(item["name"]): _text(item.get("default")) for item in job.get("parameters") or ()}
    for name, value in given.items():
        if name not in values:
            known = (
                unknown_name_hint(name, values, what="parameters") if values else "The job has no parameters."
            )
            message = f"The job {job_key} has no parameter `{name}`."
            raise ConfigurationError("PARAMETER_UNKNOWN", message, next_step=known)
        values[name] = value
    return values


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else "" if value is None else str(value)


def sort_tasks(job_key: str, tasks: Sequence[Task]) -> tuple[Task, ...]:
    """Return `tasks` so that each comes after all that it depends on, otherwise as they are listed.

    Raises ConfigurationError for a dependency that does not exist (TASK_UNKNOWN) or a cycle (TASK_CYCLE).
    """
    by_key = {task.key: task for task in tasks}
    for task in tasks:
        for upstream in task.depends_on:
            if upstream not in by_key:
                raise ConfigurationError(
                    "TASK_UNKNOWN",
                    f"The task `{task.key}` of the job {job_key} depends on `{upstream}`, which it lacks.",
                    next_step=unknown_name_hint(upstream, by_key, what="tasks"),
                )
    if ring := find_cycle({task.key: task.depends_on for task in tasks}):
        message = f"The tasks of the job {job_key} wait for each other in a circle: {' -> '.join(ring)}."
        raise ConfigurationError(
            "TASK_CYCLE", message, next_step="Remove one of these names from depends_on."
        )
    result: dict[str, Task] = {}
    waiting = dict(by_key)
    while waiting:
        ready = next(task for task in waiting.values() if set(task.depends_on) <= result.keys())
        result[ready.key] = waiting.pop(ready.key)
    return tuple(result.values())


def select_tasks(
    job_key: str, tasks: Sequence[Task], only: Iterable[str], exclude: Iterable[str] = ()
) -> frozenset[str]:
    """Return the keys of the tasks to run.

    `+key` also means everything upstream of it, `key+` everything downstream, as with the Databricks CLI.

    Args:
        job_key: The key of the job.
        tasks: All tasks.
        only: The tasks to run; empty: all.
        exclude: The tasks that do not run, whatever `only` names.

    Raises:
        ConfigurationError: TASK_UNKNOWN for a name that no task has.
    """
    chosen = _named(job_key, tasks, only) or frozenset(task.key for task in tasks)
    return chosen - _named(job_key, tasks, exclude)


def _named(job_key: str, tasks: Sequence[Task], texts: Iterable[str]) -> frozenset[str]:
    names = [name.strip() for part in texts for name in part.split(",") if name.strip()]
    upstream = {task.key: set(task.depends_on) for task in tasks}
    downstream = {task.key: {other.key for other in tasks if task.key in other.depends_on} for task in tasks}
    chosen: set[str] = set()
    for name in names:
        key = name.strip("+")
        if key not in upstream:
            raise ConfigurationError(
                "TASK_UNKNOWN",
                f"The job {job_key} has no task `{key}`.",
                next_step=unknown_name_hint(key, upstream, what="tasks"),
            )
        chosen.add(key)
        chosen |= _reachable(key, upstream) if name.startswith("+") else set()
        chosen |= _reachable(key, downstream) if name.endswith("+") else set()
    return frozenset(chosen)


def _reachable(start: str, edges: dict[str, set[str]]) -> set[str]:
    found: set[str] = set()
    border = {start}
    while border:
        border = {target for key in border for target in edges[key]} - found
        found |= border
    return found
