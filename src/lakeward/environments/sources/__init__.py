"""The files in which a repository names its dependencies, a module a kind.

Each reads a folder and returns a `Found`; none runs the repository's code.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from operator import add
from pathlib import Path

from lakeward.environments.model import Found
from lakeward.environments.sources import (
    locks,
    pipfile,
    poetry,
    pyproject,
    requirements_txt,
    setuptools_files,
)

__all__ = ["SOURCES", "read_all"]

SOURCES: tuple[tuple[str, Callable[[Path], Found]], ...] = (
    ("pyproject.toml", pyproject.read),
    ("pyproject.toml of Poetry", poetry.read),
    ("setup.py and setup.cfg", setuptools_files.read),
    ("Pipfile", pipfile.read),
    ("requirements*.txt", requirements_txt.read),
    ("uv.lock, poetry.lock, pdm.lock, Pipfile.lock", locks.read),
)


def read_all(root: Path) -> Found:
    """What all files of the repository in `root` say together. Raises ConfigurationError with the file."""
    return reduce(add, (read(root) for _, read in SOURCES), Found())
