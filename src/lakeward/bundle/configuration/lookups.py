"""Variables that look up an object by its name: what they find in the bundle itself.

Offline no workspace knows an id. A job or pipeline of the bundle is found by its name, with or without the
prefix of the target; any other object is represented by its kind and name, `warehouse:shared`.

Source: https://docs.databricks.com/aws/en/dev-tools/bundles/variables#retrieve-an-objects-id-value
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from typing import Any

from lakeward.bundle.configuration.node import Node

LOOKUPS: dict[str, tuple[str, str] | None] = {
    "alert": ("alerts", "display_name"),
    "cluster": ("clusters", "cluster_name"),
    "cluster_policy": ("cluster_policies", "name"),
    "dashboard": ("dashboards", "display_name"),
    "instance_pool": ("instance_pools", "instance_pool_name"),
    "job": ("jobs", "name"),
    "metastore": None,
    "notification_destination": None,
    "pipeline": ("pipelines", "name"),
    "query": None,
    "service_principal": None,
    "warehouse": ("sql_warehouses", "name"),
}
"""Kinds of objects that a variable can look up; the kind of resource and the setting that holds the name."""


def placeholder(kind: str, name: str) -> str:
    """Return what represents the id of an object that only a workspace has."""
    return f"{kind}:{name}"


def is_placeholder(value: str, kinds: Container[str] = LOOKUPS) -> bool:
    """Return whether a text has the form of `placeholder`, for one of `kinds`."""
    kind, _, name = value.partition(":")
    return bool(name) and kind in kinds


def lookups_of(variables: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield kind and name of the lookups of resolved variables that no other source gave a value."""
    for variable in variables.values():
        lookup = variable.get("lookup") if isinstance(variable, Mapping) else None
        for kind, name in (lookup or {}).items():
            if variable.get("value") == placeholder(kind, str(name)):
                yield kind, str(name)


def resolve_lookups(tree: Node, variables: Mapping[str, Any], prefix: str) -> Node:
    """Return `tree`, whose lookups of resources of the bundle are references to their ids.

    A name that two resources have is not resolved.

    Args:
        tree: The configuration with the final names of its resources.
        variables: The resolved variables.
        prefix: What the target puts before names.
    """
    found = {}
    for kind, name in lookups_of(variables):
        keys = _keys(tree, kind, {name, f"{prefix}{name}"})
        if len(keys) == 1:
            found[placeholder(kind, name)] = keys[0]
    if not found:
        return tree
    sections = {
        name: _with_references(child, found) if name in ("resources", "variables") else child
        for name, child in tree.children.items()
    }
    return Node(sections, tree.position, tree.anchored)


def _keys(tree: Node, kind: str, names: set[str]) -> list[str]:
    """Return references to the ids of the resources of a kind that have one of the names."""
    resource = LOOKUPS[kind]
    if resource is None:
        return []
    resources, field = resource
    return [
        f"${{resources.{resources}.{key}.id}}"
        for key, each in tree.section("resources", resources).children.items()
        if (name := each.get(field)) is not None and name.value in names
    ]


def _with_references(node: Node, found: Mapping[str, str]) -> Node:
    value = node.value
    if isinstance(value, dict):
        value = {key: _with_references(child, found) for key, child in value.items()}
    elif isinstance(value, list):
        value = [_with_references(child, found) for child in value]
    elif isinstance(value, str) and ":" in value:
        # The longest first: one name may begin with another.
        for text in sorted(found, key=len, reverse=True):
            value = value.replace(text, found[text])
    return Node(value, node.position, node.anchored)
