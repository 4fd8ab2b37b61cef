"""`%run`: which notebook is meant, and with which arguments."""

from __future__ import annotations

import shlex
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path

from lakeward.errors import NotebookError
from lakeward.notebooks.parsing import SUFFIXES

__all__ = ["Inclusion", "included", "inclusion", "notebook_at"]


@dataclass(frozen=True)
class Inclusion:
    """A `%run` line: the path as written, and `$a="…"` arguments."""

    path: str
    arguments: dict[str, str] = field(default_factory=dict)


def inclusion(text: str) -> Inclusion:
    """Read what stands behind `%run`.

    >>> inclusion('"./a b" $x="1" $y=2')
    Inclusion(path='./a b', arguments={'x': '1', 'y': '2'})
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
    return Inclusion(words[0] if words else "", arguments)


def notebook_at(path: str, folder: Path, root: Path | None = None) -> Path | None:
    """The file of a notebook that is named with or without its extension, relative to `folder`.

    An absolute path is looked for as it is, then below `root`. None when there is no such file.
    """
    places = [folder / path]
    if path.startswith("/") and root is not None:
        own = path.removeprefix("/Workspace").lstrip("/")
        places.append(root / own)
    for place in places:
        for candidate in (place, *(place.with_name(place.name + suffix) for suffix in SUFFIXES)):
            if candidate.is_file():
                return candidate.resolve()
    return None


def included(asked: Inclusion, folder: Path, root: Path | None, running: Collection[Path]) -> Path:
    """The file that a `%run` in a notebook of `folder` asks for.

    Raises NotebookError: NOTEBOOK_NOT_FOUND, or NOTEBOOK_RUNS_ITSELF where the file is one of `running`.
    """
    found = notebook_at(asked.path, folder, root)
    if found is None:
        raise NotebookError(
            "NOTEBOOK_NOT_FOUND",
            f"%run asks for {asked.path}, and there is no such notebook.",
            next_step=f"Paths are relative to the notebook's own folder, {folder}.",
        )
    if found in running:
        raise NotebookError("NOTEBOOK_RUNS_ITSELF", f"%run {asked.path} is being run already.")
    return found
