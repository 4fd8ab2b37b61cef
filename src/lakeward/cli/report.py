"""`lakeward report [KEY|RUN]`: pipelines and job runs as pages for a browser."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from lakeward.cli.options import bundle_options
from lakeward.errors import UsageError

if TYPE_CHECKING:
    from lakeward.session import Settings


@click.command(short_help="Write HTML reports of pipelines and of runs of jobs.")
@click.argument("subject", metavar="[KEY|RUN]", required=False)
@bundle_options
@click.option(
    "--output",
    "-o",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The file; default: below reports/ in the state folder.",
)
@click.option("--rows/--no-rows", default=True, help="Show sample rows of tables.  [default: rows]")
def report(
    subject: str | None, target: str | None, variables: dict[str, str], output: Path | None, rows: bool
) -> int:
    """Write the report of a pipeline KEY, of the newest run of a job KEY, or of a RUN: one HTML file each.

    Without an argument: of every pipeline that has run, and of the newest run of every job. That of a
    pipeline shows its graph, rows and seconds of datasets, sample rows, streams, expectations over time,
    earlier updates and events; that of a run its tasks with times, attempts, errors and logs. Columns with a
    mask, or with a tag such as `pii`, show no values. A file needs no network. Spark is not started.
    """
    from lakeward.cli.command_context import find_context
    from lakeward.cli.pipeline_reports import write_report, write_run_report

    settings = find_context(target, variables).settings
    if output is not None and subject is None:
        raise UsageError("USAGE", "--output needs the KEY of one pipeline or job, or a RUN.")
    pipelines = [subject] if subject else _names(settings.pipelines)
    written = [
        path for name in pipelines if (path := write_report(name, settings, output, rows=rows)) is not None
    ]
    if not (written and subject):
        runs = _runs(settings, subject)
        found = [path for job, folder in runs if (path := write_run_report(job, folder, settings, output))]
        written += found
    for path in written:
        click.echo(path)
    if not written:
        raise _nothing_ran(subject, settings)
    return 0


def _names(folder: Path) -> list[str]:
    return sorted(each.name for each in folder.glob("*/")) if folder.is_dir() else []


def _runs(settings: Settings, subject: str | None) -> list[tuple[str, Path]]:
    """Return jobs with the folder of a run: the run `subject`, or the newest one of the job or all jobs."""
    from lakeward.report import stored_runs

    found = []
    for job in _names(settings.jobs):
        folders = stored_runs(settings.jobs / job)
        wanted = [each for each in folders if each.name == subject] if subject not in (None, job) else folders
        found += [(job, folder) for folder in wanted[:1]]
    return found


def _nothing_ran(subject: str | None, settings: Settings) -> UsageError:
    known = [
        name for name in _names(settings.pipelines) if (settings.pipelines / name / "event_log").is_dir()
    ]
    known += [job for job, _ in _runs(settings, None)]
    what = f"`{subject}` has not run" if subject else "Nothing has run"
    return UsageError(
        "NO_EVENTS",
        f"{what} in the target {settings.target}: no pipeline, no job and no run of a job has this name."
        if subject
        else f"{what} in the target {settings.target}.",
        next_step=f"Reports exist for: {', '.join(known)}." if known else "Run it first: `lakeward run KEY`.",
    )
