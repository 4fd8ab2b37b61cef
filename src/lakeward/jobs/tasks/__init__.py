"""The kinds of tasks that can be run, one file a kind: each checks a task and returns its action."""

from __future__ import annotations

from collections.abc import Mapping

from lakeward.bundle import suggestion
from lakeward.errors import ConfigurationError
from lakeward.jobs.definition import Task
from lakeward.jobs.tasks import pipeline, python_wheel, spark_python
from lakeward.jobs.tasks.context import Action, Context, Prepare

__all__ = ["KINDS", "Action", "Context", "prepare"]

KINDS: Mapping[str, Prepare] = {
    "pipeline_task": pipeline.prepare,
    "python_wheel_task": python_wheel.prepare,
    "spark_python_task": spark_python.prepare,
}


def prepare(context: Context, task: Task) -> Action | None:
    """Return what carries out `task`, or None when a dry run has nothing to do for it.

    Raises ConfigurationError: TASK_NOT_SUPPORTED for a kind not in the table, and what its kind refuses.
    """
    kind = KINDS.get(task.kind)
    if kind is None:
        message = f"The task `{task.key}` is a {task.kind}, which cannot be run here yet."
        next_step = suggestion(task.kind, KINDS, what="kinds")
        raise ConfigurationError("TASK_NOT_SUPPORTED", message, next_step=next_step)
    return kind(context, task)
