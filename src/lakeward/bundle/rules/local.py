"""Rules on what a local deployment leaves out. They concern this machine alone, never Databricks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from lakeward.bundle.artifacts import artifacts_of
from lakeward.bundle.configuration.resource_kinds import RESOURCE_KINDS
from lakeward.bundle.resolved_bundle import Bundle, connector_of
from lakeward.bundle.rules.rule import Breach, tasks

_NOT_INSTALLED = ("jar", "maven", "cran", "egg")


def undeployed_resources(bundle: Bundle) -> Iterator[Breach]:
    """Yield resources of kinds that a local deployment does not create."""
    for kind, resources in (bundle.config.get("resources") or {}).items():
        known = RESOURCE_KINDS.get(kind)
        if known is None or known.deployed:
            continue
        for key in resources or ():
            yield ("resources", kind, key), f"the resource {kind}.{key} is not deployed to a local workspace."


def unbuilt(bundle: Bundle) -> Iterator[Breach]:
    """Yield artifacts that are not wheels."""
    for artifact in artifacts_of(bundle):
        if not artifact.is_wheel:
            where = ("artifacts", artifact.key)
            yield (
                where,
                f"the artifact {artifact.key} is not built by a local deployment, which builds wheels.",
            )


def hooks(bundle: Bundle) -> Iterator[Breach]:
    """Yield scripts that the Databricks CLI runs during a deployment."""
    scripts = (bundle.config.get("experimental") or {}).get("scripts") or {}
    for name in scripts:
        yield ("experimental", "scripts", name), f"the script {name} is not run by a local deployment."


def not_installed(bundle: Bundle) -> Iterator[Breach]:
    """Yield libraries of tasks and pipelines that are no Python packages."""
    holders = [(task.path, task.name, task.settings) for task in tasks(bundle)]
    holders += [
        (("resources", "pipelines", key), f"the pipeline {key}", each)
        for key, each in bundle.pipelines.items()
    ]
    for path, name, holder in holders:
        for number, library in enumerate(holder.get("libraries") or ()):
            kinds = [kind for kind in _NOT_INSTALLED if isinstance(library, Mapping) and library.get(kind)]
            for kind in kinds:
                message = f"{name} names a library of the kind {kind}, which a local run does not have."
                yield (*path, "libraries", number, kind), message


def not_ingested(bundle: Bundle) -> Iterator[Breach]:
    """Yield pipelines of Lakeflow Connect, whose connectors are services of the platform."""
    for key, pipeline in bundle.pipelines.items():
        field = connector_of(pipeline)
        if field is not None:
            message = f"the pipeline {key} is one of Lakeflow Connect, which a local run does not have."
            yield ("resources", "pipelines", key, field), message
