"""Python packages that are installed on a cluster, for what runs there."""

from __future__ import annotations

from typing import Any

from lakeward.workspace.state.store import Document, Store

KIND = "cluster_library"
"""Kind of the documents in the store."""
INSTALLED = "INSTALLED"
# What is to be uninstalled stays until the cluster restarts.
_PRESENT = (INSTALLED, "UNINSTALL_ON_RESTART")


def installed_lines(store: Store, cluster_id: str) -> list[str]:
    """Return the packages of a cluster as lines of a requirements file."""
    from lakeward.jobs import library_lines

    return [line for each in _installed(store, cluster_id) for line in library_lines(each)]


def add_cluster_libraries(task: Document, store: Store) -> None:
    """Let a task have the libraries of the cluster that it names."""
    cluster_id: Any = task.get("existing_cluster_id")
    found = _installed(store, cluster_id) if isinstance(cluster_id, str) else []
    if found:
        task["libraries"] = [*found, *(task.get("libraries") or ())]


def _installed(store: Store, cluster_id: str) -> list[Document]:
    return [
        dict(each["library"]) for each in store.find(KIND, parent=cluster_id) if each["status"] in _PRESENT
    ]
