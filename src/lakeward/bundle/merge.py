"""Deep merge of one tree over another: includes into the root file, a target over the root.

Mappings merge key by key, scalars are replaced, lists are appended; lists of things that have a key (a job's
tasks, clusters, environments and parameters, a pipeline's clusters) merge by that key.
Source: https://docs.databricks.com/aws/en/dev-tools/bundles/overrides
"""

from __future__ import annotations

from lakeward.bundle.node import Node, Path

__all__ = ["merge"]

_KEYED = {
    ("jobs", "tasks"): "task_key",
    ("jobs", "job_clusters"): "job_cluster_key",
    ("jobs", "environments"): "environment_key",
    ("jobs", "parameters"): "name",
    ("pipelines", "clusters"): "label",
}


def merge(base: Node, over: Node, path: Path = ()) -> Node:
    """Return `base` with `over` laid over it; `path` is where both stand in the configuration.

    An empty value in `over` (`key:` with nothing behind it) leaves the value of `base`.
    """
    if over.value is None:
        return base
    if isinstance(base.value, dict) and isinstance(over.value, dict):
        merged = dict(base.value)
        for key, child in over.value.items():
            merged[key] = merge(merged[key], child, (*path, key)) if key in merged else child
        return Node(merged, over.position if not base.value else base.position)
    if isinstance(base.value, list) and isinstance(over.value, list):
        by = _key_of(path)
        joined = [*base.value, *over.value]
        return Node(_by_key(joined, by, path) if by else joined, base.position)
    return over


def _key_of(path: Path) -> str | None:
    if len(path) == 4 and path[0] == "resources":
        return _KEYED.get((str(path[1]), str(path[3])))
    return None


def _by_key(items: list[Node], by: str, path: Path) -> list[Node]:
    merged: dict[object, Node] = {}
    for index, item in enumerate(items):
        key = item.get(by)
        name: object = key.value if key is not None else index
        merged[name] = merge(merged[name], item, (*path, index)) if name in merged else item
    return list(merged.values())
