"""What a project of dbt declares: its profile, and the versions of dbt that it works with.

Source: https://docs.getdbt.com/reference/dbt_project.yml
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

from lakeward.dbt.variables import with_variables
from lakeward.dbt.yaml_files import read_mapping

PROJECT_FILE = "dbt_project.yml"
_TRIED = SpecifierSet(">=1.10,<1.12")
_TRIED_VERSIONS = [Version(f"1.{minor}.{patch}") for minor in (10, 11) for patch in range(40)]
# The versions of dbt and of its adapter that were tried (docs/dbt.md).


@dataclass(frozen=True)
class DbtProject:
    """A folder with a `dbt_project.yml`, and its content; empty if dbt cannot read it either."""

    folder: Path
    content: Mapping[str, Any]

    @classmethod
    def of(cls, folder: Path) -> DbtProject:
        """Read the project in `folder`. dbt itself reports what is wrong with the file."""
        return cls(folder, read_mapping(folder / PROJECT_FILE))

    @property
    def profile(self) -> str:
        """Return the name of the project's profile."""
        stated = str(self.content.get("profile") or self.content.get("name") or "")
        return with_variables(stated, os.environ) or "databricks"

    def requirements(self, declared: Iterable[str]) -> tuple[dict[str, str], tuple[str, ...]]:
        """Return the packages that run the project, by name, and those of `declared` that cannot.

        `declared` are requirements on dbt and its adapter. Versions from before those that were tried need
        packages that lakeward needs in newer versions. `dbt-core` is in the versions that
        `require-dbt-version` names, too.
        """
        found = {"dbt-databricks": _TRIED, "dbt-core": _TRIED & self._required_versions()}
        relaxed = []
        for text in declared:
            requirement = Requirement(text)
            name, versions = canonicalize_name(requirement.name), requirement.specifier & _TRIED
            if any(versions.contains(each) for each in _TRIED_VERSIONS):
                found[name] &= versions
            else:
                relaxed.append(text)
        return {name: f"{name}{versions}" for name, versions in found.items()}, tuple(relaxed)

    def _required_versions(self) -> SpecifierSet:
        versions = self.content.get("require-dbt-version") or ()
        parts = (versions,) if isinstance(versions, str) else versions
        try:
            return SpecifierSet(",".join(str(each) for each in parts))
        except (InvalidSpecifier, TypeError):
            return SpecifierSet()


def find_project(folder: Path) -> DbtProject | None:
    """Return the project of a folder; None without one."""
    place = project_folder(folder)
    return None if place is None else DbtProject.of(place)


def project_folder(folder: Path) -> Path | None:
    """Return `folder` or the nearest folder above it that has a project, as dbt does; None without one."""
    return next((place for place in (folder, *folder.parents) if (place / PROJECT_FILE).is_file()), None)
