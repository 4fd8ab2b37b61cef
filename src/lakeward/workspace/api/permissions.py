"""Access control lists of jobs, pipelines, clusters, folders and other objects.

Source: https://docs.databricks.com/api/workspace/permissions. A job and a pipeline have exactly one owner.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace as with_fields
from typing import Any

from lakeward.databricks_shims.local_workspace import (
    ApiError,
    Route,
    exclusively,
    groups_of,
    invalid_parameter,
    missing,
    workspace_handlers,
)
from lakeward.workspace.api.permission_kinds import KINDS
from lakeward.workspace.context import ServerRequest
from lakeward.workspace.state.store import Document

_PRINCIPALS = ("user_name", "group_name", "service_principal_name")


def read(call: ServerRequest) -> Document:
    """Return the access control list of an object."""
    kind, key = _named(call)
    if KINDS[kind].is_owned:
        require(call, kind, key, "CAN_VIEW")
    return _to_json(kind, key, _acl(call, kind, key))


@exclusively
def replace(call: ServerRequest) -> Document:
    """Replace the list. Raises ApiError unless a job or pipeline has exactly one owner in it."""
    kind, key = _named(call)
    require(call, kind, key, "CAN_MANAGE")
    return _kept(call, kind, key, _entries(call, kind))


@exclusively
def update(call: ServerRequest) -> Document:
    """Return the list with some principals' levels changed."""
    kind, key = _named(call)
    require(call, kind, key, "CAN_MANAGE")
    changed = _entries(call, kind)
    named = {_principal(entry) for entry in changed}
    kept = [entry for entry in _acl(call, kind, key) if _principal(entry) not in named]
    if any(entry["permission_level"] == "IS_OWNER" for entry in changed):
        # Ownership is handed over, never shared.
        kept = [entry for entry in kept if entry["permission_level"] != "IS_OWNER"]
    return _kept(call, kind, key, [*kept, *changed])


def levels(call: ServerRequest) -> Document:
    """Return the levels that objects of this kind have."""
    kind, _ = _named(call)
    known = KINDS[kind].levels
    return {"permission_levels": [{"permission_level": level, "description": level} for level in known]}


def is_admin(call: ServerRequest) -> bool:
    """Return whether the user may do everything."""
    return "admins" in groups_of(call)


def require_admin(call: ServerRequest, action: str) -> None:
    """Raise ApiError unless the user is an administrator, who alone may do this."""
    if not is_admin(call):
        raise ApiError(403, "PERMISSION_DENIED", f"Only administrators {action}.")


def has_permission(call: ServerRequest, kind: str, key: str, level: str) -> bool:
    """Return whether the list of an object lets the user do this."""
    return is_admin(call) or is_granted(call, kind, _acl(call, kind, key), level)


def is_granted(call: ServerRequest, kind: str, entries: Iterable[Document], level: str) -> bool:
    """Return whether a list gives the user this level, directly or by a group."""
    levels = KINDS[kind].levels
    enough = {"IS_OWNER", *levels[levels.index(level) :]}
    return any(
        entry["permission_level"] in enough
        for entry in entries
        if _principal(entry)[1] in (call.caller, *groups_of(call))
    )


def require(call: ServerRequest, kind: str, key: str, level: str) -> None:
    """Raise ApiError where the list of an object does not let the user do this."""
    if has_permission(call, kind, key, level):
        return
    raise ApiError(
        403, "PERMISSION_DENIED", f"{call.caller} does not have {level} permission on {kind}/{key}."
    )


def delete_permissions(call: ServerRequest, kind: str, key: str) -> None:
    """Delete the list of an object that was deleted."""
    call.store.delete("acl", f"{kind}/{key}")


def _named(call: ServerRequest) -> tuple[str, str]:
    kind, key, *_ = call.path_parameter.split("/")
    if kind not in KINDS:
        raise invalid_parameter(f"'{kind}' is not a supported object type.")
    if not _exists(call, kind, key):
        raise missing(f"{KINDS[kind].name} {key}")
    return kind, key


def _exists(call: ServerRequest, kind: str, key: str) -> bool:
    """Return whether there is such an object. Kinds without any here (experiments, queries …) have none."""
    about = KINDS[kind]
    if key in about.ids:
        return True
    if about.stored:
        found = call.store.get(about.stored, key.lower())
        return found is not None or _submitted_run(call, kind, key) is not None
    found = workspace_handlers.find_by_id(call, key) if about.in_folders else None
    return found is not None and found["object_type"] in about.in_folders


def _submitted_run(call: ServerRequest, kind: str, key: str) -> Document | None:
    """Return the run of a job that was submitted and not created: both have the same id."""
    run = call.store.get("run", key) if kind == "jobs" else None
    return None if run is None or run["job_id"] else run


