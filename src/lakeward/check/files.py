"""The files of a repository that can hold Databricks code, found without following a link twice."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Literal

from lakeward.user_code import is_source_folder

FileKind = Literal["python", "notebook", "archive", "sql", "bundle", "job", "requirements"]

LARGEST = 4_000_000
"""Bytes of the largest file that is read: what is larger is data, whatever it is called."""

_SUFFIXES: dict[str, FileKind] = {
    ".py": "python",
    ".ipynb": "notebook",
    ".dbc": "archive",
    ".sql": "sql",
    # Those of them that define jobs.
    ".json": "job",
    ".yml": "job",
    ".yaml": "job",
}


@dataclass(frozen=True)
class SourceFile:
    """A file to read: `name` is its path below the folder that is checked, with slashes."""

    path: Path
    name: str
    kind: FileKind


def files_below(root: Path, *, most_entries: int | None = None) -> Iterator[SourceFile]:
    """Yield the files of interest at or below `root`, in the order of their names.

    Links to folders are followed as long as they lead to a folder that was not seen yet. A folder that
    cannot be listed is left out. With `most_entries` the search ends after as many files and folders.
    """
    if not root.is_dir():
        kind = _kind(root.name)
        if kind is not None:
            yield SourceFile(root, root.name, kind)
        return
    budget = count() if most_entries is None else iter(range(most_entries))
    yield from _walk(root, "", {_identity(root)}, budget)


def _walk(
    folder: Path, prefix: str, seen: set[tuple[int, int]], budget: Iterator[int]
) -> Iterator[SourceFile]:
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        if next(budget, None) is None:
            return
        try:
            is_folder = entry.is_dir()
        except OSError:
            continue
        if is_folder:
            if not is_source_folder(entry.name):
                continue
            path = folder / entry.name
            identity = _identity(path)
            if identity in seen or (path / "pyvenv.cfg").is_file():
                continue
            seen.add(identity)
            yield from _walk(path, f"{prefix}{entry.name}/", seen, budget)
        elif (kind := _kind(entry.name)) is not None:
            yield SourceFile(folder / entry.name, prefix + entry.name, kind)


def _kind(name: str) -> FileKind | None:
    if name in ("databricks.yml", "databricks.yaml"):
        return "bundle"
    if name == "pyproject.toml" or (name.endswith(".txt") and "requirements" in name):
        return "requirements"
    return _SUFFIXES.get(os.path.splitext(name)[1].lower())  # noqa: PTH122  # far cheaper for every file


def _identity(folder: Path) -> tuple[int, int]:
    try:
        status = folder.stat()
    except OSError:
        return (0, 0)
    return (status.st_dev, status.st_ino)
