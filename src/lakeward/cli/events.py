"""`lakeward events KEY`: the newest update in a pipeline's event log, without Spark."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lakeward.cli.options import bundle_options, verbose_option
from lakeward.errors import UsageError
from lakeward.suggestions import did_you_mean

if TYPE_CHECKING:
    from lakeward.cli.command_context import CommandContext

POLL_SECONDS = 0.2


@click.command(short_help="Show the event log of a pipeline.")
@click.argument("key")
@bundle_options
@click.option("--follow", is_flag=True, help="Show the update while it runs, until it has ended.")
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Print one JSON array on stdout, an object an event; with --follow an object a line.",
)
@verbose_option
def events(key: str, target: str | None, variables: dict[str, str], follow: bool, as_json: bool) -> int:
    """Show the event log of the pipeline KEY: its newest update.

    Outside a bundle KEY is the name that `lakeward pipeline` gives with its next commands.
    """
    from lakeward.cli.command_context import find_context
    from lakeward.report import read_events

    context = find_context(target, variables)
    name = pipeline_name(context, key)
    storage = context.settings.pipelines / name
    if follow and storage.is_dir():
        return follow_events(storage, as_json=as_json)
    stored = read_events(storage, 1)
    for damaged in stored.unreadable:
        click.echo(f"A file of the event log cannot be read and is left out: {damaged}", err=True)
    if not stored.updates:
        raise UsageError(
            "NO_EVENTS",
            f"The pipeline `{name}` has no event log in {storage}: it has not run in this target.",
            next_step=_next_step(context, name),
        )
    (found,) = stored.updates.values()
    if as_json:
        click.echo(json.dumps(found, ensure_ascii=False, default=str))
    else:
        for event in found:
            click.echo(event_line(event))
    return 0


def follow_events(storage: Path, *, as_json: bool) -> int:
    """Print the events of the update that runs, or of the last one; no Spark is started for it."""
    from lakeward.pipelines import tail_events

    for event in tail_events(storage, lambda: time.sleep(POLL_SECONDS)):
        click.echo(json.dumps(event, ensure_ascii=False) if as_json else event_line(event))
    return 0


def pipeline_name(context: CommandContext, key: str) -> str:
    """Return the name of the pipeline's state folder; raises `BundleError` for an unknown key."""
    if context.bundle is None or (context.settings.pipelines / key).is_dir():
        return key
    context.bundle.pipeline(key)
    return key


def _next_step(context: CommandContext, name: str) -> str:
    if context.bundle is not None:
        return f"lakeward run {name} -t {context.settings.target}"
    known = sorted(each.parent.name for each in context.settings.pipelines.glob("*/event_log"))
    listed = f"Event logs exist for: {', '.join(known)}." if known else "Run it: `lakeward pipeline PATH`."
    return did_you_mean(name, known) or listed


def event_line(event: dict[str, Any]) -> str:
    """Return one event as a line: time, level, type, message and the first line of an error."""
    from lakeward.report import error_of

    time = str(event.get("timestamp", ""))[:19].replace("T", " ")
    text = (
        f"{time}  {event.get('level', ''):<7}  {event.get('event_type', ''):<20}  {event.get('message', '')}"
    )
    cause = error_of(event)
    return f"{text}\n    {cause.splitlines()[0]}" if cause else text
