"""`lakeward seed` and `lakeward pull`: tables out of files, and files out of a workspace's tables."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lakeward.cli.formatting import format_count
from lakeward.cli.options import GivenPath, bundle_options, verbose_option
from lakeward.errors import UsageError

if TYPE_CHECKING:
    from lakeward.seeds import TableName
    from lakeward.session import Settings


@click.command(short_help="Make a table out of a file.")
@click.argument("name", metavar="TABLE")
@click.option("--from", "source", type=GivenPath(), metavar="PATH", help="CSV, JSON, Parquet or Delta.")
@click.option("--ddl", type=GivenPath(), metavar="FILE", help="The schema, as SQL.")
@bundle_options
@verbose_option
def seed(
    name: str, source: Path | None, ddl: Path | None, target: str | None, variables: dict[str, str]
) -> int:
    """Make TABLE (catalog.schema.table) out of a file or folder, or empty out of its DDL.

    A table of that name is replaced. --from with --ddl reads the rows with that schema.
    """
    if source is None and ddl is None:
        raise UsageError(
            "NO_SEED", f"Nothing was given for {name}.", next_step="Give --from PATH or --ddl FILE."
        )
    from lakeward.cli.output_streams import redirect_output
    from lakeward.seeds import kind_of, require_ddl, seed_files

    settings = _settings(target, variables)
    table = _table(name, settings)
    rows_of, schema_of = (source, ddl) if source is not None else (ddl, None)
    assert rows_of is not None
    # Before there is a session: a name that is wrong takes no seconds and leaves no folder.
    kind_of(rows_of)
    if schema_of is not None:
        require_ddl(schema_of)
    with redirect_output() as streams:
        from lakeward.cli.sql import startup_spinner
        from lakeward.session import session

        with startup_spinner(streams):
            spark = session(settings)
        rows = seed_files(spark, table, rows_of, schema_of)
        streams.out.write(f"{table}: {format_count(rows, 'row')} from {rows_of}\n")
        streams.out.flush()
    return 0


@click.command(short_help="Copy rows of a workspace's table into a seed file.")
@click.argument("name", metavar="TABLE")
@click.option("--limit", type=click.IntRange(min=1), default=1000, show_default=True, help="Rows at most.")
@click.option("--to", type=click.Path(path_type=Path), metavar="FILE", help="Default: seeds/TABLE.parquet.")
@click.option("--warehouse", metavar="ID", help="SQL warehouse; by default the configured or a running one.")
@click.option("--profile", metavar="NAME", help="Profile of ~/.databrickscfg.")
def pull(name: str, limit: int, to: Path | None, warehouse: str | None, profile: str | None) -> int:
    """Write rows of TABLE in a workspace into a seed file, and print how to use it."""
    from lakeward import seeds
    from lakeward.session import Settings

    table = _table(name, Settings.here())
    file = to or Path("seeds") / f"{table}.parquet"
    rows = seeds.pull(
        seeds.client(profile), table, limit=limit, to=file, warehouse=warehouse, sleep=time.sleep
    )
    click.echo(f"{file}: {format_count(rows, 'row')} of {table}")
    click.echo(
        f'  → lakeward seed {table} --from {file}, or "{table}" = "{file}" '
        "under [tool.lakeward.seeds] in pyproject.toml",
        err=True,
    )
    return 0


def _settings(target: str | None, variables: dict[str, str]) -> Settings:
    from lakeward.cli.command_context import find_context

    context = find_context(target, variables)
    catalog, schema = context.default_schema
    return context.settings.with_(catalog=catalog, schema=schema)


def _table(name: str, settings: Settings) -> TableName:
    from lakeward.seeds import TableName

    return TableName.of(name, catalog=settings.catalog, schema=settings.schema)
