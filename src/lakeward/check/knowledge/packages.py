"""Pins that exclude what lakeward itself needs, and packages that cannot stand beside it."""

from __future__ import annotations

import re
from functools import cache
from importlib import metadata

from lakeward.check.model import Fact, Use

__all__ = ["requirement"]

_EXCLUSIVE = {
    "databricks-connect": "It brings a pyspark of its own: keep it and lakeward in two environments."
}


def requirement(use: Use) -> Fact | None:
    """The verdict on one requirement; `detail` is its version specifier."""
    from packaging.specifiers import InvalidSpecifier, SpecifierSet

    name = re.sub(r"[-_.]+", "-", use.name).lower()
    if name in _EXCLUSIVE:
        return Fact(f"package {name}", "differs", _EXCLUSIVE[name])
    version = _pinned().get(name)
    if version is None or not use.detail:
        return None
    try:
        fits = SpecifierSet(use.detail).contains(version, prereleases=True)
    except InvalidSpecifier:
        return None
    if fits:
        return None
    cure = f"It excludes {name} {version}, which lakeward runs on: leave the pin out of this environment."
    return Fact(f"package {name}{use.detail}", "differs", cure)


@cache
def _pinned() -> dict[str, str]:
    """The versions that lakeward is bound to, as its own metadata says."""
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
