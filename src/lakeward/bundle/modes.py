"""What a target's mode refuses (spec bundle.md §2.4)."""

from __future__ import annotations

import re

from lakeward.bundle.node import Node, failure

__all__ = ["require_mode"]

_SERVICE_PRINCIPAL = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


def require_mode(tree: Node, *, explicit_root: bool) -> None:
    """Raise BundleError when the resolved `tree` breaks a rule of its mode (MODE_UNKNOWN, MODE_VIOLATED).

    `explicit_root`: the configuration itself says `workspace.root_path`.
    """
    mode = tree.children["bundle"].get("mode")
    if mode is None:
        return
    if mode.value == "development":
        _development(tree)
    elif mode.value == "production":
        _production(tree, mode, explicit_root=explicit_root)
    else:
        message = f"`{mode.value}` is not a mode."
        raise failure("MODE_UNKNOWN", mode.position, message, next_step="Write development or production.")


def _development(tree: Node) -> None:
    workspace = tree.children["workspace"]
    user = workspace.children["current_user"].children
    names = (user["userName"].value, user["short_name"].value)
    for key in ("root_path", "file_path", "artifact_path", "state_path"):
        path = workspace.children[key]
        if not any(name in str(path.value) for name in names):
            message = f"workspace.{key} is `{path.value}`, which is shared by all users."
            next_step = "In mode development it has to contain ${workspace.current_user.userName}."
            raise failure("MODE_VIOLATED", path.position, message, next_step=next_step)


def _production(tree: Node, mode: Node, *, explicit_root: bool) -> None:
    resources = tree.get("resources") or Node({}, tree.position)
    for key, pipeline in (resources.get("pipelines") or Node({}, tree.position)).children.items():
        development = pipeline.get("development")
        if development is not None and development.value is True:
            message = f"the pipeline {key} has `development: true`, which mode production refuses."
            raise failure("MODE_VIOLATED", development.position, message)
    if explicit_root:
        return
    user = tree.children["workspace"].children["current_user"].children["userName"].value
    jobs = (resources.get("jobs") or Node({}, tree.position)).children
    if _SERVICE_PRINCIPAL.fullmatch(str(user)) or (jobs and all(job.get("run_as") for job in jobs.values())):
        return
    message = "a target in mode production needs an explicit workspace.root_path."
    next_step = "Otherwise each person who deploys makes a copy of everything below their own home."
    raise failure("MODE_VIOLATED", mode.position, message, next_step=next_step)
