"""Run commands in the repository's environment, which `lakeward test` uses, too."""

from __future__ import annotations

import itertools
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from lakeward.errors import LakewardError, UsageError

COMMANDS = ("run", "notebook", "pipeline", "sql", "workspace")
_VARIABLE = "LAKEWARD_ENVIRONMENT"
_FILES = (
    *("pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "Pipfile", "environment.yml"),
    "environment.yaml",
)


def enter_environment(arguments: Sequence[str]) -> None:
    """Replace this process by one in the repository's environment if the current one lacks packages.

    The environment is built on first use. If that fails, the command runs in this process after a warning,
    unless --with or --without requested the environment. Nothing happens with LAKEWARD_ENVIRONMENT=off.

    Raises ConfigurationError and SetupError for a requested environment that cannot be built, and
    UsageError(ENVIRONMENT_OFF) where it is switched off.
    """
    if not needs_environment(arguments):
        return
    added, excluded = values_of(arguments, "--with"), values_of(arguments, "--without")
    required = bool(added or excluded)
    if _VARIABLE in os.environ:
        if required and os.environ[_VARIABLE] == "off":
            raise UsageError(
                "ENVIRONMENT_OFF",
                "--with and --without change the repository's environment, and LAKEWARD_ENVIRONMENT=off "
                "switches it off.",
                next_step="Unset LAKEWARD_ENVIRONMENT, or leave the options out.",
            )
        return
    folder = Path.cwd()
    declared = any((each / name).is_file() for each in (folder, *folder.parents) for name in _FILES)
    if not (declared or required or any(each.suffix in (".py", ".ipynb") for each in folder.iterdir())):
        return
    from lakeward.environments import missing_requirements, prepare_environment

    try:
        if not required and not missing_requirements(folder):
            return
        environment = prepare_environment(folder, say=_say, tests=False, added=added, excluded=excluded)
        environ = {**environment.environ(), _VARIABLE: str(environment.folder)}
        # The runtime of tests; these commands have rules of their own.
        environ.pop("LAKEWARD_PINNED_RUNTIME", None)
    except LakewardError as error:
        if required:
            raise
        click.echo(f"warning: {error}", err=True)
        return
    environment.hold()
    sys.stdout.flush()
    sys.stderr.flush()
    python = environment.command()[0]
    os.execve(python, [python, "-m", "lakeward", *arguments], environ)  # noqa: S606


def values_of(arguments: Sequence[str], option: str) -> tuple[str, ...]:
    """Return the values of an option, before click has parsed the command line.

    >>> values_of(["run", "job", "--with", "a", "--with=b", "--without", "c", "--", "--with", "d"], "--with")
    ('a', 'b')
    """
    before = list(arguments[: arguments.index("--")] if "--" in arguments else arguments)
    following = itertools.pairwise(before)
    spaced = {number: value for number, (name, value) in enumerate(following) if name == option}
    joined = {
        number: value.partition("=")[2]
        for number, value in enumerate(before)
        if value.startswith(f"{option}=")
    }
    return tuple(value for _, value in sorted({**spaced, **joined}.items()))


def needs_environment(arguments: Sequence[str]) -> bool:
    """Return whether the command runs the repository's code."""
    command = next((each for each in arguments if not each.startswith("-")), "")
    return command in COMMANDS and not {"-h", "--help"} & set(arguments)


def _say(text: str) -> None:
    click.echo(f"lakeward: {text}", err=True)
