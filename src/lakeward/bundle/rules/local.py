"""Rules on what a local deployment leaves out. They concern this machine alone, never Databricks."""

from __future__ import annotations

from collections.abc import Iterator

from lakeward.bundle.artifacts import artifacts_of
from lakeward.bundle.configuration.resource_kinds import RESOURCE_KINDS
from lakeward.bundle.resolved_bundle import Bundle
from lakeward.bundle.rules.rule import Breach

__all__ = ["hooks", "unbuilt", "undeployed"]


def undeployed(bundle: Bundle) -> Iterator[Breach]:
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
