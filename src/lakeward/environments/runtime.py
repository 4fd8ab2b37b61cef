"""The runtime that a repository was written for, told by its pins on what lakeward stands in for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import canonicalize_name

from lakeward.environments.model import LeftOut, Lock
from lakeward.environments.relax import compatible, reconcile
from lakeward.environments.repository import root_of
from lakeward.environments.sources import read_all
from lakeward.session import PROFILES, Profile

__all__ = ["Pinned", "pinned_by", "pinned_runtime"]

# Databricks Connect has the number of its runtime, pyspark that of the runtime's Spark but for its fixes.
_VERSION_OF: dict[str, Callable[[Profile], str]] = {
    "databricks-connect": lambda runtime: runtime.name,
    "pyspark": lambda runtime: runtime.spark.rpartition(".")[0],
}


@dataclass(frozen=True)
class Pinned:
    """A runtime, and the pins that only it and older ones satisfy."""

    runtime: str
    pins: tuple[str, ...]


def pinned_by(folder: Path) -> Pinned | None:
    """The runtime that the pins of the repository around `folder` choose. Raises ConfigurationError."""
    found = read_all(root_of(folder))
    return pinned_runtime((*found.left_out, *reconcile(found.wanted, ()).left_out), found.lock)


def pinned_runtime(left_out: Iterable[LeftOut], lock: Lock | None) -> Pinned | None:
    """The newest runtime that satisfies the pins, those on Databricks Connect first.

    The version in a lock is a pin, too. None where the newest runtime of all satisfies them, or none does.
    """
    left = list(left_out)
    for package, version_of in _VERSION_OF.items():
        pins = {**dict(_pins(package, left)), **_locked(package, lock)}
        runtimes = [each for each in PROFILES.values() if each.spark]
        fitting = (
            each
            for each in runtimes
            if all(compatible(SpecifierSet(f"=={version_of(each)}.*"), pin) for pin in pins.values())
        )
        found = next(fitting, None) if pins else None
        if found is not None:
            newest = found is runtimes[0]
            return None if newest else Pinned(found.name, tuple(pins))
    return None


def _pins(package: str, left_out: Iterable[LeftOut]) -> Iterator[tuple[str, SpecifierSet]]:
    for each in left_out:
        try:
            requirement = Requirement(each.text)
        except InvalidRequirement:
            continue
        if canonicalize_name(requirement.name) == package and str(requirement.specifier):
            yield f"{requirement.name}{requirement.specifier} ({each.origin})", requirement.specifier


def _locked(package: str, lock: Lock | None) -> dict[str, SpecifierSet]:
    version = lock.versions.get(package) if lock else None
    if lock is None or version is None:
        return {}
    text = f"=={version}"
    try:
        return {f"{package}{text} ({lock.origin})": SpecifierSet(text)}
    except InvalidSpecifier:
        return {}
