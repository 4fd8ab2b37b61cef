"""The running installation: its version, its requirements, its environment."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from itertools import islice
from pathlib import Path

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

import lakeward
from lakeward.errors import SetupError


@dataclass(frozen=True)
class Installation:
    """lakeward as it is installed: `package` is the folder of its code, `linked` when that is a checkout.

    `requires` is what it needs, `spark_requires` what its Spark does.
    """

    distribution: metadata.Distribution
    package: Path
    linked: bool
    requires: tuple[Requirement, ...]
    spark_requires: tuple[Requirement, ...]
    python: SpecifierSet

    @property
    def version(self) -> str:
        """Return the version, of the installation."""
        return self.distribution.version


def own_installation() -> Installation:
    """Return the installation that this process runs from. Raises SetupError if it has none."""
    package = Path(lakeward.__file__).parent
    try:
        distribution = metadata.distribution("lakeward")
    except metadata.PackageNotFoundError:
        raise SetupError(
            "NOT_INSTALLED",
            f"lakeward runs from {package} without being installed, so that it cannot be put anywhere else.",
            next_step=f"pip install {package.parents[1]}",
        ) from None
    held = {str(file) for file in distribution.files or ()}
    in_place = Path(str(distribution.locate_file("lakeward"))).resolve() == package.resolve()
    return Installation(
        distribution,
        package,
        linked=not (in_place and "lakeward/__init__.py" in held),
        requires=tuple(_needed(distribution)),
        spark_requires=tuple(
            need for spark in islice(metadata.distributions(name="pyspark"), 1) for need in _needed(spark)
        ),
        python=SpecifierSet(distribution.metadata["Requires-Python"] or ">=3.10"),
    )


def installed_closure(roots: tuple[str, ...]) -> list[metadata.Distribution]:
    """Return the installed packages among `roots` and everything that they need here."""
    found: dict[str, metadata.Distribution] = {}
    waiting = [(name, frozenset[str]()) for name in roots]
    seen: set[tuple[str, frozenset[str]]] = set()
    while waiting:
        name, extras = waiting.pop()
        try:
            distribution = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            continue
        if (name, extras) in seen:
            continue
        seen.add((name, extras))
        found.setdefault(distribution.metadata["Name"], distribution)
        waiting += [(need.name, frozenset(need.extras)) for need in _needed(distribution, extras)]
    return list(found.values())


def _needed(
    distribution: metadata.Distribution, extras: frozenset[str] = frozenset()
) -> Iterator[Requirement]:
    for text in distribution.requires or ():
        requirement = Requirement(text)
        marker = requirement.marker
        if marker is None or any(marker.evaluate({"extra": extra}) for extra in ("", *extras)):
            yield requirement
