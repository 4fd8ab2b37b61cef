"""One target of a bundle with everything resolved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lakeward.bundle.configuration.computed_values import resource_id
from lakeward.bundle.configuration.findings import Finding
from lakeward.bundle.configuration.node import Key, Node, Position
from lakeward.bundle.python_project import Distribution, read_distribution
from lakeward.errors import BundleError
from lakeward.suggestions import unknown_name_hint

NOTEBOOK_SUFFIXES = (".py", ".ipynb", ".sql", ".scala", ".r", ".R")
CONNECTOR_FIELDS = ("ingestion_definition", "gateway_definition")
"""Fields of pipelines of Lakeflow Connect, which have no libraries."""


# Where resources name their catalog.
_CATALOG_FIELDS = {
    "catalogs": "name",
    "schemas": "catalog_name",
    "volumes": "catalog_name",
    "pipelines": "catalog",
}


@dataclass(frozen=True)
class Bundle:
    """One target of the bundle in folder `root`; `config` is its whole configuration without references.

    `notices` are the findings that were made while the files were read; `unexecuted` are the functions of
    the bundle's Python code that were not run, so that their resources are missing.
    """

    root: Path
    name: str
    target: str
    mode: str | None
    config: dict[str, Any]
    tree: Node | None = field(default=None, repr=False, compare=False)
    notices: tuple[Finding, ...] = field(default=(), repr=False, compare=False)
    unexecuted: tuple[str, ...] = field(default=(), repr=False, compare=False)

    @property
    def notebook_outcomes(self) -> Path | None:
        """Folder that keeps the outcome of each notebook task of a run; None where none is kept apart."""
        return None

    @property
    def files_path(self) -> str:
        """Return `${workspace.file_path}`, the folder of the deployed files; "" without one."""
        return str((self.config.get("workspace") or {}).get("file_path") or "")

    @property
    def jobs(self) -> Mapping[str, dict[str, Any]]:
        """Jobs by key."""
        return self.resources("jobs")

    @property
    def pipelines(self) -> Mapping[str, dict[str, Any]]:
        """Pipelines by key."""
        return self.resources("pipelines")

    @property
    def schemas(self) -> Mapping[str, dict[str, Any]]:
        """Schemas by key."""
        return self.resources("schemas")

    @property
    def volumes(self) -> Mapping[str, dict[str, Any]]:
        """Volumes by key."""
        return self.resources("volumes")

    @property
    def secret_scopes(self) -> Mapping[str, dict[str, Any]]:
        """Secret scopes by key."""
        return self.resources("secret_scopes")

    def resources(self, kind: str) -> Mapping[str, dict[str, Any]]:
        """Return the resources of `kind` (`jobs`, `pipelines` …) by key; empty when there are none."""
        found: Mapping[str, dict[str, Any]] = (self.config.get("resources") or {}).get(kind) or {}
        return found

    def catalogs(self) -> set[str]:
        """Return the catalogs that resources name: those that a run or a local deployment creates."""
        return {
            str(resource[field])
            for kind, field in _CATALOG_FIELDS.items()
            for resource in self.resources(kind).values()
            if resource.get(field)
        }

    def position(self, *path: Key) -> Position | None:
        """Return the position of the value at `path` of `config`; None for a computed value."""
        node = self.tree
        for key in path:
            children = node.value if node is not None else None
            if isinstance(children, list) and isinstance(key, int):
                node = children[key] if key < len(children) else None
            else:
                node = children.get(key) if isinstance(children, dict) else None
        return node.position if node is not None else None

    def job(self, key: str) -> dict[str, Any]:
        """Return the job `key`; raises BundleError(KEY_UNKNOWN) with near misses."""
        return self._one("jobs", "job", key)

    def pipeline(self, key: str) -> dict[str, Any]:
        """Return the pipeline `key`; raises BundleError(KEY_UNKNOWN) with near misses."""
        return self._one("pipelines", "pipeline", key)

    def kind_of(self, key: str) -> str:
        """Return `job` or `pipeline`, whichever `key` is; raises BundleError(KEY_UNKNOWN, KEY_MISSING)."""
        if not key:
            known = [
                f"{what}: {', '.join(keys)}"
                for what, keys in (("jobs", self.jobs), ("pipelines", self.pipelines))
                if keys
            ]
            raise BundleError(
                "KEY_MISSING",
                f"The KEY of a job or pipeline of the bundle {self.name} is missing.",
                next_step=f"Known {'; '.join(known)}."
                if known
                else "The bundle has no jobs and no pipelines.",
            )
        if key in self.jobs:
            return "job"
        if key in self.pipelines:
            return "pipeline"
        raise BundleError(
            "KEY_UNKNOWN",
            f"The bundle {self.name} has no job or pipeline `{key}` in target {self.target}.",
            next_step=unknown_name_hint(key, [*self.jobs, *self.pipelines], what="jobs and pipelines"),
        )

    def id_of(self, kind: str, key: str) -> int | str:
        """Return the value of `${resources.<kind>.<key>.id}` (jobs, pipelines)."""
        return resource_id(self.name, self.target, kind, key)

    def key_of(self, kind: str, identifier: object) -> str | None:
        """Return the key of the resource of `kind` that references to its `.id` mean by `identifier`."""
        keys = self.resources(kind)
        return next((k for k in keys if str(self.id_of(kind, k)) == str(identifier)), None)

    def distributions(self) -> Mapping[str, Distribution]:
        """Return the Python projects that the artifacts build, by their folder below the root."""
        artifacts = self.config.get("artifacts")
        if artifacts is None:
            # Without the section, a setup.py at the root is an artifact; see `artifacts_of`.
            folders = ["."] if (self.root / "setup.py").is_file() else []
        else:
            folders = [str(artifact.get("path") or ".") for artifact in artifacts.values()]
        found = {folder: read_distribution(self.root / folder) for folder in folders}
        return {folder: distribution for folder, distribution in found.items() if distribution is not None}

    def distribution(self, package: str) -> Distribution:
        """Return the Python project that an artifact builds and that is called `package`.

        Raises BundleError(ARTIFACT_UNKNOWN) when no artifact does.
        """
        known = self.distributions().values()
        for found in known:
            if found.is_package(package):
                return found
        raise BundleError(
            "ARTIFACT_UNKNOWN",
            f"No artifact of the bundle builds the package `{package}`.",
            next_step=unknown_name_hint(package, [found.name for found in known], what="packages"),
        )

    def entry_point(self, package: str, name: str) -> str:
        """Return `module:function` behind entry point `name` of `package`.

        Raises BundleError: ARTIFACT_UNKNOWN, ENTRY_POINT_UNKNOWN (with near misses).
        """
        distribution = self.distribution(package)
        if name not in distribution.entry_points:
            raise BundleError(
                "ENTRY_POINT_UNKNOWN",
                f"The package `{package}` has no entry point `{name}` in {distribution.file}.",
                next_step=unknown_name_hint(name, distribution.entry_points, what="entry points"),
            )
        return distribution.entry_points[name]

    def _one(self, kind: str, word: str, key: str) -> dict[str, Any]:
        known = self.resources(kind)
        if key not in known:
            raise BundleError(
                "KEY_UNKNOWN",
                f"The bundle {self.name} has no {word} `{key}` in target {self.target}.",
                next_step=unknown_name_hint(key, known, what=kind),
            )
        return known[key]


def task_kinds(settings: Mapping[str, Any]) -> list[str]:
    """Return the keys of a task's settings that define what it runs."""
    return [name for name, value in settings.items() if name.endswith("_task") and value is not None]


def connector_of(pipeline: Mapping[str, Any]) -> str | None:
    """Return the field that makes a pipeline one of Lakeflow Connect; None for a pipeline with sources."""
    return next((field for field in CONNECTOR_FIELDS if pipeline.get(field)), None)
