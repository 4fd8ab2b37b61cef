"""Plan what is installed for the tests of a repository, from its declarations."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from lakeward.environments.imported_packages import ImportedPackage
from lakeward.environments.installation import Installation
from lakeward.environments.interpreters import Interpreter
from lakeward.environments.model import Declarations, DeclaredRequirement, LeftOut, Role
from lakeward.environments.pin_overrides import reconcile_pins, relax_lock
from lakeward.environments.provided_packages import OWN_PYSPARK, SETUPTOOLS, STAND_INS
from lakeward.environments.repository import is_package, package_digest

_EXACT = ("==", "===")
_PYTEST = Requirement("pytest>=7")
"""What lakeward's plugin of pytest needs: the stash of `pytest.Config`."""


@dataclass(frozen=True)
class Attempt:
    """One way to fill the environment; `without` names what it gives up.

    `overrides` replace what packages ask of each other.
    """

    requirements: tuple[str, ...]
    constraints: tuple[str, ...]
    without: str = ""
    overrides: tuple[str, ...] = ()


@dataclass(frozen=True)
class Plan:
    """An environment to build: its Python, the ways to fill it (the best first), and the decisions.

    `imported` are packages of the runtime that the code imports without declaring them.
    """

    root: Path
    interpreter: Interpreter
    attempts: tuple[Attempt, ...]
    overrides: tuple[str, ...]
    left_out: tuple[LeftOut, ...]
    relaxed: tuple[str, ...]
    imported: tuple[ImportedPackage, ...]
    package: bool
    key: str


def plan_environment(
    found: Declarations,
    root: Path,
    own: Installation,
    interpreter: Interpreter,
    imported: tuple[ImportedPackage, ...] = (),
) -> Plan:
    """Return the environment for the repository in `root`, which declares `found` and imports `imported`."""
    own = replace(own, requires=(*own.requires, _PYTEST))
    reconciled = reconcile_pins(found.wanted, own.requires)
    constraints = reconcile_pins(found.constraints, own.requires)
    versions, relaxed = relax_lock(found.lock, own.requires) if found.lock else ({}, ())
    # An installer takes constraints on plain names alone.
    stated = [each for each in constraints.wanted if each.requirement and str(each.requirement.specifier)]
    attempts = tuple(
        _attempts(
            reconciled.wanted,
            (f"lakeward=={own.version}", *(str(each) for each in own.requires)),
            found.index_options,
            tuple(each.text for each in stated),
            tuple(f"{name}=={version}" for name, version in versions.items()),
            found.lock.origin if found.lock else "",
            tuple(find_overrides(own, reconciled.wanted)),
        )
    )
    extras = _extras_by_name(reconciled.wanted, interpreter)
    overrides = (*_overrides(own, extras), *(f"{name} ; sys_platform == 'never'" for name in found.excluded))
    package = is_package(root)
    facts = {
        "root": str(root),
        "python": [str(interpreter.path), interpreter.version],
        "own": [own.version, str(own.package), str(own.linked), sorted(map(str, own.requires))],
        "attempts": [[each.requirements, each.constraints, each.overrides] for each in attempts],
        "overrides": overrides,
        # Environments of earlier versions, which did not install it, have another key.
        "always": SETUPTOOLS,
        "package": package_digest(root) if package else "",
        "imported": sorted(f"{each.package.package}=={each.package.version}" for each in imported),
    }
    key = hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:16]
    left_out = (*found.left_out, *reconciled.left_out)
    decisions = (*reconciled.relaxed, *relaxed)
    return Plan(root, interpreter, attempts, overrides, left_out, decisions, imported, package, key)


def _attempts(
    wanted: tuple[DeclaredRequirement, ...],
    own_lines: tuple[str, ...],
    options: tuple[str, ...],
    stated: tuple[str, ...],
    locked: tuple[str, ...],
    lock: str,
    enforcing: tuple[str, ...],
) -> Iterator[Attempt]:
    """Yield attempts: with the lock, without it, direct requirements only, no exact pins, no extras.

    Extras are given up last: code imports what is in them. Exact pins become lower bounds: old ones have no
    wheel for this Python, or belong to a pin that lakeward had to relax.
    """
    pinned = tuple(dict.fromkeys(_file_of(each.origin) for each in wanted if _exact_versions(each)))
    others = tuple(dict.fromkeys(_file_of(each.origin) for each in wanted if each.role is Role.OTHER))
    for role, left in ((Role.OTHER, ""), *([(Role.TEST, ", ".join(others))] if others else [])):
        included = [each for each in wanted if each.role <= role]
        lines = (*options, *own_lines, *dict.fromkeys(each.text for each in included))
        if locked:
            yield Attempt(lines, (*stated, *locked), left)
        parts = [f"the versions of {lock}" if locked else "", left]
        yield Attempt(lines, stated, " and ".join(filter(None, parts)))
        parts.insert(0, "what packages ask of each other against the direct requirements")
        yield Attempt(lines, stated, " and ".join(filter(None, parts)), enforcing)
        if pinned and not _are_contradictory(included):
            loose = (*options, *own_lines, *dict.fromkeys(_with_lower_bound(each) for each in included))
            parts[0] = f"the exact versions of {', '.join(pinned)} (newer ones are installed)"
            yield Attempt(loose, (), " and ".join(filter(None, parts)))


