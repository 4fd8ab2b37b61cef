"""`lakeward stop`: the daemons of this user."""

from __future__ import annotations

import click

from lakeward.cli.formatting import format_count, plain


@click.command(short_help="End the JVMs that wait for the next command.")
@click.option("--force", is_flag=True, help="End those that a command uses, too: the command fails.")
def stop(*, force: bool) -> int:
    """End the JVMs that commands leave behind for the next ones.

    They are those of this user, in all projects: a JVM serves the commands of any project. One that a command
    uses is kept, and listed.
    """
    from lakeward.session import stop_daemons

    stops = stop_daemons(force=force)
    for jvm in stops:
        if jvm.kept_for is None:
            click.echo(f"stopped the JVM {jvm.pid}, which had been there for {format_age(jvm.seconds)}")
            continue
        folder = f" in {plain(jvm.kept_for.folder)}" if jvm.kept_for.folder else ""
        click.echo(f"kept the JVM {jvm.pid}: process {jvm.kept_for.pid}{folder} uses it; --force ends it")
    if not stops:
        click.echo("no project of this user has a JVM")
    return 0


def format_age(seconds: float) -> str:
    """Return the age of a JVM in its largest unit.

    >>> format_age(59), format_age(61), format_age(7200)
    ('59 seconds', '1 minute', '2 hours')
    """
    for size, unit in ((3600, "hour"), (60, "minute")):
        if seconds >= size:
            return format_count(int(seconds // size), unit)
    return format_count(int(seconds), "second")
