"""Start-up checks: conflicting packages and unsupported platforms."""

from __future__ import annotations

import os

import click

from lakeward.environments import CLASH, clash, cure
from lakeward.errors import SetupError

__all__ = ["refuse_or_warn"]

# They start no Spark here; `test` makes an environment of its own.
WITHOUT_SPARK = frozenset({"bundle", "check", "completion", "doctor", "init", "report", "stop", "test"})


def refuse_or_warn(command: str | None, *, system: str = os.name) -> None:
    """Say that Databricks Connect is installed here: a warning where `command` does not need Spark.

    Raises SetupError: DATABRICKS_CONNECT_INSTALLED where it does, WINDOWS_NOT_SUPPORTED outside of WSL.
    """
    if system == "nt":
        raise SetupError(
            "WINDOWS_NOT_SUPPORTED",
            "lakeward runs on Linux and macOS, and on Windows inside the Windows Subsystem for Linux.",
            next_step="Call `wsl --install`, then the same command in its terminal.",
        )
    version = clash()
    if version is None:
        return
    message = (
        f"{CLASH} {version} is installed in lakeward's own environment, "
        "and its pyspark has taken the place of Spark's."
    )
    if command not in WITHOUT_SPARK:
        raise SetupError("DATABRICKS_CONNECT_INSTALLED", message, next_step=cure())
    click.echo(f"warning: [DATABRICKS_CONNECT_INSTALLED] {message}\n  → {cure()}", err=True)
