"""`run_as` at the top (or in the target), copied onto every job and pipeline that has none (§2.4)."""

from __future__ import annotations

from lakeward.bundle.node import Node, failure, with_value

__all__ = ["inherit_run_as"]

_IDENTITIES = ("user_name", "service_principal_name")


def inherit_run_as(tree: Node) -> Node:
    """Return `tree` in which jobs and pipelines without `run_as` have the common one.

    Raises BundleError(RUN_AS_INVALID) when it does not name exactly one identity.
    """
    common = tree.get("run_as")
    if common is None:
        return tree
    named = [key for key in _IDENTITIES if common.get(key) is not None]
    if len(named) != 1 or len(common.children) != 1:
        message = "run_as names exactly one of user_name and service_principal_name."
        raise failure("RUN_AS_INVALID", common.position, message)
    resources = tree.get("resources") or Node({}, tree.position)
    for kind in ("jobs", "pipelines"):
        for key, resource in (resources.get(kind) or Node({}, tree.position)).children.items():
            if resource.get("run_as") is None:
                tree = with_value(tree, ("resources", kind, key, "run_as"), common)
    return tree
