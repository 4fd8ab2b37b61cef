"""`lakeward test`: the own tests of the repository in this folder, in an environment apart from it."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import final

import click

from lakeward.cli.options import cold_option

__all__ = ["test"]


@click.command(context_settings={"ignore_unknown_options": True, "help_option_names": ["--help"]})
@click.option("--fresh-environment", "anew", is_flag=True, help="Build the environment anew.")
@cold_option
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[PYTEST ARGUMENTS]…")
def test(arguments: tuple[str, ...], anew: bool) -> int:
    """Run the repository's own tests with pytest, where lakeward stands in for Databricks.

    The repository's dependencies are installed once, into an environment apart from it, without those that
    lakeward stands in for. All arguments go to pytest, and its exit code comes back.
    """
    from lakeward.environments import prepare

    progress = Progress()
    with progress:
        environment = prepare(
            Path.cwd(), say=progress.say, show=progress.show, anew=anew, arguments=arguments
        )
    if not environment.made and environment.plan.left_out:
        names = ", ".join(dict.fromkeys(each.text for each in environment.plan.left_out))
        runtime = f", as on runtime {environment.pinned.runtime}" if environment.pinned else ""
        progress.say(f"without {names}: lakeward stands in{runtime}")
    environment.hold()
    command = environment.command(*arguments)
    sys.stdout.flush()
    sys.stderr.flush()
    # pytest takes the place of this process: signals, the terminal and the exit code are its own.
    # The first of its processes that needs a JVM may attach to the one of the run before.
    environ = {"LAKEWARD_RESIDENT": "1", **environment.environ()}
    os.execve(command[0], command, environ)  # noqa: S606


@final
class Progress:
    """Lines on stderr; on a terminal also the installer's last line, which changes."""

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        self.show("")

    def say(self, text: str) -> None:
        """A line that stays."""
        self.show("")
        click.echo(f"lakeward test: {text}", err=True)

    def show(self, line: str) -> None:
        """A line that the next one replaces."""
        if sys.stderr.isatty():
            width = shutil.get_terminal_size().columns - 1
            sys.stderr.write(f"\r\x1b[K{line[:width]}")
            sys.stderr.flush()
