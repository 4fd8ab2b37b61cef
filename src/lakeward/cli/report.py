"""`lakeward report [KEY]`: pipelines as pages for a browser."""

from __future__ import annotations

from pathlib import Path

import click

from lakeward.cli.options import bundle_options
from lakeward.errors import UsageError

__all__ = ["report"]


@click.command()
@click.argument("key", required=False)
@bundle_options
@click.option(
    "--output",
    "-o",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The file; default: reports/KEY.html in the state folder.",
)
def report(key: str | None, target: str | None, variables: dict[str, str], output: Path | None) -> int:
    """Write the report of the pipeline KEY, or of every pipeline that has run: one HTML file each.

    It shows the graph, rows and seconds of the datasets, expectations over time, earlier updates and events.
    The file needs no network. Spark is not started.
    """
    from lakeward.cli.command_context import here
    from lakeward.cli.pipeline_reports import write_report

    settings = here(target, variables).settings
    folders = sorted(settings.pipelines.glob("*/")) if settings.pipelines.is_dir() else []
    names = [key] if key else [folder.name for folder in folders]
    if output is not None and key is None:
        raise UsageError("USAGE", "--output needs the KEY of one pipeline.")
    written = 0
    for name in names:
        path = write_report(name, settings, output)
        if path is None:
            continue
        click.echo(path)
        written += 1
    if not written:
        known = ", ".join(folder.name for folder in folders if (folder / "event_log").is_dir())
        raise UsageError(
            "NO_EVENTS",
            f"The pipeline `{key}` has not run in the target {settings.target}."
            if key
            else f"No pipeline has run in the target {settings.target}.",
            next_step=f"Pipelines with events: {known}." if known else "Run it first: `lakeward run KEY`.",
        )
    return 0
