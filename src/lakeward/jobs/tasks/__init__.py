"""The kinds of tasks that can be run, one file a kind: each checks a task and returns its action."""

from __future__ import annotations

from collections.abc import Mapping

from lakeward.errors import ConfigurationError
from lakeward.jobs.definition import Task
from lakeward.jobs.tasks import notebook, pipeline, python_wheel, spark_python, sql
from lakeward.jobs.tasks.context import Action, Context, Prepare
from lakeward.suggestions import unknown_name_hint

__all__ = ["COMPOSITES", "KINDS", "REFUSED", "Action", "Context", "prepare"]

KINDS: Mapping[str, Prepare] = {
    "notebook_task": notebook.prepare,
    "pipeline_task": pipeline.prepare,
    "python_wheel_task": python_wheel.prepare,
    "spark_python_task": spark_python.prepare,
    "sql_task": sql.prepare,
}
"""Kinds that a task runs in a process of its own."""

COMPOSITES = ("condition_task", "for_each_task", "run_job_task")
"""Kinds that the run itself carries out: they decide, or make other tasks run."""

REFUSED: Mapping[str, str] = {
    "dbt_task": "dbt talks to a warehouse through an adapter, which there is none of for this runtime.",
    "clean_rooms_notebook_task": "It needs a clean room, which only a workspace has.",
    "dashboard_task": "It refreshes a dashboard, which only a workspace has.",
    "power_bi_task": "It refreshes a model of Power BI.",
    "spark_jar_task": "Its JAR is written against Databricks' own Spark.",
    "spark_submit_task": "The platform itself refuses it on serverless compute.",
}
"""Kinds that are refused, and why."""


def prepare(context: Context, task: Task) -> Action | None:
    """Return what carries out `task`, or None when a dry run has nothing to do for it.

    Raises ConfigurationError: TASK_NOT_SUPPORTED for a kind not in the table, and what its kind refuses.
    """
    kind = KINDS.get(task.kind)
    if kind is None:
        message = f"The task `{task.key}` is a {task.kind}, which cannot be run here."
        next_step = REFUSED.get(task.kind) or unknown_name_hint(task.kind, KINDS, what="kinds")
        raise ConfigurationError("TASK_NOT_SUPPORTED", message, next_step=next_step)
    return kind(context, task)
