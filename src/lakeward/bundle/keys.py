"""Resource keys: one key names one resource of a bundle, whatever its kind.

Source: https://github.com/databricks/cli/issues/1923 (`run KEY` would be ambiguous otherwise).
"""

from __future__ import annotations

from lakeward.bundle.node import Node, Position, failure

__all__ = ["require_unique"]


def require_unique(*trees: Node) -> None:
    """Raise BundleError(RESOURCE_DUPLICATE) when `trees` together define a resource key more than once.

    Also refuses a resource with nothing behind its key (RESOURCE_EMPTY) or one that is not a mapping.
    """
    seen: dict[str, tuple[str, Position]] = {}
    for tree in trees:
        for kind, resources in (tree.get("resources") or Node({}, tree.position)).children.items():
            for key, resource in resources.children.items():
                name = f"{kind}.{key}"
                if not isinstance(resource.value, dict):
                    found = "nothing" if resource.value is None else "a plain value"
                    message = f"the resource {name} is {found}, where a mapping of its settings is expected."
                    raise failure("RESOURCE_EMPTY", resource.position, message)
                if key in seen:
                    first, place = seen[key]
                    message = f"the key `{key}` is used twice, by {first} (at {place}) and by {name}."
                    next_step = "Keys are unique over all kinds of resources of a bundle: rename one."
                    raise failure("RESOURCE_DUPLICATE", resource.position, message, next_step=next_step)
                seen[key] = (name, resource.position)
