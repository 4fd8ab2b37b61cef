"""`%run` lines and the notebooks that they name."""

from __future__ import annotations

import shlex
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from lakeward.errors import NotebookError
from lakeward.notebooks.loader import find_notebook, similar_notebooks
from lakeward.session import MOUNT_ADVICE, is_platform_path

if TYPE_CHECKING:
    from lakeward.session import Settings


@dataclass(frozen=True)
class RunLine:
    """The path and `$a="…"` arguments of a `%run` line."""

    path: str
    arguments: dict[str, str] = field(default_factory=dict)


def parse_run_line(text: str) -> RunLine:
    """Parse the text after `%run`.

    >>> parse_run_line('"./a b" $x="1" $y=2')
    RunLine(path='./a b', arguments={'x': '1', 'y': '2'})
    """
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    try:
        words = shlex.split(line)
    except ValueError:
        words = line.split()
    arguments = {}
    for word in words[1:]:
        name, _, value = word.lstrip("$").partition("=")
        if name:
            arguments[name] = value
    return RunLine(words[0] if words else "", arguments)


def missing_notebook_advice(path: str, folder: Path) -> str:
    """Return what to do about a `path` in a notebook of `folder` at which there is no notebook."""
    if is_platform_path(path):
        return MOUNT_ADVICE
    similar = similar_notebooks(folder / path, path)
    return similar or f"Paths are relative to the notebook's own folder, {folder}."


def find_run_notebook(
    line: RunLine,
    folder: Path,
    root: Path | None,
    running: Collection[Path],
    *,
    settings: Settings | None = None,
) -> Path:
    """Return the file that a `%run` in a notebook of `folder` names.

    Args:
        line: The `%run` line.
        folder: The folder of the notebook.
        root: The folder of the bundle.
        running: Notebooks that are running already.
        settings: Those with the mounts; default: those of the session.

    Raises:
        NotebookError: NOTEBOOK_NOT_FOUND, PATH_AMBIGUOUS, or NOTEBOOK_RUNS_ITSELF where the file is one of
            `running`.
    """
    found = find_notebook(line.path, folder, root, settings=settings)
    if found is None:
        raise NotebookError(
            "NOTEBOOK_NOT_FOUND",
            f"%run names {line.path}, and there is no such notebook.",
            next_step=missing_notebook_advice(line.path, folder),
        )
    if found in running:
        raise NotebookError(
            "NOTEBOOK_RUNS_ITSELF",
            f"%run {line.path} is being run already.",
            next_step="Remove the %run that leads back to it.",
        )
    return found
