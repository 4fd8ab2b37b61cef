"""The packages that the tests of a repository need, as its files declare them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

Say = Callable[[str], None]
"""Shows a line of progress to the user."""


class Role(IntEnum):
    """How much the tests need a requirement; the last ones are given up first."""

    RUN = 0
    TEST = 1
    OTHER = 2


@dataclass(frozen=True)
class DeclaredRequirement:
    """One requirement and where it stands (`requirements.txt:3`).

    `requirement` is None for a line that only an installer understands: `-e ./libs/a`, a wheel's path.
    """

    text: str
    origin: str
    role: Role = Role.RUN
    requirement: Requirement | None = None


@dataclass(frozen=True)
class LeftOut:
    """A requirement that is not installed, and why."""

    text: str
    origin: str
    why: str


@dataclass(frozen=True)
class PythonWanted:
    """The versions of Python that a repository runs on."""

    specifier: SpecifierSet
    origin: str


@dataclass(frozen=True)
class Lock:
    """The versions that a lock file chose, by package."""

    origin: str
    versions: dict[str, str]


@dataclass(frozen=True)
class Declarations:
    """The declarations of one file, or of all files together."""

    wanted: tuple[DeclaredRequirement, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    constraints: tuple[DeclaredRequirement, ...] = ()
    index_options: tuple[str, ...] = ()
    python: tuple[PythonWanted, ...] = ()
    lock: Lock | None = None
    files: tuple[Path, ...] = field(default=())
    excluded: tuple[str, ...] = ()

    def __add__(self, other: Declarations) -> Declarations:
        """Return both declarations, this one first; the first lock counts."""
        return Declarations(
            self.wanted + other.wanted,
            self.left_out + other.left_out,
            self.constraints + other.constraints,
            tuple(dict.fromkeys(self.index_options + other.index_options)),
            self.python + other.python,
            self.lock or other.lock,
            self.files + other.files,
            self.excluded + other.excluded,
        )
