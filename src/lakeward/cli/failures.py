"""What the user sees of an error: a message and an exit code, never a traceback."""

from __future__ import annotations

import errno
import json
import os
import sys
import tempfile
import time
import traceback
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

import click

from lakeward.atomic_files import atomic_write
from lakeward.cli.formatting import plain
from lakeward.errors import LakewardError, first_line
from lakeward.private_folders import private_folder

state_folder: ContextVar[Path | None] = ContextVar("state_folder", default=None)
"""The state folder of the target that the command has settled on."""

DISK_ERRORS = {
    errno.ENOSPC: ("DISK_FULL", "Free some space, then run the same command again: it continues."),
    errno.EDQUOT: ("DISK_FULL", "Free some of your quota, then run the same command again: it continues."),
    errno.EROFS: ("READ_ONLY_FOLDER", "Set LAKEWARD_HOME to a folder that can be written."),
    errno.EACCES: ("PERMISSION_DENIED", "Give yourself the permission, or set LAKEWARD_HOME."),
    errno.EPERM: ("PERMISSION_DENIED", "Give yourself the permission, or set LAKEWARD_HOME."),
}


@dataclass(frozen=True)
class Failure:
    """One message, the next step if one is known, and the exit code that goes with them."""

    message: str
    next_step: str | None = None
    exit_code: int = 1


CANCELED = Failure("canceled by Ctrl-C", exit_code=130)


def failure_of(error: Exception, command: str = "lakeward") -> Failure:
    """Return the failure that `error` is to the user; an internal one is written to a crash log first.

    `command` is what the user has called, for errors of usage that lack it.
    """
    if "py4j" in sys.modules:
        from lakeward.session import is_lost, jvm_lost

        if is_lost(error):
            return failure_of(jvm_lost())
    if isinstance(error, LakewardError):
        return Failure(f"[{error.condition}] {error.message}", error.next_step, error.exit_code)
    # Click before 8.2 prints the help itself.
    if isinstance(error, getattr(click.exceptions, "NoArgsIsHelpError", ())):
        assert isinstance(error, click.UsageError)
        # The text of the error is the whole help.
        usage = error.ctx.command_path if error.ctx else command
        return Failure(f"`{usage}` needs a command: {_subcommands(error)}.", _help_of(usage), 2)
    if isinstance(error, click.UsageError):
        usage = error.ctx.command_path if error.ctx else command
        # A choice that is missing is listed in lines with tabs.
        return Failure(" ".join(error.format_message().split()), _help_of(usage), 2)
    if isinstance(error, click.ClickException):
        return Failure(error.format_message(), exit_code=2)
    if isinstance(error, OSError) and error.errno in DISK_ERRORS:
        condition, next_step = DISK_ERRORS[error.errno]
        return Failure(f"[{condition}] {error.strerror}: {error.filename or 'the state folder'}.", next_step)
    if type(error).__module__.startswith("pyspark.errors"):
        from lakeward.cli.spark_errors import condense_error

        return Failure(condense_error(str(error)), f"The full traceback is in {crash_log(error)}")
    return Failure(
        f"[INTERNAL_ERROR] {type(error).__name__}: {first_line(str(error), 'no message')}",
        f"This is a fault of lakeward. The full traceback is in {crash_log(error)}",
    )


def _help_of(usage: str) -> str:
    return f"{usage} --help shows what there is."


def _subcommands(error: click.UsageError) -> str:
    group = error.ctx.command if error.ctx else None
    assert error.ctx is not None
    assert isinstance(group, click.Group)
    return ", ".join(group.list_commands(error.ctx))


def crash_log(error: Exception) -> Path:
    """Write the traceback below the state folder, or the temporary one where that cannot be; its path."""
    from lakeward.dbutils import redact

    text = redact("".join(traceback.format_exception(error)))
    name = f"crash-{time.strftime('%Y%m%dT%H%M%S')}-{os.getpid()}.log"
    unresolved = Path(os.environ.get("LAKEWARD_HOME") or ".lakeward").absolute() / "local"
    for folder in (state_folder.get() or unresolved, Path(tempfile.gettempdir())):
        try:
            if not folder.is_dir():
                private_folder(folder)
            atomic_write(folder / name, text, mode=0o600)
        except OSError:
            continue
        return folder / name
    return Path(os.devnull)


def shows_colour(stream: TextIO) -> bool:
    """Return whether messages on the stream have colours: on terminals, unless NO_COLOR is set."""
    return "NO_COLOR" not in os.environ and stream.isatty()


def error_head(stream: TextIO) -> str:
    """Return the word that begins a message of an error, for this stream."""
    return click.style("error:", fg="red", bold=True) if shows_colour(stream) else "error:"


def show(failure: Failure, *, as_json: bool, seconds: float) -> None:
    """Print the failure on stderr and, with `--json`, the object of a run that did not happen on stdout."""
    from lakeward.dbutils import redact

    # Messages contain names and values of data.
    message = plain(redact(failure.message))
    colour = shows_colour(sys.stderr)
    click.echo(f"{error_head(sys.stderr)} {message}", err=True, color=colour)
    if failure.next_step:
        click.echo(f"  → {plain(failure.next_step)}", err=True, color=colour)
    if as_json:
        state = "CANCELED" if failure.exit_code == 130 else "FAILED"
        run: dict[str, object] = {"state": state, "run_id": None, "datasets": [], "tasks": []}
        run |= {"seconds": round(seconds, 3), "error": message}
        print(json.dumps(run, ensure_ascii=False))