def _acl(call: ServerRequest, kind: str, key: str) -> list[Document]:
    kept = call.store.get("acl", f"{kind}/{key}")
    if kept is not None:
        return list(kept["entries"])
    creator = call.owner
    run = _submitted_run(call, kind, key)
    if run is not None:
        creator = run["creator_user_name"]
        if run.get("access_control_list"):
            return list(run["access_control_list"])
    elif KINDS[kind].has_creator:
        found = call.store.get(KINDS[kind].stored, key) or {}
        creator = found.get("creator_user_name") or found.get("owner_user_name") or creator
    level = "IS_OWNER" if KINDS[kind].is_owned else KINDS[kind].levels[-1]
    return [{"user_name": creator, "permission_level": level}]


def access_control_list(call: ServerRequest, given: object) -> list[Document]:
    """Return the list of a new job or a submitted run, with its creator as the owner where it names none.

    Raises ApiError for a list that the platform refuses.
    """
    entries = _checked("jobs", given)
    if not entries:
        return []
    owners = [entry for entry in entries if entry["permission_level"] == "IS_OWNER"]
    if not owners:
        return [*entries, {"user_name": call.caller, "permission_level": "IS_OWNER"}]
    _check_owners("jobs", owners)
    if _principal(owners[0])[1] != call.caller and not is_admin(call):
        raise ApiError(403, "PERMISSION_DENIED", "Only administrators give an object to another owner.")
    return entries


def _entries(call: ServerRequest, kind: str) -> list[Document]:
    return _checked(kind, call.body.get("access_control_list"))


def _checked(kind: str, given: object) -> list[Document]:
    entries = [] if given is None else given
    if not isinstance(entries, list):
        raise ApiError(400, "MALFORMED_REQUEST", "access_control_list has to be an array of objects.")
    for entry in entries:
        _principal(entry)
        level = entry.get("permission_level")
        known = KINDS[kind].levels
        if level not in known:
            raise invalid_parameter(f"{level} is not a permission level of {kind}: {', '.join(known)}.")
    return _strongest(kind, entries)


def _strongest(kind: str, entries: Iterable[Document]) -> list[Document]:
    """Return one entry of each principal: the one with its strongest level, ownership before all others."""
    order = [*(level for level in KINDS[kind].levels if level != "IS_OWNER"), "IS_OWNER"]
    found: dict[tuple[str, str], Document] = {}
    for entry in sorted(entries, key=lambda each: order.index(each["permission_level"])):
        found[_principal(entry)] = entry
    return [entry for entry in entries if found[_principal(entry)] is entry]


def _kept(call: ServerRequest, kind: str, key: str, entries: list[Document]) -> Document:
    if KINDS[kind].is_owned:
        _check_owners(kind, [entry for entry in entries if entry["permission_level"] == "IS_OWNER"])
    if _submitted_run(call, kind, key) is not None:
        call.store.change("run", key, lambda run: run.update(access_control_list=entries))
    else:
        call.store.put("acl", f"{kind}/{key}", {"entries": entries})
    return _to_json(kind, key, entries)


def _check_owners(kind: str, owners: list[Document]) -> None:
    if len(owners) != 1:
        word = kind.rstrip("s")
        raise invalid_parameter(f"The {word} must have exactly one owner, and the list has {len(owners)}.")
    if "group_name" in owners[0]:
        raise invalid_parameter("A group cannot be the owner.")


def _principal(entry: object) -> tuple[str, str]:
    given = [(name, str(entry[name])) for name in _PRINCIPALS if isinstance(entry, dict) and entry.get(name)]
    if len(given) != 1:
        raise invalid_parameter(f"An entry names one of {', '.join(_PRINCIPALS)}.")
    return given[0]


def _to_json(kind: str, key: str, entries: Iterable[Document]) -> Document:
    shown = []
    for entry in entries:
        name, value = _principal(entry)
        level = {"permission_level": entry["permission_level"], "inherited": False}
        shown.append({name: value, "display_name": value, "all_permissions": [level]})
    return {
        "object_id": f"/{kind}/{key}",
        "object_type": KINDS[kind].object_type,
        "access_control_list": shown,
    }


def _of_warehouse(handler: Callable[[ServerRequest], Any]) -> Callable[[ServerRequest], Any]:
    """Return the handler for the path of SQL warehouses, which has two parts for the kind of object."""
    return lambda call: handler(with_fields(call, path_parameter=f"warehouses/{call.path_parameter}"))


_WAREHOUSE = "/api/2.0/permissions/sql/warehouses/{}"
ROUTES = (
    Route("GET", _WAREHOUSE, _of_warehouse(read)),
    Route("PUT", _WAREHOUSE, _of_warehouse(replace)),
    Route("PATCH", _WAREHOUSE, _of_warehouse(update)),
    Route("GET", f"{_WAREHOUSE}/permissionLevels", _of_warehouse(levels)),
    Route("GET", "/api/2.0/permissions/{}/{}", read),
    Route("PUT", "/api/2.0/permissions/{}/{}", replace),
    Route("PATCH", "/api/2.0/permissions/{}/{}", update),
    Route("GET", "/api/2.0/permissions/{}/{}/permissionLevels", levels),
)


def run_as_name(settings: Document, otherwise: str) -> str:
    """Return the user or service principal of `run_as` in the settings of a job or pipeline."""
    run_as = settings.get("run_as") or {}
    return str(run_as.get("user_name") or run_as.get("service_principal_name") or otherwise)
