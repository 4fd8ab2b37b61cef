"""Requirements that `lakeward test` leaves out, by its own table of them."""

from __future__ import annotations

from functools import cache
from importlib import metadata

from packaging.utils import canonicalize_name

from lakeward.check.model import Fact, Use


def requirement(use: Use) -> Fact | None:
    """Return the verdict on one requirement; `detail` is its version specifier. None where it may stay."""
    from lakeward.environments import STAND_INS

    name = canonicalize_name(use.name)
    stand_in = {str(package): each for package, each in STAND_INS.items()}.get(name)
    if stand_in is None or _admits(name, use.detail or ""):
        return None
    shown = f"package {name}{use.detail or ''}"
    return Fact(shown, "differs", f"`lakeward test` leaves it out: {stand_in.why}.")


def _admits(name: str, specifier: str) -> bool:
    """Return whether the specifier admits the version of `name` that lakeward pins."""
    from packaging.specifiers import InvalidSpecifier, SpecifierSet

    version = _pinned_versions().get(name)
    if version is None:
        return False
    try:
        return SpecifierSet(specifier).contains(version, prereleases=True)
    except InvalidSpecifier:
        return True


@cache
def _pinned_versions() -> dict[str, str]:
    """Return the versions that lakeward is bound to, as its own metadata says."""
    from packaging.requirements import Requirement

    try:
        texts = metadata.requires("lakeward") or []
    except metadata.PackageNotFoundError:
        return {}
    pins = {}
    for text in texts:
        parsed = Requirement(text)
        exact = [each.version for each in parsed.specifier if each.operator == "=="]
        if exact and parsed.marker is None:
            pins[parsed.name.lower()] = exact[0]
    return pins