def _exact_versions(wanted: DeclaredRequirement) -> set[str]:
    """Return the versions that a requirement pins with `==` or `===`."""
    clauses = wanted.requirement.specifier if wanted.requirement is not None else ()
    return {each.version for each in clauses if each.operator in _EXACT}


def _are_contradictory(wanted: Iterable[DeclaredRequirement]) -> bool:
    """Return whether two files pin one package to different versions: no other version is meant."""
    versions: dict[str, set[str]] = {}
    for each in wanted:
        if each.requirement is not None:
            versions.setdefault(canonicalize_name(each.requirement.name), set()).update(_exact_versions(each))
    return any(len(found) > 1 for found in versions.values())


def _with_lower_bound(wanted: DeclaredRequirement) -> str:
    """Return the requirement with `>=` in place of `==`.

    >>> exact = Requirement("a==1.2.*,!=1.2.4")
    >>> _with_lower_bound(DeclaredRequirement(str(exact), "here", requirement=exact))
    'a!=1.2.4,>=1.2'
    """
    if wanted.requirement is None or not _exact_versions(wanted):
        return wanted.text
    loose = [
        f">={each.version.removesuffix('.*')}" if each.operator in _EXACT else str(each)
        for each in wanted.requirement.specifier
    ]
    return str(_with(wanted.requirement, SpecifierSet(",".join(loose))))


def _file_of(origin: str) -> str:
    """Return where a requirement stands, without its line.

    >>> _file_of("x-requirements.txt:12"), _file_of("pyproject.toml extra se")
    ('x-requirements.txt', 'pyproject.toml extra se')
    """
    return re.sub(r":\d+$", "", origin)


def _extras_by_name(
    wanted: Iterable[DeclaredRequirement], interpreter: Interpreter
) -> Mapping[str, frozenset[str]]:
    """Return the extras that are requested of each package on this Python."""
    environment = {
        "python_version": ".".join(interpreter.version.split(".")[:2]),
        "python_full_version": interpreter.version,
    }
    found: dict[str, frozenset[str]] = {}
    for each in wanted:
        requested = each.requirement
        if requested is not None and (requested.marker is None or requested.marker.evaluate(environment)):
            name = canonicalize_name(requested.name)
            found[name] = found.get(name, frozenset()) | requested.extras
    return found


def _overrides(own: Installation, extras: Mapping[str, frozenset[str]]) -> Iterator[str]:
    """Yield what uv takes in place of what packages of packages ask for: lakeward's Spark, and no other's.

    It replaces direct requirements, too, with their extras: so an override names these again.
    """
    pins = {canonicalize_name(each.name): each for each in (*own.spark_requires, *own.requires)}
    for name in STAND_INS:
        if name in pins:
            yield str(_with_extras(pins[name], extras.get(name, frozenset())))
        elif name not in (*OWN_PYSPARK, "lakeward"):
            yield f"{name} ; sys_platform == 'never'"


def find_overrides(own: Installation, wanted: Iterable[DeclaredRequirement]) -> Iterator[str]:
    """Yield overrides for a conflict between indirect requirements: direct ones win.

    The repository's own pins replace what other packages ask of the same package; so do lakeward's needs,
    with the repository's pin where both can be satisfied. Each has the extras of all requirements of its
    package, which it replaces.
    """
    direct: dict[str, Requirement] = {}
    extras: dict[str, frozenset[str]] = {}
    for each in wanted:
        requested = each.requirement
        if requested is None:
            continue
        name = canonicalize_name(requested.name)
        extras[name] = extras.get(name, frozenset()) | requested.extras
        if requested.url is not None or not str(requested.specifier):
            continue
        known = direct.get(name)
        direct[name] = _with(
            requested, requested.specifier & known.specifier if known else requested.specifier
        )
    for need in own.requires:
        name = canonicalize_name(need.name)
        if name not in STAND_INS:
            known = direct.get(name)
            direct[name] = _with(need, need.specifier & known.specifier) if known else need
    yield from (
        str(_with_extras(each, extras.get(name, frozenset())))
        for name, each in direct.items()
        if name not in STAND_INS
    )


def _with(requirement: Requirement, specifier: SpecifierSet) -> Requirement:
    changed = Requirement(str(requirement))
    changed.specifier = specifier
    return changed


def _with_extras(requirement: Requirement, extras: frozenset[str]) -> Requirement:
    changed = Requirement(str(requirement))
    changed.extras = changed.extras | extras
    return changed
