"""The `workspace` section: who deploys, and where in the workspace (spec bundle.md §2.1, §2.4)."""

from __future__ import annotations

import re

from lakeward.bundle.node import Node, lift

__all__ = ["short_name", "with_defaults"]

_FOLDERS = {
    "file_path": "files",
    "artifact_path": "artifacts",
    "state_path": "state",
    "resource_path": "resources",
}


def short_name(user: str) -> str:
    """Return the part of `user` that names may carry: made of `[a-z0-9_]`.

    >>> short_name("Ann.Lee@example.com")
    'ann_lee'
    """
    local = user.split("@", 1)[0].lower()
    return re.sub(r"[^a-z0-9]+", "_", local).strip("_") or "user"


def with_defaults(tree: Node, user: str) -> Node:
    """Return `tree` with `workspace` completed: `current_user`, `root_path` and the folders below it.

    Paths that stand in the file win; `~/` in the root path is the user's home in the workspace.
    """
    given = tree.get("workspace") or Node({}, tree.position)
    place = given.position
    home = "/Workspace/Users/${workspace.current_user.userName}"
    entries = {"root_path": lift(home + "/.bundle/${bundle.name}/${bundle.target}", place)}
    entries |= {key: lift(f"${{workspace.root_path}}/{folder}", place) for key, folder in _FOLDERS.items()}
    entries |= {key: child for key, child in given.children.items() if child.value is not None}
    root = entries["root_path"]
    if isinstance(root.value, str) and (root.value == "~" or root.value.startswith("~/")):
        entries["root_path"] = Node(home + root.value[1:], root.position)
    entries["current_user"] = lift({"userName": user, "short_name": short_name(user)}, place)
    return Node({**tree.children, "workspace": Node(entries, place)}, tree.position)
