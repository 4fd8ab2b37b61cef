"""The runtime that a repository was written for, from its pins on packages that lakeward replaces."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

from lakeward.environments.model import Declarations, LeftOut, Lock
from lakeward.environments.pin_overrides import are_compatible, reconcile_pins
from lakeward.environments.repository import repository_root
from lakeward.environments.sources import read_all
from lakeward.session import PROFILES, Profile

# Databricks Connect has the number of its runtime, pyspark that of the runtime's Spark but for its fixes.
_VERSION_OF: dict[str, Callable[[Profile], str]] = {
    "databricks-connect": lambda runtime: runtime.name,
    "pyspark": lambda runtime: runtime.spark.rpartition(".")[0],
}

# Operators whose version is the highest that they admit.
_UPPER = ("==", "~=", "<=", "<")


@dataclass(frozen=True)
class Pinned:
    """A runtime, and the pins that choose it; `exact` is False where no runtime satisfies them."""

    runtime: str
    pins: tuple[str, ...]
    exact: bool = True

    @property
    def reason(self) -> str:
        """Return why this runtime is used, as the rest of a sentence that names it."""
        pins, plural = " and ".join(self.pins), len(self.pins) > 1
        if self.exact:
            return f"which {pins} {'ask' if plural else 'asks'} for"
        return f"the nearest to {pins}, which {'need' if plural else 'needs'} another one"


def pinned_by(folder: Path) -> Pinned | None:
    """Return the runtime of the pins in the repository around `folder`. Raises ConfigurationError."""
    return pinned_by_declarations(read_all(repository_root(folder)))


def pinned_by_declarations(found: Declarations) -> Pinned | None:
    """Return the runtime of the pins in the declarations of a repository."""
    return pinned_runtime((*found.left_out, *reconcile_pins(found.wanted, ()).left_out), found.lock)


def pinned_runtime(left_out: Iterable[LeftOut], lock: Lock | None) -> Pinned | None:
    """Return the newest runtime that satisfies the pins, those on Databricks Connect first.

    The version in a lock is a pin, too. Where a pin is for a version that no runtime has, this is the oldest
    runtime above it. None where the newest runtime satisfies the pins, where they ask for a newer version,
    and where they exclude each other.
    """
    left = list(left_out)
    for package, version_of in _VERSION_OF.items():
        pins = {**dict(_pins(package, left)), **_locked(package, lock)}
        runtimes = [each for each in PROFILES.values() if each.spark]
        fitting = (
            each
            for each in runtimes
            if all(are_compatible(SpecifierSet(f"=={version_of(each)}.*"), pin) for pin in pins.values())
        )
        found = next(fitting, None) if pins else None
        if found is not None:
            newest = found is runtimes[0]
            return None if newest else Pinned(found.name, tuple(pins))
        nearest = _nearest(pins, runtimes, version_of)
        if nearest is not None:
            return nearest
    return None


def _nearest(
    pins: dict[str, SpecifierSet], runtimes: list[Profile], version_of: Callable[[Profile], str]
) -> Pinned | None:
    """Return the oldest runtime above the versions of pins that no runtime satisfies."""
    limits = {
        text: min(Version(each.version.removesuffix(".*")) for each in pin if each.operator in _UPPER)
        for text, pin in pins.items()
        if not any(are_compatible(SpecifierSet(f"=={version_of(each)}.*"), pin) for each in runtimes)
        and any(each.operator in _UPPER for each in pin)
    }
    if not limits:
        return None
    # The third number is that of a fix.
    lowest = Version(".".join(map(str, min(limits.values()).release[:2])))
    above = [each for each in runtimes if Version(version_of(each)) >= lowest]
    # The list begins with the newest.
    if not above or above[-1] is runtimes[0]:
        return None
    return Pinned(above[-1].name, tuple(limits), exact=False)


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
