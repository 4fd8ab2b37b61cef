"""What this environment has, and what a repository lacks in it. Imports little: commands wait for it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import cache
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from lakeward.environments.imported_packages import missing_imported_packages
from lakeward.environments.installation import own_installation
from lakeward.environments.model import Role
from lakeward.environments.pin_overrides import reconcile_pins
from lakeward.environments.repository import repository_root
from lakeward.environments.sources import read_all


def missing_requirements(folder: Path) -> tuple[str, ...]:
    """Return the runtime requirements of the repository around `folder` that this environment lacks.

    Requirements are also packages of the platform's runtime that the code imports. Packages that lakeward
    replaces and pins that it relaxes count as installed. In a checkout of lakeward the result is empty.
    Raises ConfigurationError for a file that cannot be read.
    """
    root = repository_root(folder)
    installation = own_installation()
    if installation.linked and installation.package.resolve().is_relative_to(root.resolve()):
        return ()
    stated = [each for each in read_all(root).wanted if each.role is Role.RUN]
    declared = tuple(
        each.text
        for each in reconcile_pins(stated, installation.requires).wanted
        if each.requirement is not None
        and (each.requirement.marker is None or each.requirement.marker.evaluate({"extra": ""}))
        and not is_installed(each.requirement)
    )
    return declared + missing_imported_packages(root)


def declared_requirements(folder: Path, names: Collection[str]) -> tuple[str, ...]:
    """Return the requirements on packages of these names that the repository around `folder` declares.

    Raises ConfigurationError for a file that cannot be read.
    """
    stated = (each for each in read_all(repository_root(folder)).wanted if each.requirement is not None)
    found = (
        each.text for each in stated if each.requirement and canonicalize_name(each.requirement.name) in names
    )
    return tuple(dict.fromkeys(found))


def is_installed(requirement: Requirement) -> bool:
    """Return whether this environment satisfies `requirement`, with what its extras need."""
    if requirement.url is not None:
        return False
    version = installed_versions().get(canonicalize_name(requirement.name))
    if version is None or not requirement.specifier.contains(version, prereleases=True):
        return False
    if not requirement.extras:
        return True
    needs = (Requirement(text) for text in metadata.requires(requirement.name) or ())
    return all(
        is_installed(need)
        for need in needs
        if need.marker is not None
        and not need.marker.evaluate({"extra": ""})
        and any(need.marker.evaluate({"extra": extra}) for extra in requirement.extras)
    )


@cache
def installed_versions() -> Mapping[str, str]:
    """Return the packages of this process's environment and their versions, as at the first call.

    A layer that is active later does not count: the next layer replaces it, and must have what it had.
    """
    return _versions(metadata.distributions())


def versions_in(site: Path) -> dict[str, str]:
    """Return the packages in the folder `site` and their versions."""
    return _versions(metadata.distributions(path=[str(site)]))


def _versions(distributions: Iterable[metadata.Distribution]) -> dict[str, str]:
    found: dict[str, str] = {}
    for distribution in distributions:
        name = distribution.metadata["Name"]
        if name:
            found.setdefault(canonicalize_name(name), distribution.version)
    return found
