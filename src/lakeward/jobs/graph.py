"""The order of a job's tasks, and which of them `--only` asks for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lakeward.bundle import suggestion
from lakeward.errors import ConfigurationError
from lakeward.jobs.definition import Task

__all__ = ["ordered", "selected"]


def ordered(job_key: str, tasks: Sequence[Task]) -> tuple[Task, ...]:
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
                    next_step=suggestion(upstream, by_key, what="tasks"),
                )
    result: dict[str, Task] = {}
    waiting = dict(by_key)
    while waiting:
        ready = next((task for task in waiting.values() if set(task.depends_on) <= result.keys()), None)
        if ready is None:
            ring = " -> ".join(_cycle(waiting))
            message = f"The tasks of the job {job_key} wait for each other in a circle: {ring}."
            raise ConfigurationError("TASK_CYCLE", message)
        result[ready.key] = waiting.pop(ready.key)
    return tuple(result.values())


def selected(job_key: str, tasks: Sequence[Task], only: Iterable[str]) -> frozenset[str]:
    """Return the keys of the tasks to run: all, or those that `only` names.

    `+key` also means everything upstream of it, `key+` everything downstream, as with the Databricks CLI.
    Raises ConfigurationError(TASK_UNKNOWN) for a name that no task has.
    """
    asked = [name.strip() for part in only for name in part.split(",") if name.strip()]
    if not asked:
        return frozenset(task.key for task in tasks)
    upstream = {task.key: set(task.depends_on) for task in tasks}
    downstream = {task.key: {other.key for other in tasks if task.key in other.depends_on} for task in tasks}
    chosen: set[str] = set()
    for name in asked:
        key = name.strip("+")
        if key not in upstream:
            raise ConfigurationError(
                "TASK_UNKNOWN",
                f"The job {job_key} has no task `{key}`.",
                next_step=suggestion(key, upstream, what="tasks"),
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


def _cycle(waiting: dict[str, Task]) -> list[str]:
    path = [next(iter(waiting))]
    while path[-1] not in path[:-1]:
        path.append(next(key for key in waiting[path[-1]].depends_on if key in waiting))
    return path[path.index(path[-1]) :]
