"""`lakeward run KEY`: a job or a pipeline of the bundle in this folder, or the job of a file."""

from __future__ import annotations

from typing import Any

import click

from lakeward.cli.options import bundle_options, mapping_option, names_option, refresh_options

__all__ = ["run"]


@click.command()
@click.argument("key")
@bundle_options
@mapping_option("--param", "parameters", help="Value of a job parameter.")
@names_option("--only", metavar="TASK", help="Run these tasks of the job alone.")
@click.option(
    "--repair", metavar="RUN", help="Run again what failed in a run of the job; `last`: the newest."
)
@click.option(
    "--apart/--here",
    default=False,
    help="Run tasks in processes of their own, or in this one, for a debugger.",
)
@refresh_options
def run(
    key: str,
    target: str | None,
    variables: dict[str, str],
    parameters: dict[str, str],
    only: tuple[str, ...],
    repair: str | None,
    apart: bool,
    as_json: bool,
    continuous: bool,
    **flags: Any,
) -> int:
    """Run the job or pipeline KEY of the bundle in this folder.

    Where there is no bundle, KEY is a file with the settings of a job, as the Jobs API takes them, or with
    `resources: jobs:`. FILE:JOB names one of several.
    """
    from lakeward.cli import next_steps, pipelines_of
    from lakeward.cli.target import here, in_file

    named = in_file(key, target, variables)
    place, key = named or (here(target, variables, key=key), key)
    bundle = place.the_bundle(key)
    title = f"{key} · {bundle.target}"
    is_job = bundle.kind_of(key) == "job"
    if is_job:
        if continuous:
            raise click.UsageError(f"--continuous is for pipelines, and `{key}` is a job.")

        def work(on_event: Any) -> Any:
            from lakeward import jobs

            return jobs.run(
                bundle,
                key,
                settings=place.settings,
                parameters=parameters,
                only=only,
                repair=repair,
                apart=apart,
                on_event=on_event,
                **flags,
            )
    else:
        refuse_job_options(key, parameters, only, repair)

        def work(on_event: Any) -> Any:
            from lakeward import jobs

            return jobs.run_pipeline(
                bundle, key, settings=place.settings, on_event=on_event, continuous=continuous, **flags
            )

    def next_commands(result: Any) -> list[str]:
        pipeline = pipelines_of.pipeline_key(bundle, key)
        return next_steps.after(
            result.datasets,
            prefix=pipelines_of.prefix(bundle, pipeline, place.settings),
            target=None if named else bundle.target,
            events_of=pipeline,
        )

    from lakeward.cli.board import Board
    from lakeward.cli.execution import execute

    # Most tasks are checked without Spark.
    stage = "checking …" if is_job and flags["dry_run"] else Board.stage
    return execute(title, work, as_json=as_json, next_commands=next_commands, stage=stage)


def refuse_job_options(
    key: str, parameters: dict[str, str], only: tuple[str, ...], repair: str | None
) -> None:
    """Options that speak of a job would be ignored in silence on a pipeline."""
    for option, value in (("--param", parameters), ("--only", only), ("--repair", repair)):
        if value:
            raise click.UsageError(f"{option} is for jobs, and `{key}` is a pipeline: it has neither.")
