"""`pipeline_task`: an update of one of the bundle's pipelines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lakeward.errors import ConfigurationError
from lakeward.jobs.definition import Task
from lakeward.jobs.pipeline_sources import sources
from lakeward.jobs.pipelines import run_pipeline
from lakeward.jobs.run_results import PipelineSelection
from lakeward.jobs.tasks.user_code import Action, Context
from lakeward.suggestions import unknown_name_hint

if TYPE_CHECKING:
    from lakeward.pipelines import Update


def prepare(context: Context, task: Task) -> Action:
    """Return the update of the pipeline as an action; a dry run only analyzes it.

    Raises ConfigurationError if `pipeline_id` is not the id of a pipeline of the bundle.
    """
    bundle, identifier = context.bundle, task.spec.get("pipeline_id")
    key = bundle.key_of("pipelines", identifier)
    if key is None:
        message = f"The task `{task.key}` runs the pipeline `{identifier}`, which is not one of this bundle."
        known = [f"${{resources.pipelines.{name}.id}}" for name in bundle.pipelines]
        next_step = unknown_name_hint(str(identifier), known, what="pipelines")
        raise ConfigurationError("PIPELINE_UNKNOWN", message, next_step=next_step)
    sources(bundle.root, key, bundle.pipeline(key))
    chosen = selection_of(context, task)

    def action() -> Update:
        return run_pipeline(
            bundle,
            key,
            settings=context.settings,
            selection=chosen,
            on_event=context.on_event,
        )

    return action


def selection_of(context: Context, task: Task) -> PipelineSelection:
    """Return the selection of datasets: the run's, else the one of the task's settings."""
    selection = context.selection
    names = (selection.refresh, selection.full_refresh, selection.reset_checkpoints)
    if any(names) or selection.full_refresh_all:
        return selection
    return PipelineSelection(
        refresh=tuple(task.spec.get("refresh_selection") or ()),
        full_refresh=tuple(task.spec.get("full_refresh_selection") or ()),
        full_refresh_all=task.spec.get("full_refresh") is True,
        dry_run=selection.dry_run,
        reset_checkpoints=tuple(task.spec.get("reset_checkpoint_selection") or ()),
    )
