"""Presets: what a target does to every resource at once (spec bundle.md §2.4).

Mode `development` is a set of presets; presets that stand in the configuration win over the mode's. A
resource's own pause status, tags and number of runs win over both.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from lakeward.bundle.node import Node, failure, lift, plain

__all__ = ["Presets", "apply", "presets_of"]


@dataclass(frozen=True)
class Presets:
    """The settings that are laid under every resource; None leaves resources as they are."""

    name_prefix: str = ""
    tags: dict[str, str] = field(default_factory=dict)
    trigger_pause_status: str | None = None
    jobs_max_concurrent_runs: int | None = None
    pipelines_development: bool | None = None


def presets_of(tree: Node) -> Presets:
    """Return the presets of the selected target: the mode's, with those of the configuration over them.

    Raises BundleError(PRESET_INVALID) for a pause status that is neither PAUSED nor UNPAUSED.
    """
    bundle, node = tree.children["bundle"], tree.get("presets")
    mode = bundle.get("mode")
    values: dict[str, Any] = {}
    if mode is not None and mode.value == "development":
        user = tree.children["workspace"].children["current_user"].children["short_name"].value
        values = {
            "name_prefix": f"[dev {user}] ",
            "tags": {"dev": user},
            "trigger_pause_status": "PAUSED",
            "jobs_max_concurrent_runs": 4,
            "pipelines_development": True,
        }
    if node is not None:
        own = {key: value for key, value in plain(node).items() if value is not None}
        status = node.get("trigger_pause_status")
        if status is not None and status.value not in ("PAUSED", "UNPAUSED"):
            message = f"`{status.value}` is not a pause status."
            raise failure("PRESET_INVALID", status.position, message, next_step="Write PAUSED or UNPAUSED.")
        tags = {**values.get("tags", {}), **own.get("tags", {})}
        values = {
            **values,
            **{key: own[key] for key in own if key in Presets.__dataclass_fields__},
            "tags": tags,
        }
    return Presets(**values)


def apply(tree: Node, presets: Presets) -> Node:
    """Return `tree` with `presets` applied to its jobs, pipelines, schemas and registered models."""
    changes: dict[str, Callable[[Node, Presets], Node]] = {
        "jobs": _job,
        "pipelines": _pipeline,
        "schemas": _schema,
        "registered_models": _schema,
    }
    experimental = tree.get("experimental")
    skip = experimental.get("skip_name_prefix_for_schema") if experimental is not None else None
    if skip is not None and skip.value is True:
        del changes["schemas"]
    resources = tree.get("resources")
    if resources is None:
        return tree
    changed = {
        kind: Node({key: change(item, presets) for key, item in named.children.items()}, named.position)
        if (change := changes.get(kind)) is not None
        else named
        for kind, named in resources.children.items()
    }
    return Node({**tree.children, "resources": Node(changed, resources.position)}, tree.position)


def _job(job: Node, presets: Presets) -> Node:
    entries = _prefixed(job, presets.name_prefix)
    _tag(entries, job, presets)
    if presets.jobs_max_concurrent_runs is not None and job.get("max_concurrent_runs") is None:
        entries["max_concurrent_runs"] = lift(presets.jobs_max_concurrent_runs, job.position)
    if presets.trigger_pause_status is not None:
        for key in ("schedule", "trigger", "continuous"):
            timer = job.get(key)
            if timer is not None and timer.get("pause_status") is None:
                status = lift(presets.trigger_pause_status, timer.position)
                entries[key] = Node({**timer.children, "pause_status": status}, timer.position)
    return Node(entries, job.position)


def _pipeline(pipeline: Node, presets: Presets) -> Node:
    entries = _prefixed(pipeline, presets.name_prefix)
    _tag(entries, pipeline, presets)
    if presets.pipelines_development is not None and pipeline.get("development") is None:
        entries["development"] = lift(presets.pipelines_development, pipeline.position)
    if presets.trigger_pause_status == "PAUSED" and pipeline.get("continuous") is not None:
        entries["continuous"] = lift(False, pipeline.children["continuous"].position)
    return Node(entries, pipeline.position)


def _schema(schema: Node, presets: Presets) -> Node:
    # `[dev ann] ` cannot stand in the name of a schema; `dev_ann_` can.
    plain_prefix = re.sub(r"[^a-z0-9]+", "_", presets.name_prefix.lower()).strip("_")
    return Node(_prefixed(schema, f"{plain_prefix}_" if plain_prefix else ""), schema.position)


def _prefixed(resource: Node, prefix: str) -> dict[str, Node]:
    entries = dict(resource.children)
    name = resource.get("name")
    if prefix and name is not None:
        entries["name"] = Node(f"{prefix}{name.value}", name.position)
    return entries


def _tag(entries: dict[str, Node], resource: Node, presets: Presets) -> None:
    if presets.tags:
        own = resource.get("tags") or Node({}, resource.position)
        entries["tags"] = Node({**lift(presets.tags, own.position).value, **own.children}, own.position)
