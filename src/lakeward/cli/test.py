"""`lakeward test`: run the repository's own tests in an isolated environment."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import final

import click

from lakeward.cli.options import cold_option, environment_options, mount_option, runtime_option


@click.command(
    context_settings={"ignore_unknown_options": True, "help_option_names": ["--help"]},
    short_help="Run the tests of a repository, unchanged.",
)
@click.option("--fresh-environment", "fresh", is_flag=True, help="Rebuild the environment.")
@environment_options
@click.option(
    "--catalog",
    "catalogs",
    multiple=True,
    metavar="NAME",
    help="Catalog that the tests expect to exist; [tool.lakeward] catalogs lists those of the project.",
)
@mount_option
@runtime_option
@cold_option
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[PYTEST ARGUMENTS]…")
def test(
    arguments: tuple[str, ...],
    fresh: bool,
    added: tuple[str, ...],
    excluded: tuple[str, ...],
    catalogs: tuple[str, ...],
) -> int:
    """Run the repository's own tests with pytest; lakeward replaces Databricks.

    The repository's dependencies are installed once, into an isolated environment, without the packages that
    lakeward replaces. All other arguments are passed to pytest, whose exit code is returned.
    """
    from lakeward.environments import prepare_environment
    from lakeward.session import CATALOGS_VARIABLE, extend_catalogs

    progress = Progress()
    with progress:
        environment = prepare_environment(
            Path.cwd(),
            say=progress.say,
            show=progress.show,
            rebuild=fresh,
            arguments=arguments,
            added=added,
            excluded=excluded,
        )
    if not environment.made and environment.plan.left_out:
        names = ", ".join(dict.fromkeys(each.text for each in environment.plan.left_out))
        pinned = environment.pinned
        runtime = f", as on runtime {pinned.runtime}" if pinned else ""
        if pinned and not pinned.exact:
            runtime += f", {pinned.reason}"
        progress.say(f"without {names}: lakeward replaces them{runtime}")
    environment.hold()
    command = environment.command(*arguments)
    sys.stdout.flush()
    sys.stderr.flush()
    # pytest takes the place of this process: signals, the terminal and the exit code are its own.
    # The first of its processes that needs a JVM may attach to the one of the run before.
    environ = {"LAKEWARD_DAEMON": "1", **environment.environ()}
    if catalogs:
        environ[CATALOGS_VARIABLE] = extend_catalogs(environ, catalogs)
    os.execve(command[0], command, environ)  # noqa: S606


@final
class Progress:
    """Lines on stderr; on a terminal also the installer's last line, which changes."""

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        self.show("")

    def say(self, text: str) -> None:
        """Print a line that stays."""
        self.show("")
        click.echo(f"lakeward test: {text}", err=True)

    def show(self, line: str) -> None:
        """Print a line that the next one replaces."""
        if sys.stderr.isatty():
            width = shutil.get_terminal_size().columns - 1
            sys.stderr.write(f"\r\x1b[K{line[:width]}")
            sys.stderr.flush()
