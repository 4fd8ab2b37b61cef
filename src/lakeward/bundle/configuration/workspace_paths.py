"""Folders of the bundle in the workspace, and the prefix `/Workspace` of their paths.

As since version 0.230 of the Databricks CLI (its release notes): `workspace.root_path` and the folders below
it are prefixed with `/Workspace`, and a prefix that the configuration writes before a reference to one of
them is left out, with a warning.
"""

from __future__ import annotations

import re

from lakeward.bundle.configuration.findings import Finding
from lakeward.bundle.configuration.node import Node, lift, walk, with_value

REPEATED_PREFIX = "workspace-prefix"
"""The rule of references to a folder of the bundle that have a prefix of their own."""

_FOLDERS = {
    "file_path": "files",
    "artifact_path": "artifacts",
    "state_path": "state",
    "resource_path": "resources",
}
_HOME = "/Workspace/Users/${workspace.current_user.userName}"
_PREFIXED = re.compile(rf"/Workspace/?(\$\{{workspace\.(?:root_path|{'|'.join(_FOLDERS)})\}})")


def bundle_folders(given: Node) -> dict[str, Node]:
    """Return `root_path` and the folders below it, for the section `workspace` as it is `given`.

    `~/` in the root path is the user's home in the workspace.

    >>> from lakeward.bundle.configuration.node import Position
    >>> bundle_folders(lift({"root_path": "/Shared/b"}, Position("databricks.yml", 1, 1)))["root_path"].value
    '/Workspace/Shared/b'
    """
    entries = {"root_path": lift(_HOME + "/.bundle/${bundle.name}/${bundle.target}", given.position)}
    entries |= {
        key: lift(f"${{workspace.root_path}}/{folder}", given.position) for key, folder in _FOLDERS.items()
    }
    entries |= {key: node for key in entries if (node := given.get(key)) is not None}
    root = entries["root_path"]
    if isinstance(root.value, str) and (root.value == "~" or root.value.startswith("~/")):
        entries["root_path"] = Node(_HOME + root.value[1:], root.position)
    return {key: _prefixed(node) for key, node in entries.items()}


def _prefixed(node: Node) -> Node:
    path = node.value
    if not isinstance(path, str) or not path.startswith("/") or path.startswith(("/Workspace/", "/Volumes/")):
        return node
    return Node(f"/Workspace{path}", node.position)


def without_prefixes(tree: Node) -> tuple[Node, tuple[Finding, ...]]:
    """Return `tree` without `/Workspace` before references to folders of the bundle, and the warnings."""
    found: list[Finding] = []
    for path, node in walk(tree):
        match = _PREFIXED.search(node.value) if isinstance(node.value, str) else None
        if match is None:
            continue
        message = f"`{match[0]}` has a prefix that {match[1]} has already."
        cure = f"It is read as {match[1]}: write it so."
        found.append(Finding(REPEATED_PREFIX, "warning", node.position, message, cure))
        tree = with_value(tree, path, Node(_PREFIXED.sub(r"\1", node.value), node.position))
    return tree, tuple(found)
