"""Tasks that consist of other tasks: loops, and runs of other jobs. Each drives a schedule of its own."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from lakeward.errors import ConfigurationError
from lakeward.jobs.definition import Task, task_of
from lakeward.jobs.drive import Drive, Handle, Launch, first_failure
from lakeward.jobs.model import TaskProgress
from lakeward.jobs.references import of_input, substituted
from lakeward.jobs.schedule import End, Schedule

__all__ = ["Within", "inputs_of", "loop"]


class Within:
    """A task that is done when the run inside of it is; `tell` hears of the tasks inside."""

    begun = True

    def __init__(self, drive: Drive) -> None:
        self._drive = drive

    def poll(self) -> End | None:
        """Go on with what is inside."""
        self._drive.step()
        if not self._drive.schedule.over:
            return None
        state = self._drive.schedule.state
        if state == "COMPLETED":
            return End("SUCCESS")
        return End("FAILED" if state == "FAILED" else "CANCELED", first_failure(self._drive.results()))

    def stop(self) -> None:
        """Stop what is inside."""
        self._drive.cancel("The task around it was stopped.")


def loop(
    task: Task,
    launch: Launch,
    *,
    job_key: str,
    clock: Callable[[], float],
    tell: Callable[[TaskProgress], None],
    room: Callable[[Task], bool] = lambda _: True,
) -> Handle:
    """Return the passes of a `for_each_task`, as many at once as `concurrency` says and there is room for.

    A pass that fails does not keep the others from running; the loop fails then. `launch` starts one pass.
    """
    inner = inner_of(job_key, task)
    passes = [
        replace(
            inner,
            key=f"{task.key}[{number}]",
            spec=substituted(inner.spec, {**of_input(value)}, where=f"the task `{inner.key}`", late=True),
        )
        for number, value in enumerate(inputs_of(task))
    ]
    limit = int(task.spec.get("concurrency") or 1)
    schedule = Schedule.of(passes, limit=limit, began=clock())
    return Within(Drive(schedule, launch, clock=clock, tell=tell, room=room))


def inner_of(job_key: str, task: Task) -> Task:
    """Return the task that the loop `task` repeats. Raises ConfigurationError(TASK_INVALID)."""
    definition = task.spec.get("task")
    if not isinstance(definition, dict):
        message = f"The loop `{task.key}` of the job {job_key} has no task."
        raise ConfigurationError("TASK_INVALID", message, next_step="Give it `inputs` and a `task`.")
    return task_of(job_key, str(definition.get("task_key") or task.key), definition)


def inputs_of(task: Task) -> list[Any]:
    """Return the values over which the loop `task` goes. Raises ConfigurationError when they are no list."""
    given = task.spec.get("inputs")
    try:
        values = json.loads(given) if isinstance(given, str) else given
    except json.JSONDecodeError:
        values = None
    if not isinstance(values, list):
        message = f"The inputs of the loop `{task.key}` are `{given}`, which is no list in JSON."
        raise ConfigurationError("TASK_INVALID", message, next_step='For example inputs: "[1, 2, 3]".')
    return values
