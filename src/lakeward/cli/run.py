"""`lakeward run KEY`: a job or a pipeline of the bundle in this folder, or the job of a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from lakeward.cli.options import (
    RefreshOptions,
    bundle_options,
    entered_environment_options,
    mapping_option,
    mount_option,
    names_option,
    refresh_options,
    runtime_option,
    watch_option,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from typing_extensions import Unpack

    from lakeward.bundle import Bundle
    from lakeward.cli.execution import RunDisplay
    from lakeward.cli.progress_display import Watcher
    from lakeward.jobs import JobRun
    from lakeward.pipelines import Update
    from lakeward.session import Settings


@click.command(short_help="Run a job or a pipeline of the bundle in this folder.")
@click.argument("key", default="")
@bundle_options
@mapping_option("--param", "parameters", help="Value of a job parameter.")
@mount_option
@runtime_option
@entered_environment_options
@names_option("--only", metavar="TASK", help="Run these tasks of the job alone.")
@names_option("--exclude", metavar="TASK", help="Run the other tasks of the job.")
@click.option(
    "--repair", metavar="RUN", help="Run again what failed in a run of the job; `last`: the newest."
)
@click.option(
    "--isolated/--in-process",
    "isolated",
    default=False,
    help="Run each task in its own process, or all in this process, for a debugger.",
)
@watch_option
@refresh_options
def run(
    key: str,
    target: str | None,
    variables: dict[str, str],
    parameters: dict[str, str],
    only: tuple[str, ...],
    exclude: tuple[str, ...],
    repair: str | None,
    isolated: bool,
    watch: bool,
    as_json: bool,
    continuous: bool,
    **flags: Unpack[RefreshOptions],
) -> int:
    """Run the job or pipeline KEY of the bundle in this folder.

    Where there is no bundle, KEY is a file with the settings of a job, as the Jobs API takes them, or with
    `resources: jobs:`. FILE:JOB names one of several.
    """
    from lakeward.bundle import FIELD_TYPE
    from lakeward.cli.command_context import find_context, job_of_file, with_deployed_files
    from lakeward.cli.execution import execute

    named = job_of_file(key, target, variables)
    context, key = named or (find_context(target, variables, key=key), key)
    bundle = context.require_bundle(key)
    settings = with_deployed_files(context).settings
    for notice in bundle.notices:
        if notice.rule == FIELD_TYPE:  # the run does not have these values
            click.echo(str(notice), err=True)
    is_job = bundle.kind_of(key) == "job"
    if not is_job:
        of_jobs = {"--param": parameters, "--only": only, "--exclude": exclude, "--repair": repair}
        refuse_job_options(key, of_jobs)
    elif continuous:
        raise click.UsageError(f"--continuous is for pipelines, and `{key}` is a job.")

    def work(on_event: Watcher) -> Update | JobRun:
        from lakeward import jobs

        selection = jobs.PipelineSelection(**flags)
        if not is_job:
            return jobs.run_pipeline(
                bundle, key, settings=settings, selection=selection, continuous=continuous, on_event=on_event
            )
        options = jobs.RunOptions(
            parameters=parameters,
            only=only,
            exclude=exclude,
            selection=selection,
            isolated=isolated,
            repair=repair,
        )
        listeners = jobs.RunListeners(on_event=on_event)
        return jobs.run(bundle, key, settings=settings, options=options, listeners=listeners)

    display = display_of(
        bundle,
        key,
        settings,
        target=None if named else bundle.target,
        is_run=not flags["dry_run"],
        as_json=as_json,
        watch=watch,
    )
    return execute(work, display, bundle)


def display_of(
    bundle: Bundle,
    key: str,
    settings: Settings,
    *,
    target: str | None,
    is_run: bool,
    as_json: bool,
    watch: bool,
) -> RunDisplay:
    """Return what is shown of a run.

    Args:
        bundle: The bundle.
        key: The key of the job or pipeline.
        settings: Settings of the session.
        target: The target that the next commands need; None for a job of a file.
        is_run: Whether something runs; else it is checked alone.
        as_json: Whether the result is one JSON object.
        watch: Whether micro-batches are shown.
    """
    from lakeward.cli import next_steps
    from lakeward.cli.execution import RunDisplay
    from lakeward.cli.progress_display import ProgressBoard

    is_job = bundle.kind_of(key) == "job"
    by_task = _pipelines_by_task(bundle, key) if is_job else {}

    def last_pipeline(result: Update | JobRun) -> str | None:
        """Return the last pipeline that was updated."""
        if not is_job:
            return key
        tasks = [task for task in getattr(result, "tasks", ()) if task.state not in ("EXCLUDED", "SKIPPED")]
        return next((by_task[task.task_key] for task in reversed(tasks) if task.task_key in by_task), None)

    def next_commands(result: Update | JobRun) -> list[str]:
        pipeline = last_pipeline(result)
        prefix = _name_prefix(bundle, pipeline, settings)
        return next_steps.next_commands(result.datasets, prefix=prefix, target=target, events_of=pipeline)

    return RunDisplay(
        title=f"{key} · {bundle.target}",
        settings=settings,
        as_json=as_json,
        next_commands=next_commands,
        # Most tasks are checked without Spark.
        stage=ProgressBoard.stage if is_run or not is_job else "checking …",
        reported=lambda result: last_pipeline(result) if is_run else None,
        job=key if is_job and is_run else None,
        is_run=is_run,
        watched=(list(by_task.values()) if is_job else [key]) if watch else None,
    )


def refuse_job_options(key: str, options: Mapping[str, object]) -> None:
    """Raise UsageError for options of jobs that have a value: a pipeline would ignore them."""
    for option, value in options.items():
        if value:
            raise click.UsageError(f"{option} is for jobs, and `{key}` is a pipeline: it has neither.")


def _pipelines_by_task(bundle: Bundle, job: str) -> dict[str, str]:
    """Return the pipelines that a job updates, by the keys of its tasks and in their order."""
    tasks = bundle.job(job).get("tasks") or []
    found = {
        str(task.get("task_key")): bundle.key_of("pipelines", task["pipeline_task"].get("pipeline_id"))
        for task in tasks
        if task.get("pipeline_task")
    }
    return {task: pipeline for task, pipeline in found.items() if pipeline is not None}


def _name_prefix(bundle: Bundle, key: str | None, settings: Settings) -> str:
    """Return the prefix of names of pipeline `key` in `lakeward sql`; empty for the first pipeline."""
    if key is None or key == next(iter(bundle.pipelines), None):
        return ""
    from lakeward.cli.command_context import home_of_pipeline

    catalog, schema = home_of_pipeline(bundle.pipelines[key], settings)
    return f"{catalog}.{schema}."
