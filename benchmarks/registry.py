"""Cases, which register themselves when their module is imported."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

__all__ = ["Case", "Sides", "case", "load_cases", "matching"]


@dataclass(frozen=True)
class Sides:
    """The two callables that are timed.

    `prepare` runs before each of their calls and `check` gets what the call returned, both outside of the
    measured time; `check` raises where a side has not done its work. `figures` are asked for afterwards:
    what else is to be known of ours, by name.
    """

    ours: Callable[[], Any]
    peer: Callable[[], Any]
    prepare: Callable[[], None] = lambda: None
    check: Callable[[Any], None] = lambda _: None
    figures: Callable[[], Mapping[str, float]] = dict


Setup = Callable[[Path], AbstractContextManager[Sides]]


@dataclass(frozen=True)
class Case:
    """A named comparison: `goal` is the largest ratio ours/peer to be content with."""

    name: str
    setup: Setup
    goal: float | None = None
    warmups: int = 1


_cases: dict[str, Case] = {}


def case(name: str, *, goal: float | None = None, warmups: int = 1) -> Callable[[Setup], Setup]:
    """Register the context manager below as the case `<area>.<name>`; ValueError for a name that is taken."""

    def register(setup: Setup) -> Setup:
        if name in _cases:
            raise ValueError(f"The benchmark case {name} exists already.")
        _cases[name] = Case(name, setup, goal, warmups)
        return setup

    return register


def load_cases() -> dict[str, Case]:
    """All cases by name, after an import of every module in `benchmarks/cases`."""
    package = importlib.import_module("benchmarks.cases")
    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"{package.__name__}.{module.name}")
    return dict(sorted(_cases.items()))


def matching(cases: dict[str, Case], globs: list[str]) -> list[Case]:
    """The cases whose name matches one of `globs`; all of them without a glob."""
    return [c for c in cases.values() if not globs or any(fnmatchcase(c.name, glob) for glob in globs)]
