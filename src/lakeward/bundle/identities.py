"""The ids by which resources refer to each other before any workspace has given them one.

On the platform `${resources.pipelines.p.id}` is known after the deployment; here it is a stable number or
UUID made of bundle, target and key. Ids of schemas, volumes and scopes are their names, as on the platform.
"""

from __future__ import annotations

import hashlib
import uuid
from typing import Any

from lakeward.bundle.node import Node, Path

__all__ = ["identities", "identity"]

_NAMESPACE = uuid.UUID("6f1d7a52-5b0e-5a35-9f0c-6c616b657764")


def identity(bundle: str, target: str, kind: str, key: str) -> int | str:
    """Return the id of resource `kind`.`key` in `target` of `bundle`: a number for jobs, else a UUID.

    >>> identity("wearables", "dev", "pipelines", "p") == identity("wearables", "prod", "pipelines", "p")
    False
    """
    if kind == "jobs":
        digest = hashlib.sha256(f"{bundle}/{target}/{key}".encode()).digest()
        return int.from_bytes(digest[:6], "big")
    return str(uuid.uuid5(_NAMESPACE, f"{bundle}/{target}/{kind}/{key}"))


def identities(tree: Node) -> dict[Path, Any]:
    """Return the value of `resources.<kind>.<key>.id` (and `full_name`) for every resource of `tree`.

    Names made of other names are returned as references, for the caller to resolve.
    """
    bundle = tree.children["bundle"]
    name, target = (str(node.value) if (node := bundle.get(key)) else "" for key in ("name", "target"))
    ids: dict[Path, Any] = {}
    for kind, resources in (tree.get("resources") or Node({}, tree.position)).children.items():
        for key in resources.children:
            own = f"${{resources.{kind}.{key}."
            if kind == "schemas":
                full_name = f"{own}catalog_name}}.{own}name}}"
            elif kind == "volumes":
                full_name = f"{own}catalog_name}}.{own}schema_name}}.{own}name}}"
            elif kind == "secret_scopes":
                full_name = f"{own}name}}"
            else:
                ids[("resources", kind, key, "id")] = identity(name, target, kind, key)
                continue
            ids[("resources", kind, key, "id")] = full_name
            if kind != "secret_scopes":
                ids[("resources", kind, key, "full_name")] = full_name
    return ids
