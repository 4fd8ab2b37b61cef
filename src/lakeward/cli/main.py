"""The entry point: start-up checks, the commands, and the report of errors that leave them."""

from __future__ import annotations

import importlib
import os
import sys
import time
from collections import UserDict
from collections.abc import Iterator, Sequence
from importlib import metadata
from pathlib import Path

import click

from lakeward.cli import failures
from lakeward.cli.repository import enter_environment
from lakeward.environments import CLASH, conflicting_connect_version, removal_command
from lakeward.errors import SetupError
from lakeward.session import count_interrupts, use_daemon
from lakeward.suggestions import did_you_mean

COMMANDS = {
    "run": "run",
    "pipeline": "pipeline",
    "notebook": "notebook",
    "bundle": "bundle",
    "sql": "sql",
    "dbt": "dbt",
    "events": "events",
    "report": "report",
    "doctor": "doctor",
    "test": "test",
    "check": "check",
    "seed": "seed",
    "pull": "seed",
    "stop": "stop",
    "workspace": "workspace",
    "init": "init",
    "completion": "completion",
}
"""Name of each command and its module in this package."""
# They start no Spark here; `test` makes an environment of its own.
_WITHOUT_SPARK = frozenset({"bundle", "check", "completion", "doctor", "init", "report", "stop", "test"})


class LazyCommands(UserDict[str, click.Command]):
    """The commands by name, each imported on first access: a command line needs the modules of one."""

    def __getitem__(self, name: str) -> click.Command:
        if name in COMMANDS and name not in self.data:
            self.data[name] = getattr(importlib.import_module(f"lakeward.cli.{COMMANDS[name]}"), name)
        return super().__getitem__(name)

    def __contains__(self, name: object) -> bool:
        return name in COMMANDS or super().__contains__(name)

    def __iter__(self) -> Iterator[str]:
        return iter({**COMMANDS, **self.data})

    def __len__(self) -> int:
        return len({**COMMANDS, **self.data})


class Commands(click.Group):
    """A group that answers an unknown command with the ones it may have meant."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and not args[0].startswith("-") and self.get_command(ctx, args[0]) is None:
            known = self.list_commands(ctx)
            hint = did_you_mean(args[0], known) or f"There are: {', '.join(known)}."
            raise click.UsageError(f"There is no command `{args[0]}`. {hint}", ctx)
        return super().resolve_command(ctx, args)


@click.group(
    cls=Commands,
    commands=LazyCommands(),
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit codes: 0 done, 1 the run failed or something was found, 2 wrong usage or configuration, "
    "130 Ctrl-C.",
    invoke_without_command=True,
    no_args_is_help=True,
)
@click.option(
    "--version", is_flag=True, help="Show the version and exit; with --verbose all that a bug report needs."
)
@click.option("--verbose", is_flag=True, help="With --version: versions of packages, Java and platform, too.")
@click.pass_context
def lakeward(ctx: click.Context, version: bool, verbose: bool) -> None:
    """Run Databricks pipelines, jobs and SQL on open-source Spark and Delta.

    The same source files, the same tables, the same error conditions, without a workspace.
    """
    if version:
        show_version(verbose=verbose)
        ctx.exit()
    if verbose or ctx.invoked_subcommand is None:
        raise click.UsageError(
            "--verbose before a command belongs to --version; commands have their own.", ctx
        )
    if not {"-h", "--help"} & set(ctx.obj or ()):
        refuse_or_warn(ctx.invoked_subcommand)


def show_version(*, verbose: bool) -> None:
    """Print the version, or the lines of a bug report."""
    if verbose:
        from lakeward.cli.version_report import version_lines

        click.echo("\n".join(version_lines()))
    else:
        click.echo(f"lakeward {metadata.version('lakeward')}")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit code.

    0 done, 1 the run failed, 2 wrong usage or configuration, 130 Ctrl-C. An error of the user's is one
    message on stderr; an internal one names the file that has its traceback. With `--json` the one
    object on stdout is printed in these cases too.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    open_closed_streams()
    began = time.monotonic()
    use_daemon()
    try:
        if argv is None:
            enter_environment(arguments)
        result = lakeward.main(
            args=arguments or ["--help"], prog_name="lakeward", standalone_mode=False, obj=arguments
        )
        return result if isinstance(result, int) else 0
    except (click.Abort, KeyboardInterrupt):
        failure = failures.CANCELED
    except Exception as error:  # noqa: BLE001  this is where every error ends
        failure = failures.CANCELED if count_interrupts() else failures.failure_of(error, called(arguments))
    failures.show(failure, as_json="--json" in arguments, seconds=time.monotonic() - began)
    return failure.exit_code


def open_closed_streams() -> None:
    """Discard what is printed to a stream that the shell has closed (`>&-`): Python has None for it."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115  used until the end


def called(arguments: Sequence[str]) -> str:
    """Return the command that a command line calls, with the command of its group.

    >>> called(["bundle", "validate", "-t"]), called(["sql", "-e"]), called(["--nix"])
    ('lakeward bundle validate', 'lakeward sql', 'lakeward')
    """
    words = ["lakeward"]
    group: click.Command | None = lakeward
    context = click.Context(lakeward)
    for word in arguments:
        group = group.get_command(context, word) if isinstance(group, click.Group) else None
        if group is None:
            break
        words.append(word)
    return " ".join(words)


def refuse_or_warn(command: str | None, *, system: str = os.name) -> None:
    """Refuse a command that needs Spark where Databricks Connect is installed; warn for the others.

    Raises SetupError: DATABRICKS_CONNECT_INSTALLED where it does, WINDOWS_NOT_SUPPORTED outside of WSL.
    """
    if system == "nt":
        raise SetupError(
            "WINDOWS_NOT_SUPPORTED",
            "lakeward runs on Linux and macOS, and on Windows inside the Windows Subsystem for Linux.",
            next_step="Call `wsl --install`, then the same command in its terminal.",
        )
    version = conflicting_connect_version()
    if version is None:
        return
    message = (
        f"{CLASH} {version} is installed in lakeward's own environment, "
        "and its pyspark has taken the place of Spark's."
    )
    if command not in _WITHOUT_SPARK:
        raise SetupError("DATABRICKS_CONNECT_INSTALLED", message, next_step=removal_command())
    click.echo(f"warning: [DATABRICKS_CONNECT_INSTALLED] {message}\n  → {removal_command()}", err=True)
