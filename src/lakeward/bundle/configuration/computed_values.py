"""Values that the configuration does not set itself: the workspace, the Git repository, ids of resources.

Sources: https://docs.databricks.com/aws/en/dev-tools/bundles/settings (`bundle.git`); BN-2.1, BN-2.4.
On the platform `${resources.pipelines.p.id}` is known after the deployment. Here it is a stable number or
UUID derived from bundle, target and key. Ids of schemas, volumes and scopes are their names in both places.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
import uuid
from pathlib import Path as FilePath
from typing import Any

from lakeward.bundle.configuration.node import Node, Path, lift, walk
from lakeward.bundle.configuration.resource_kinds import RESOURCE_KINDS, ResourceKind
from lakeward.bundle.configuration.workspace_paths import bundle_folders
from lakeward.bundle.git_sources import read_checkout


def short_name(user: str) -> str:
    """Return the part of `user` that names may contain: lower-case letters, digits and `_`.

    >>> short_name("Ann.Lee@example.com")
    'ann_lee'
    """
    local = user.split("@", 1)[0].lower()
    return re.sub(r"[\W_]+", "_", local).strip("_") or "user"


def current_user(user: str) -> dict[str, Any]:
    """Return the fields of `${workspace.current_user}`, as the local workspace answers for its owner.

    >>> fields = current_user("Zoë.Lee@example.com")
    >>> fields["short_name"], fields["domain_friendly_name"], fields["name"]["familyName"]
    ('zoë_lee', 'zoe-lee', 'Lee')
    """
    short = short_name(user)
    unaccented = "".join(
        mark for mark in unicodedata.normalize("NFD", short) if not unicodedata.combining(mark)
    )
    given, _, family = user.split("@", 1)[0].partition(".")
    return {
        "id": "0",
        "userName": user,
        "displayName": user,
        "name": {"givenName": given, "familyName": family},
        "active": True,
        "emails": [{"value": user, "primary": True, "type": "work"}],
        "groups": [{"display": name, "value": str(n)} for n, name in enumerate(("users", "admins"))],
        "roles": [],
        "entitlements": [],
        "externalId": "",
        "short_name": short,
        "domain_friendly_name": re.sub(r"[^a-z0-9]+", "-", unaccented).strip("-"),
    }


def complete_workspace(tree: Node, user: str) -> Node:
    """Return `tree` with `workspace` completed: `current_user`, `root_path` and the folders below it.

    Paths in the file take precedence.
    """
    given = tree.section("workspace")
    place = given.position
    set_here = {key: child for key, child in given.children.items() if child.value is not None}
    entries = set_here | bundle_folders(given)
    entries["current_user"] = lift(current_user(user), place)
    return Node({**tree.children, "workspace": Node(entries, place)}, tree.position)


_GIT_FIELDS = ("branch", "commit", "origin_url", "bundle_root_path", "actual_branch")


def git_details(tree: Node, root: FilePath) -> dict[Path, Any]:
    """Return the values of `bundle.git` that the bundle does not set itself and that `tree` refers to.

    Each is empty outside a repository, and where Git is not installed. `actual_branch` is the checked-out
    branch, regardless of `bundle.git.branch`.
    """
    own = tree.section("bundle", "git")
    texts = [str(leaf.value) for _, leaf in walk(tree) if "bundle.git." in str(leaf.value)]
    # Python code may refer to any of them.
    computed = "python" in tree.children or tree.get("experimental") is not None
    values: dict[Path, Any] = {}
    for field in _GIT_FIELDS:
        if own.get(field) is None and (computed or any(f"bundle.git.{field}}}" in text for text in texts)):
            values["bundle", "git", field] = read_checkout(
                root, "branch" if field == "actual_branch" else field
            )
    return values


_NAMESPACE = uuid.UUID("6f1d7a52-5b0e-5a35-9f0c-6c616b657764")


def resource_id(bundle: str, target: str, kind: str, key: str) -> int | str:
    """Return the id of resource `kind`.`key` in `target` of `bundle`: a number for jobs, else a UUID.

    >>> resource_id("b", "dev", "pipelines", "p") == resource_id("b", "prod", "pipelines", "p")
    False
    """
    if kind == "jobs":
        digest = hashlib.sha256(f"{bundle}/{target}/{key}".encode()).digest()
        return int.from_bytes(digest[:6], "big")
    return str(uuid.uuid5(_NAMESPACE, f"{bundle}/{target}/{kind}/{key}"))


def resource_ids(tree: Node) -> dict[Path, Any]:
    """Return the value of every field of a resource of `tree` that only a workspace fills in.

    Ids made of names, and paths of volumes, are returned as references, for the caller to resolve. Ids that
    a workspace assigns are stable; any other field is represented by its kind, key and name
    (`sql_warehouses:main:jdbc_url`). Settings that the bundle itself contains are left out.
    """
    bundle = tree.children["bundle"]
    name, target = (str(node.value) if (node := bundle.get(key)) else "" for key in ("name", "target"))
    values: dict[Path, Any] = {}
    for kind, resources in tree.section("resources").children.items():
        known = RESOURCE_KINDS.get(kind, ResourceKind(kind, kind))
        for key, resource in resources.children.items():
            own = f"${{resources.{kind}.{key}."
            # A setting that is missing is reported by the workspace; here the id is then a stable one.
            named = known.full_name and all(resource.get(part) is not None for part in known.full_name)
            own_id: Any = ".".join(f"{own}{part}}}" for part in known.full_name) if named else None
            fields = dict.fromkeys(("id", *known.identifiers), own_id or resource_id(name, target, kind, key))
            fields |= {field: f"{kind}:{key}:{field}" for field in known.computed}
            if kind == "volumes" and named:
                fields["volume_path"] = "/Volumes/" + "/".join(f"{own}{part}}}" for part in known.full_name)
            values |= {
                ("resources", kind, key, field): value
                for field, value in fields.items()
                if resource.get(field) is None
            }
    return values
