"""Projects of dbt, which a command of their own runs."""

from __future__ import annotations

import posixpath
import shlex
from collections.abc import Iterable, Iterator

from lakeward.check.files import SourceFile
from lakeward.check.model import Finding, Place
from lakeward.dbt import PROJECT_FILE

# Where dbt installs packages, which have projects, too.
_INSTALLED = {"dbt_packages", "dbt_modules"}


def dbt_projects(files: Iterable[SourceFile], base: str) -> Iterator[Finding]:
    """Yield a finding for each project of dbt, with the command that runs it.

    `base` leads from the working folder to the one that is checked; it ends with a slash.
    """
    for file in files:
        folder, name = posixpath.split(file.name)
        if name == PROJECT_FILE and _INSTALLED.isdisjoint(folder.split("/")):
            command = build_command(posixpath.normpath(base + folder))
            cure = "The connection of its profile leads to a warehouse that the command serves."
            yield Finding("runs_with_lakeward", f"dbt project (`{command}`)", Place(file.name), cure)


def build_command(folder: str, options: str = "") -> str:
    """Return the command that builds the project in a folder, which is relative to the working folder.

    >>> build_command("."), build_command("my shop", " -t dev")
    ('lakeward dbt build', "lakeward dbt -t dev build --project-dir 'my shop'")
    """
    place = "" if folder in ("", ".") else f" --project-dir {shlex.quote(folder)}"
    return f"lakeward dbt{options} build{place}"
