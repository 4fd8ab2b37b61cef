"""`lakeward workspace`: serve the target's workspace on this machine."""

from __future__ import annotations

import json
import sys

import click

from lakeward.cli.options import bundle_options

__all__ = ["workspace"]


@click.command()
@bundle_options
@click.option(
    "--port", type=click.IntRange(0, 65535), default=0, help="Port on 127.0.0.1; a free one when left out."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object on stdout once it can be asked.")
def workspace(target: str | None, variables: dict[str, str], port: int, as_json: bool) -> int:
    """Serve a local workspace: what databricks-sdk and the Databricks CLI talk to.

    Jobs and pipelines that are deployed to it run here, on the tables of the target.
    """
    from lakeward.cli.target import here
    from lakeward.workspace import Connection, connection_file, serve

    place = here(target, variables)
    file = connection_file(place.settings)

    def ready(connection: Connection) -> None:
        if as_json:
            click.echo(json.dumps({"host": connection.host, "connection": str(file)}))
        else:
            click.echo(f"The workspace of target {place.settings.target} is at {connection.host}")
            click.echo(f"  page       {connection.host}/#token={connection.token}")
            click.echo(
                f"  clients    export DATABRICKS_HOST={connection.host} DATABRICKS_TOKEN={connection.token}"
            )
            click.echo(f"  kept in    {file}")
            click.echo("Ctrl-C ends it.")
        sys.stdout.flush()

    serve(place.settings, port=port, ready=ready)
    return 0
