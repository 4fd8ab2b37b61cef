"""The files in which a repository names its dependencies, a module a kind.

Each reads a folder and returns a `Found`; none runs the repository's code.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from operator import add
from pathlib import Path

from lakeward.environments.model import Declarations, Role
from lakeward.environments.sources import (
    conda,
    locks,
    pipfile,
    poetry,
    pyproject,
    requirements_txt,
    setuptools_files,
)

__all__ = ["SOURCES", "read_all", "requirements_of_project"]

SOURCES: tuple[tuple[str, Callable[[Path], Declarations]], ...] = (
    ("pyproject.toml", pyproject.read),
    ("pyproject.toml of Poetry", poetry.read),
    ("setup.py and setup.cfg", setuptools_files.read),
    ("Pipfile", pipfile.read),
    ("requirements*.txt", requirements_txt.read),
    ("environment.yml of conda", conda.read),
    ("uv.lock, poetry.lock, pdm.lock, Pipfile.lock", locks.read),
)


def read_all(root: Path) -> Declarations:
    """Return what all files of the repository in `root` declare. Raises ConfigurationError with the file."""
    return reduce(add, (read(root) for _, read in SOURCES), Declarations())


def requirements_of_project(folder: Path) -> tuple[str, ...]:
    """Return what the package in `folder` needs at run time: no extras, no groups, no requirements files."""
    packages = (pyproject.read, poetry.read, setuptools_files.read)
    found = reduce(add, (read(folder) for read in packages), Declarations())
    return tuple(each.text for each in found.wanted if each.role is Role.RUN)
