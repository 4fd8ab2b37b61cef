"""Relax the repository's pins that exclude the versions lakeward needs; keep the others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from lakeward.environments.model import DeclaredRequirement, LeftOut, Lock
from lakeward.environments.provided_packages import StandIn, find_stand_in


@dataclass(frozen=True)
class ReconciledPins:
    """What is to be installed, and what of the repository's wishes is not."""

    wanted: tuple[DeclaredRequirement, ...]
    left_out: tuple[LeftOut, ...]
    relaxed: tuple[str, ...]


# Older releases of these end a newer pytest with an error at its import.
_PARTS_OF_PYTEST = frozenset(("py", "pluggy", "iniconfig", "attrs", "more-itertools", "importlib-metadata"))

# Their major releases remove names that code imports, and all have wheels for every Python.
_BREAKING_MAJORS = frozenset(("sqlglot",))


def reconcile_pins(wanted: Iterable[DeclaredRequirement], own: Sequence[Requirement]) -> ReconciledPins:
    """Leave out what lakeward replaces, and relax pins that exclude the versions of `own`."""
    needs = _by_name(own)
    kept: list[DeclaredRequirement] = []
    left_out: list[LeftOut] = []
    relaxed: list[str] = []
    without_pin: list[Requirement] = []
    for each in wanted:
        requested = each.requirement
        stand_in = find_stand_in(requested.name) if requested else None
        if requested is None:
            kept.append(each)
        elif stand_in is not None:
            left_out.append(LeftOut(each.text, each.origin, stand_in.why))
            kept += _instead(each, requested, stand_in, needs)
        elif (need := needs.get(canonicalize_name(requested.name))) and not _both(requested, need):
            bound = _oldest_major(need)
            now = f"{need.name}{need.specifier & bound}"
            relaxed.append(
                f"{requested.name}{requested.specifier} ({each.origin}) became {now}: lakeward needs that"
            )
            without_pin.append(requested)
            kept.append(_without_version(each, requested, bound))
        else:
            kept.append(each)
    if any(requested.name == "pytest" for requested in without_pin):
        kept = [_newer_part(each, relaxed) for each in kept]
    return ReconciledPins(tuple(kept), tuple(left_out), tuple(relaxed))


def _newer_part(each: DeclaredRequirement, relaxed: list[str]) -> DeclaredRequirement:
    """Return a requirement without its exact pin if it is one of pytest's parts; add a sentence for it."""
    requested = each.requirement
    if requested is None or canonicalize_name(requested.name) not in _PARTS_OF_PYTEST:
        return each
    pins = [pin for pin in requested.specifier if pin.operator == "==" and not pin.version.endswith(".*")]
    if not pins:
        return each
    relaxed.append(
        f"{requested.name}{requested.specifier} ({each.origin}) became {requested.name}: pytest needs that"
    )
    return _without_version(each, requested)


def relax_lock(lock: Lock, own: Sequence[Requirement]) -> tuple[dict[str, str], tuple[str, ...]]:
    """Return the versions of a lock that may hold, and the sentences on those of them that may not."""
    needs = _by_name(own)
    kept: dict[str, str] = {}
    relaxed: list[str] = []
    for name, version in lock.versions.items():
        if find_stand_in(name) is not None:
            continue
        need = needs.get(canonicalize_name(name))
        if need is None or _holds(need.specifier, version):
            kept[name] = version
        else:
            relaxed.append(f"{name}=={version} ({lock.origin}) became {need}: lakeward needs that")
    return kept, tuple(relaxed)


def are_compatible(first: SpecifierSet, second: SpecifierSet) -> bool:
    """Return whether some version satisfies both.

    Tried are the versions that they name and their neighbours: where two ranges meet, they meet there.

    >>> are_compatible(SpecifierSet("==1.5.3"), SpecifierSet(">=2.2,<3"))
    False
    >>> are_compatible(SpecifierSet("~=2.1"), SpecifierSet(">=2.2,<3"))
    True
    """
    both = first & second
    return any(both.contains(version, prereleases=True) for version in _near([*first, *second])) or not [
        *both
    ]


def _near(specifiers: Iterable[object]) -> Iterable[Version]:
    yield Version("0")
    for specifier in specifiers:
        try:
            version = Version(str(getattr(specifier, "version", "")).removesuffix(".*"))
        except InvalidVersion:
            continue
        release = [*version.release, 0, 0][: max(3, len(version.release))]
        yield version
        yield Version(".".join(map(str, [*release, 1])))
        for position in range(len(release)):
            yield Version(".".join(map(str, [*release[:position], release[position] + 1])))
            if release[position]:
                below = [*release[:position], release[position] - 1, 999]
                yield Version(".".join(map(str, below)))


def _instead(
    each: DeclaredRequirement, requested: Requirement, stand_in: StandIn, needs: Mapping[str, Requirement]
) -> Iterable[DeclaredRequirement]:
    """Return what must come all the same: the extras of Spark, and what the package would have brought."""
    texts = list(stand_in.instead)
    need = needs.get(canonicalize_name(requested.name))
    if requested.extras and need is not None:
        texts.append(f"{need.name}[{','.join(sorted(requested.extras))}]{need.specifier}")
    for text in texts:
        marked = f"{text} ; {requested.marker}" if requested.marker else text
        yield replace(each, text=marked, requirement=Requirement(marked))


def _both(requested: Requirement, need: Requirement) -> bool:
    # The version of a package from an address is known only to the installer.
    return requested.url is not None or are_compatible(requested.specifier, need.specifier)


def _holds(specifier: SpecifierSet, version: str) -> bool:
    try:
        return specifier.contains(version, prereleases=True)
    except InvalidVersion:
        return False


def _oldest_major(need: Requirement) -> SpecifierSet:
    """Return the bound that keeps a relaxed pin near to the declared one; empty for most packages.

    >>> str(_oldest_major(Requirement("sqlglot>=26"))), str(_oldest_major(Requirement("rich>=13.9")))
    ('<27', '')
    """
    if canonicalize_name(need.name) not in _BREAKING_MAJORS:
        return SpecifierSet()
    lowest = next(Version(each.version) for each in need.specifier if each.operator == ">=")
    return SpecifierSet(f"<{lowest.major + 1}")


def _without_version(
    each: DeclaredRequirement, requested: Requirement, bound: SpecifierSet | str = ""
) -> DeclaredRequirement:
    extras = f"[{','.join(sorted(requested.extras))}]" if requested.extras else ""
    text = f"{requested.name}{extras}{bound}" + (f" ; {requested.marker}" if requested.marker else "")
    return replace(each, text=text, requirement=Requirement(text))


def _by_name(own: Iterable[Requirement]) -> Mapping[str, Requirement]:
    return {canonicalize_name(each.name): each for each in own}
