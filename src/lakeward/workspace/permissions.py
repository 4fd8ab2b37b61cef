"""Who may do what with a job, a pipeline, a folder …

Source: https://docs.databricks.com/api/workspace/permissions. A job and a pipeline have exactly one owner.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from lakeward.standins.local_workspace import Failure, groups_of, missing
from lakeward.workspace.call import ServerCall

__all__ = ["LEVELS", "forget", "is_admin", "levels", "may", "read", "replace", "require", "update"]

LEVELS = {
    "jobs": ("CAN_VIEW", "CAN_MANAGE_RUN", "IS_OWNER", "CAN_MANAGE"),
    "pipelines": ("CAN_VIEW", "CAN_RUN", "IS_OWNER", "CAN_MANAGE"),
    "directories": ("CAN_READ", "CAN_RUN", "CAN_EDIT", "CAN_MANAGE"),
    "notebooks": ("CAN_READ", "CAN_RUN", "CAN_EDIT", "CAN_MANAGE"),
    "files": ("CAN_READ", "CAN_RUN", "CAN_EDIT", "CAN_MANAGE"),
    "warehouses": ("CAN_VIEW", "CAN_MONITOR", "CAN_USE", "IS_OWNER", "CAN_MANAGE"),
}
"""Kinds of objects with their levels, the weakest first."""

_OWNED = ("jobs", "pipelines")
_PRINCIPALS = ("user_name", "group_name", "service_principal_name")
_WORDS = {"jobs": "job", "pipelines": "pipelines", "directories": "directory", "warehouses": "warehouses"}


def read(call: ServerCall) -> Any:
    """The access control list of an object."""
    kind, key = _named(call)
    if kind in _OWNED:
        require(call, kind, key, "CAN_VIEW")
    return _shown(kind, key, _acl(call, kind, key))


def replace(call: ServerCall) -> Any:
    """Another list instead. Raises Failure unless a job or pipeline has exactly one owner in it."""
    kind, key = _named(call)
    require(call, kind, key, "CAN_MANAGE")
    return _kept(call, kind, key, _entries(call, kind))


def update(call: ServerCall) -> Any:
    """The list with some principals' levels changed."""
    kind, key = _named(call)
    require(call, kind, key, "CAN_MANAGE")
    changed = _entries(call, kind)
    named = {_principal(entry) for entry in changed}
    kept = [entry for entry in _acl(call, kind, key) if _principal(entry) not in named]
    if any(entry["permission_level"] == "IS_OWNER" for entry in changed):
        # Ownership is handed over, never shared.
        kept = [entry for entry in kept if entry["permission_level"] != "IS_OWNER"]
    return _kept(call, kind, key, [*kept, *changed])


def levels(call: ServerCall) -> Any:
    """The levels that objects of this kind have."""
    kind, _ = _named(call)
    return {
        "permission_levels": [{"permission_level": level, "description": level} for level in LEVELS[kind]]
    }


def is_admin(call: ServerCall) -> bool:
    """Whether the user may do everything."""
    return "admins" in groups_of(call)


def may(call: ServerCall, kind: str, key: str, level: str) -> bool:
    """Whether the list of an object lets the user do this."""
    if is_admin(call):
        return True
    enough = {"IS_OWNER", *LEVELS[kind][LEVELS[kind].index(level) :]}
    return any(
        entry["permission_level"] in enough
        for entry in _acl(call, kind, key)
        if _principal(entry)[1] in (call.asker, *groups_of(call))
    )


def require(call: ServerCall, kind: str, key: str, level: str) -> None:
    """Raise Failure where the list of an object does not let the user do this."""
    if may(call, kind, key, level):
        return
    raise Failure(403, "PERMISSION_DENIED", f"{call.asker} does not have {level} permission on {kind}/{key}.")


def forget(call: ServerCall, kind: str, key: str) -> None:
    """An object is gone, and its list with it."""
    call.store.delete("acl", f"{kind}/{key}")


def _named(call: ServerCall) -> tuple[str, str]:
    kind, key, *_ = call.at.split("/")
    if kind not in LEVELS:
        raise Failure(400, "INVALID_PARAMETER_VALUE", f"'{kind}' is not a supported object type.")
    known = {"jobs": "job", "pipelines": "pipeline"}.get(kind)
    if known and call.store.get(known, key) is None:
        raise missing(f"{known.capitalize()} {key}")
    return kind, key


def _acl(call: ServerCall, kind: str, key: str) -> list[dict[str, Any]]:
    kept = call.store.get("acl", f"{kind}/{key}")
    if kept is not None:
        return list(kept["entries"])
    creator = call.owner
    if kind in _OWNED:
        found = call.store.get(kind.rstrip("s"), key) or {}
        creator = found.get("creator_user_name") or creator
    level = "IS_OWNER" if kind in _OWNED else "CAN_MANAGE"
    return [{"user_name": creator, "permission_level": level}]


def _entries(call: ServerCall, kind: str) -> list[dict[str, Any]]:
    entries = call.body.get("access_control_list") or []
    for entry in entries:
        _principal(entry)
        level = entry.get("permission_level")
        if level not in LEVELS[kind]:
            message = f"{level} is not a permission level of {kind}: {', '.join(LEVELS[kind])}."
            raise Failure(400, "INVALID_PARAMETER_VALUE", message)
    return list(entries)


def _kept(call: ServerCall, kind: str, key: str, entries: list[dict[str, Any]]) -> dict[str, Any]:
    owners = [entry for entry in entries if entry["permission_level"] == "IS_OWNER"]
    if kind in _OWNED and len(owners) != 1:
        word = kind.rstrip("s")
        message = f"The {word} must have exactly one owner, and the list has {len(owners)}."
        raise Failure(400, "INVALID_PARAMETER_VALUE", message)
    if any("group_name" in entry for entry in owners):
        raise Failure(400, "INVALID_PARAMETER_VALUE", "A group cannot be the owner.")
    call.store.put("acl", f"{kind}/{key}", {"entries": entries})
    return _shown(kind, key, entries)


def _principal(entry: Any) -> tuple[str, str]:
    given = [(name, str(entry[name])) for name in _PRINCIPALS if isinstance(entry, dict) and entry.get(name)]
    if len(given) != 1:
        message = f"An entry names one of {', '.join(_PRINCIPALS)}."
        raise Failure(400, "INVALID_PARAMETER_VALUE", message)
    return given[0]


def _shown(kind: str, key: str, entries: Iterable[dict[str, Any]]) -> dict[str, Any]:
    shown = []
    for entry in entries:
        name, value = _principal(entry)
        level = {"permission_level": entry["permission_level"], "inherited": False}
        shown.append({name: value, "display_name": value, "all_permissions": [level]})
    return {
        "object_id": f"/{kind}/{key}",
        "object_type": _WORDS.get(kind, kind.rstrip("s")),
        "access_control_list": shown,
    }
