"""The types of tasks: those that run in a process of their own, those of the run itself, those refused."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from lakeward.errors import ConfigurationError
from lakeward.jobs.definition import Task
from lakeward.jobs.tasks import alert, dashboard, dbt, notebook, pipeline, sql, user_code
from lakeward.jobs.tasks.user_code import Action, Context, Prepare
from lakeward.streaming import watching
from lakeward.suggestions import unknown_name_hint

if TYPE_CHECKING:
    from lakeward.pipelines import Update

KINDS: Mapping[str, Prepare] = {
    "alert_task": alert.prepare,
    "dashboard_task": dashboard.prepare,
    "dbt_task": dbt.prepare,
    "notebook_task": notebook.prepare,
    "pipeline_task": pipeline.prepare,
    "python_wheel_task": user_code.prepare_wheel,
    "spark_python_task": user_code.prepare_file,
    "sql_task": sql.prepare,
}
"""Task types that run in a process of their own."""

COMPOSITES = ("condition_task", "for_each_task", "run_job_task")
"""Task types that the run itself executes: conditions, loops and nested jobs."""

REFUSED: Mapping[str, str] = {
    "dbt_cloud_task": "It starts a job of dbt Cloud.",
    "dbt_platform_task": "It starts a job of the dbt platform.",
    "gen_ai_compute_task": "It needs GPUs of the platform.",
    "clean_rooms_notebook_task": "It needs a clean room, which only a workspace has.",
    "power_bi_task": "It refreshes a model of Power BI.",
    "spark_jar_task": "Its JAR is written against Databricks' own Spark.",
    "spark_submit_task": "The platform itself refuses it on serverless compute.",
}
"""Task types that are refused, with the reason."""


def prepare(context: Context, task: Task) -> Action | None:
    """Return the action of `task`, or None if a dry run has nothing to do for it.

    Raises ConfigurationError: TASK_NOT_SUPPORTED for a type that is not in the table, and the errors of the
    type's own validation.
    """
    kind = KINDS.get(task.kind)
    if kind is None:
        message = f"The task `{task.key}` is a {task.kind}, which cannot be run here."
        reason = REFUSED.get(task.kind) or unknown_name_hint(task.kind, (*KINDS, *COMPOSITES), what="kinds")
        next_step = f"{reason} `--exclude {task.key}` runs the other tasks."
        raise ConfigurationError("TASK_NOT_SUPPORTED", message, next_step=next_step)
    action = kind(context, task)
    # The event log of a pipeline has the progress of its queries.
    if action is None or context.run_id is None or task.kind == "pipeline_task":
        return action
    return _watched(action, context.settings.state / "streams", context.run_id, task.key)


def _watched(action: Action, folder: Path, run_id: str, task_key: str) -> Action:
    def watched() -> Update | None:
        with watching(folder, run_id, task_key):
            return action()

    return watched
