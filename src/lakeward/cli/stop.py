"""`lakeward stop`: the daemons of this user."""

from __future__ import annotations

import click

from lakeward.cli.formatting import format_count


@click.command(short_help="End the JVMs that wait for the next command.")
def stop() -> int:
    """End the JVMs that commands leave behind for the next ones. A command that uses one fails.

    They are those of this user, in all projects: a JVM serves the commands of any project.
    """
    from lakeward.session import stop_daemons

    stopped = stop_daemons()
    for jvm in stopped:
        click.echo(f"stopped the JVM {jvm.pid}, which had been there for {format_duration(jvm.seconds)}")
    if not stopped:
        click.echo("no project of this user has a JVM")
    return 0


def format_duration(seconds: float) -> str:
    """Return a duration as text for people.

    >>> format_duration(59), format_duration(61), format_duration(7200)
    ('59 seconds', '1 minute', '2 hours')
    """
    for size, unit in ((3600, "hour"), (60, "minute")):
        if seconds >= size:
            return format_count(int(seconds // size), unit)
    return format_count(int(seconds), "second")
