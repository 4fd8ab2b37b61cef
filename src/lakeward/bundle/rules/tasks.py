"""Rules on the tasks of a job and their dependencies."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from lakeward.bundle.resolved_bundle import Bundle
from lakeward.bundle.rules.rule import Breach, Task, tasks
from lakeward.run_conditions import RUN_IF, find_cycle
from lakeward.suggestions import unknown_name_hint

# `{{job.parameters.[name]}}` is how the workspace's editor inserts a parameter.
_JOB_PARAMETER = re.compile(r"\{\{\s*job\.parameters\.(?:`([^`{}]*)`|\[([^\]{}]*)\]|([^\s}]+))\s*\}\}")
_TASK_VALUE = re.compile(r"\{\{\s*tasks\.([^\s.}]+)\.[^}]*\}\}")


def keys(bundle: Bundle) -> Iterator[Breach]:
    """Yield tasks without a key or with a duplicate key."""
    for name, job in bundle.jobs.items():
        seen: set[str] = set()
        for number, task in enumerate(job.get("tasks") or ()):
            key = task.get("task_key") if isinstance(task, Mapping) else None
            if not key:
                yield (
                    ("resources", "jobs", name, "tasks", number),
                    f"task {number + 1} of the job {name} has no task_key.",
                )
            elif key in seen:  # in a job file; those of a bundle are merged
                yield ("resources", "jobs", name, "tasks", number), f"the job {name} has two tasks `{key}`."
            seen.add(str(key))


def kinds(bundle: Bundle) -> Iterator[Breach]:
    """Yield tasks without a type or with several."""
    for task in tasks(bundle):
        if len(task.kinds) != 1:
            found = " and ".join(task.kinds) or "nothing to run"
            yield task.path, f"{task.name} has {found}, where exactly one kind is expected."


def dependencies(bundle: Bundle) -> Iterator[Breach]:
    """Yield dependencies on tasks that the job does not have."""
    for task in tasks(bundle):
        known = _keys(bundle, task.job)
        for number, upstream in enumerate(_upstream(task.settings)):
            if upstream not in known:
                hint = unknown_name_hint(upstream, known, what="tasks")
                yield (*task.path, "depends_on", number), f"{task.name} depends on `{upstream}`. {hint}"


def cycles(bundle: Bundle) -> Iterator[Breach]:
    """Tasks that wait for each other."""
    for name, job in bundle.jobs.items():
        upstream = {str(task.get("task_key")): _upstream(task) for task in job.get("tasks") or ()}
        if ring := find_cycle(upstream):
            where = ("resources", "jobs", name, "tasks", list(upstream).index(ring[0]), "depends_on")
            yield where, f"the tasks of the job {name} wait for each other in a circle: {' -> '.join(ring)}."


def outcomes(bundle: Bundle) -> Iterator[Breach]:
    """Yield outcomes of tasks that are not conditions, and invalid outcomes."""
    for task in tasks(bundle):
        conditions = {
            str(each.get("task_key"))
            for each in bundle.jobs[task.job].get("tasks") or ()
            if each.get("condition_task")
        }
        for number, edge in enumerate(task.settings.get("depends_on") or ()):
            outcome = edge.get("outcome")
            if outcome is None:
                continue
            where = (*task.path, "depends_on", number, "outcome")
            if str(edge.get("task_key")) not in conditions:
                upstream = f"`{edge.get('task_key')}`, which is not a condition task"
                yield where, f"{task.name} waits for an outcome of {upstream}."
            elif str(outcome).lower() not in ("true", "false"):
                yield where, f"{task.name} waits for the outcome `{outcome}`."


def run_conditions(bundle: Bundle) -> Iterator[Breach]:
    """Yield invalid values of `run_if`."""
    for task in tasks(bundle):
        run_if = task.settings.get("run_if")
        if run_if is not None and run_if not in RUN_IF:
            hint = unknown_name_hint(str(run_if), RUN_IF, what="conditions")
            yield (*task.path, "run_if"), f"{task.name} has run_if: {run_if}. {hint}"


def loops(bundle: Bundle) -> Iterator[Breach]:
    """Yield nested loops, and loops without inputs or task."""
    for task in tasks(bundle):
        loop = task.settings.get("for_each_task")
        if not isinstance(loop, Mapping):
            continue
        where = (*task.path, "for_each_task")
        if "for_each_task" in task.path:
            yield where, f"{task.name} is a loop inside of a loop."
        elif not isinstance(loop.get("task"), Mapping) or loop.get("inputs") in (None, ""):
            yield where, f"{task.name} needs `inputs` and a `task`."


def wheel_arguments(bundle: Bundle) -> Iterator[Breach]:
    """Positional and named parameters at once."""
    for task in tasks(bundle):
        spec = task.settings.get("python_wheel_task")
        if isinstance(spec, Mapping) and spec.get("parameters") and spec.get("named_parameters"):
            yield (
                (*task.path, "python_wheel_task", "parameters"),
                f"{task.name} has both parameters and named_parameters.",
            )


def parameters(bundle: Bundle) -> Iterator[Breach]:
    """Yield references to job parameters that the job does not have."""
    for task in tasks(bundle):
        known = [str(each.get("name")) for each in bundle.jobs[task.job].get("parameters") or ()]
        for name in _found(_JOB_PARAMETER, task.settings):
            if name not in known:
                hint = (
                    unknown_name_hint(name, known, what="parameters")
                    if known
                    else "The job has no parameters."
                )
                yield task.path, f"{task.name} reads the job parameter `{name}`. {hint}"


def task_values(bundle: Bundle) -> Iterator[Breach]:
    """Yield references to values of tasks that are not upstream."""
    for task in tasks(bundle):
        if "for_each_task" in task.path:
            continue  # what it reads is looked for in the loop around it
        before = _before(bundle, task)
        for name in _found(_TASK_VALUE, task.settings):
            if name not in before:
                there = "does not run before it" if name in _keys(bundle, task.job) else "the job lacks"
                yield task.path, f"{task.name} reads a value of the task `{name}`, which {there}."


def _before(bundle: Bundle, task: Task) -> set[str]:
    by_key = {str(each.get("task_key")): each for each in bundle.jobs[task.job].get("tasks") or ()}
    found: set[str] = set()
    border = set(_upstream(task.settings))
    while border:
        found |= border
        border = {up for key in border if key in by_key for up in _upstream(by_key[key])} - found
    return found


def _found(pattern: re.Pattern[str], value: object) -> list[str]:
    if isinstance(value, Mapping):
        return [name for child in value.values() for name in _found(pattern, child)]
    if isinstance(value, list):
        return [name for child in value for name in _found(pattern, child)]
    if not isinstance(value, str):
        return []
    names = (
        next(group for group in match.groups() if group is not None) for match in pattern.finditer(value)
    )
    return list(dict.fromkeys(names))


def _keys(bundle: Bundle, job: str) -> list[str]:
    return [str(task.get("task_key")) for task in bundle.jobs[job].get("tasks") or ()]


def _upstream(task: Mapping[str, Any]) -> list[str]:
    return [str(edge.get("task_key")) for edge in task.get("depends_on") or ()]
