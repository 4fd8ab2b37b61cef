"""`lakeward workspace`: serve the target's workspace on this machine."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

import click

from lakeward.cli.formatting import plain
from lakeward.cli.options import bundle_options, entered_environment_options, mount_option, runtime_option

if TYPE_CHECKING:
    from lakeward.workspace import ScheduledStart
    from lakeward.workspace_connection import Connection

_MOST_CHARACTERS = 200


@click.command(short_help="Serve a local workspace for databricks-sdk and the CLI.")
@bundle_options
@mount_option
@runtime_option
@entered_environment_options
@click.option(
    "--port", type=click.IntRange(0, 65535), default=0, help="Port on 127.0.0.1; a free one when left out."
)
@click.option(
    "--https-port",
    type=click.IntRange(0, 65535),
    default=0,
    help="Port with TLS; 443 serves clients that know only a host name.",
)
@click.option(
    "--with-schedules",
    is_flag=True,
    help="Start jobs by their schedules and triggers; without it these are only listed.",
)
@click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object on stdout once it accepts requests."
)
def workspace(
    target: str | None,
    variables: dict[str, str],
    port: int,
    https_port: int,
    with_schedules: bool,
    as_json: bool,
) -> int:
    """Serve a local workspace: what databricks-sdk and the Databricks CLI talk to.

    Jobs and pipelines that are deployed to it run here, on the tables of the target.
    """
    from lakeward.cli.command_context import find_context
    from lakeward.workspace import connection_file, serve

    context = find_context(target, variables)
    file = connection_file(context.settings)

    def ready(connection: Connection, starts: Sequence[ScheduledStart]) -> None:
        if as_json:
            addresses = {"host": connection.host, "https_host": connection.https_host}
            files = {"ca_file": connection.ca_file, "connection": str(file)}
            click.echo(json.dumps({**addresses, **files}))
        else:
            # Only on a terminal, and once: a log would keep it.
            token = f"#token={connection.token}" if sys.stdout.isatty() else ""
            click.echo(f"The workspace of target {context.settings.target} is at {connection.host}")
            click.echo(f"  page       {connection.host}/{token}")
            click.echo(f"  clients    export DATABRICKS_HOST={connection.host} DATABRICKS_TOKEN=…")
            click.echo(f"  token      in {file}")
            click.echo(f"  https      {connection.https_host}, for clients that require TLS, with")
            click.echo(
                f"             export SSL_CERT_FILE={connection.ca_file} REQUESTS_CA_BUNDLE=$SSL_CERT_FILE"
            )
            for line in start_lines(starts, with_schedules):
                click.echo(line)
            click.echo("Ctrl-C ends it.")
        sys.stdout.flush()

    def warn(text: str) -> None:
        click.echo(f"warning: {plain(text)}", err=True)

    # What the server and its runs write is the user's own.
    before = os.umask(0o077)
    try:
        with suppress(KeyboardInterrupt):
            serve(
                context.settings,
                port=port,
                https_port=https_port,
                with_schedules=with_schedules,
                ready=ready,
                warn=warn,
            )
    finally:
        os.umask(before)
    click.echo(f"The workspace of target {context.settings.target} has ended; what is in it stays.", err=True)
    return 0


def shorten_text(text: str) -> str:
    """Return a text of at most 200 characters."""
    return text if len(text) <= _MOST_CHARACTERS else f"{text[: _MOST_CHARACTERS - 1]}…"


def start_lines(starts: Sequence[ScheduledStart], with_schedules: bool) -> Iterator[str]:
    """Yield how jobs start by themselves, in lines."""
    for start in starts:
        at = f", next {start.at:%Y-%m-%d %H:%M %Z}" if start.at and not start.paused else ""
        # Names are of clients: a sequence of control characters would act on the terminal.
        job, when = (shorten_text(plain(text, keep="")) for text in (start.job, start.when))
        yield f"  starts     {job}: {when}{', paused' if start.paused else at}"
    if not with_schedules and any(not start.paused for start in starts):
        yield "             not by itself here: --with-schedules lets it."
