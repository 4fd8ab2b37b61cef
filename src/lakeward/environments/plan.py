"""From what a repository says to what is installed for its tests."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from packaging.utils import canonicalize_name

from lakeward.environments.interpreters import Interpreter
from lakeward.environments.model import Found, LeftOut, Role, Wanted
from lakeward.environments.own import Own
from lakeward.environments.relax import reconcile, unlocked
from lakeward.environments.repository import is_package, package_digest
from lakeward.environments.stand_ins import OWN_PYSPARK, STAND_INS

__all__ = ["Attempt", "Plan", "plan"]


@dataclass(frozen=True)
class Attempt:
    """One way to fill the environment; `without` says what it gives up."""

    requirements: tuple[str, ...]
    constraints: tuple[str, ...]
    without: str = ""


@dataclass(frozen=True)
class Plan:
    """An environment to be: its Python, the ways to fill it (the best first), and what was decided."""

    root: Path
    interpreter: Interpreter
    attempts: tuple[Attempt, ...]
    overrides: tuple[str, ...]
    left_out: tuple[LeftOut, ...]
    relaxed: tuple[str, ...]
    package: bool
    key: str


def plan(found: Found, root: Path, own: Own, interpreter: Interpreter) -> Plan:
    """The environment for the tests of the repository in `root`, of which `found` is what it says."""
    reconciled = reconcile(found.wanted, own.requires)
    constraints = reconcile(found.constraints, own.requires)
    versions, relaxed = unlocked(found.lock, own.requires) if found.lock else ({}, ())
    # An installer takes constraints on plain names alone.
    stated = [each for each in constraints.wanted if each.requirement and str(each.requirement.specifier)]
    attempts = tuple(
        _attempts(
            reconciled.wanted,
            _own_lines(own, reconciled.wanted),
            found.index_options,
            tuple(each.text for each in stated),
            tuple(f"{name}=={version}" for name, version in versions.items()),
            found.lock.origin if found.lock else "",
        )
    )
    overrides = tuple(_overrides(own))
    package = is_package(root)
    facts = {
        "root": str(root),
        "python": [str(interpreter.path), interpreter.version],
        "own": [own.version, str(own.package), str(own.linked), sorted(map(str, own.requires))],
        "attempts": [[each.requirements, each.constraints] for each in attempts],
        "package": package_digest(root) if package else "",
    }
    key = hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:16]
    left_out = (*found.left_out, *reconciled.left_out)
    return Plan(
        root, interpreter, attempts, overrides, left_out, (*reconciled.relaxed, *relaxed), package, key
    )


def _own_lines(own: Own, wanted: Iterable[Wanted]) -> tuple[str, ...]:
    names = {canonicalize_name(each.requirement.name) for each in wanted if each.requirement}
    lines = (f"lakeward=={own.version}", *(str(each) for each in own.requires))
    return lines if "pytest" in names else (*lines, "pytest")


def _attempts(
    wanted: tuple[Wanted, ...],
    own_lines: tuple[str, ...],
    options: tuple[str, ...],
    stated: tuple[str, ...],
    locked: tuple[str, ...],
    lock: str,
) -> Iterator[Attempt]:
    """Everything with the versions of the lock; then without the lock, then without further extras."""
    others = tuple(dict.fromkeys(_file_of(each.origin) for each in wanted if each.role is Role.OTHER))
    for role, left in ((Role.OTHER, ""), *([(Role.TEST, ", ".join(others))] if others else [])):
        texts = [each.text for each in wanted if each.role <= role]
        lines = (*options, *own_lines, *dict.fromkeys(texts))
        if locked:
            yield Attempt(lines, (*stated, *locked), left)
        without = " and ".join(filter(None, (f"the versions of {lock}" if locked else "", left)))
        yield Attempt(lines, stated, without)


def _file_of(origin: str) -> str:
    """Where a requirement stands, without its line.

    >>> _file_of("x-requirements.txt:12"), _file_of("pyproject.toml extra se")
    ('x-requirements.txt', 'pyproject.toml extra se')
    """
    return re.sub(r":\d+$", "", origin)


def _overrides(own: Own) -> Iterator[str]:
    """What uv takes in place of what packages of packages ask for: lakeward's Spark, and no other's."""
    pins = {canonicalize_name(each.name): each for each in (*own.spark_requires, *own.requires)}
    for name in STAND_INS:
        if name in pins:
            yield str(pins[name])
        elif name not in (*OWN_PYSPARK, "lakeward"):
            yield f"{name} ; sys_platform == 'never'"
