"""Deep merge of one tree over another, and of list elements that share a key.

Mappings merge key by key, scalars are replaced, lists are appended. Elements of some lists (a job's tasks,
clusters, environments and parameters, a pipeline's clusters, an app's resources, grants) merge by a key, also
within one list.
Source: https://docs.databricks.com/aws/en/dev-tools/bundles/overrides
"""

from __future__ import annotations

from lakeward.bundle.configuration.node import Node, Path, with_value

MERGE_KEYS: dict[tuple[str, str], str] = {
    ("jobs", "tasks"): "task_key",
    ("jobs", "job_clusters"): "job_cluster_key",
    ("jobs", "environments"): "environment_key",
    ("jobs", "parameters"): "name",
    ("pipelines", "clusters"): "label",
    ("apps", "resources"): "name",
    ("catalogs", "grants"): "principal",
    ("external_locations", "grants"): "principal",
    ("registered_models", "grants"): "principal",
    ("schemas", "grants"): "principal",
    ("volumes", "grants"): "principal",
}
"""The setting that identifies an element, by the kind of resource and the list."""

# A pipeline cluster without a label is the default one; labels are compared without case.
_DEFAULT_LABEL = "default"


def merge(base: Node, over: Node) -> Node:
    """Return `base` with `over` laid over it; lists are concatenated.

    An empty value in `over` (`key:` alone) keeps the value of `base`.
    """
    if over.value is None:
        return base
    if isinstance(base.value, dict) and isinstance(over.value, dict):
        merged = dict(base.value)
        for key, child in over.value.items():
            merged[key] = merge(merged[key], child) if key in merged else child
        position = over.position if not base.value else base.position
        return Node(merged, position, base.anchored or over.anchored)
    if isinstance(base.value, list) and isinstance(over.value, list):
        return Node([*base.value, *over.value], base.position)
    return over


def merge_elements(tree: Node) -> Node:
    """Return `tree` with the elements of one key merged, in every list of `MERGE_KEYS`.

    Run it after the resolution of variables: a key may be one.
    """
    for (kind, name), key in MERGE_KEYS.items():
        for resource_key, resource in tree.section("resources", kind).children.items():
            elements = resource.get(name)
            if elements is not None and isinstance(elements.value, list):
                merged = Node(_by_key(elements.value, key), elements.position)
                path: Path = ("resources", kind, resource_key, name)
                tree = with_value(tree, path, merged)
    return tree


def _by_key(elements: list[Node], by: str) -> list[Node]:
    merged: dict[object, Node] = {}
    for index, element in enumerate(elements):
        name = _identity(element, by, index)
        merged[name] = merge(merged[name], element) if name in merged else element
    if by == "principal":
        return [_without_repeated_privileges(grant) for grant in merged.values()]
    return list(merged.values())


def _identity(element: Node, by: str, index: int) -> object:
    key = element.get(by)
    if by == "label" and isinstance(element.value, dict):
        return str(key.value).lower() if key is not None else _DEFAULT_LABEL
    # The index is not a string: an element without a key is never merged with another.
    return str(key.value) if key is not None else index


def _without_repeated_privileges(grant: Node) -> Node:
    privileges = grant.get("privileges")
    if privileges is None or not isinstance(privileges.value, list):
        return grant
    unique = list({str(each.value): each for each in privileges.value}.values())
    return Node({**grant.children, "privileges": Node(unique, privileges.position)}, grant.position)
