"""Saved queries: texts that clients keep in the workspace, and that SQL tasks of jobs run by their id.

Source: https://docs.databricks.com/api/workspace/queries
"""

from __future__ import annotations

import uuid

from lakeward.databricks_shims.local_workspace import (
    ApiError,
    Route,
    exclusively,
    invalid_parameter,
    paginate,
)
from lakeward.workspace.api.fields import read_fields, types_of
from lakeward.workspace.api.trash import ACTIVE, Trash
from lakeward.workspace.api.update_mask import copy_field, read_update_mask
from lakeward.workspace.context import ServerRequest
from lakeward.workspace.runs.run_spec import SAVED_QUERY
from lakeward.workspace.state.store import Document, now, time_text

PATH = "/api/2.0/sql/queries"
_FIELDS = types_of("query")
_MODES = ("OWNER", "VIEWER")
_TRASH = Trash(SAVED_QUERY, "query", "TRASHED")


def list_queries(call: ServerRequest) -> Document:
    """List the queries that are not in the trash."""
    return paginate(call, _TRASH.active_records(call.store), "results")


@exclusively
def create(call: ServerRequest) -> Document:
    """Keep a query. With `auto_resolve_display_name` a name that is in use gets a number."""
    given = _read(call)
    created = time_text(now())
    query = {
        "display_name": "New query",
        "run_as_mode": "OWNER",
        "parent_path": f"/Workspace/Users/{call.caller}",
        **given,
        "id": str(uuid.uuid4()),
        "lifecycle_state": ACTIVE,
        "owner_user_name": call.caller,
        "last_modifier_user_name": call.caller,
        "create_time": created,
        "update_time": created,
    }
    _resolve_name(call, query)
    call.store.put(SAVED_QUERY, query["id"], query)
    return query


def get(call: ServerRequest) -> Document:
    """Return a query; one in the trash has the state TRASHED."""
    return _TRASH.find_record(call)


@exclusively
def update(call: ServerRequest) -> Document:
    """Change the fields that `update_mask` names; `*` is all."""
    query, given = _TRASH.require_active(call), _read(call)
    changed = dict(query)
    for name in read_update_mask(call.body.get("update_mask"), _FIELDS, resource="a query"):
        if name in given or name != "display_name":
            copy_field(given, changed, name)
    changed.update(last_modifier_user_name=call.caller, update_time=time_text(now()))
    _resolve_name(call, changed)
    call.store.put(SAVED_QUERY, query["id"], changed)
    return changed


@exclusively
def trash(call: ServerRequest) -> None:
    """Move a query to the trash: it is not listed, and tasks cannot run it."""
    _TRASH.add(call.store, _TRASH.require_active(call))


def _read(call: ServerRequest) -> Document:
    body = read_fields(call.body, {"query": dict}, required=["query"])["query"]
    given = dict(read_fields(body, _FIELDS))
    if given.get("run_as_mode", "OWNER") not in _MODES:
        raise invalid_parameter(f"run_as_mode is one of {', '.join(_MODES)}.")
    return given


def _resolve_name(call: ServerRequest, query: Document) -> None:
    used = {
        each["display_name"]
        for each in _TRASH.active_records(call.store)
        if each["id"] != query["id"] and each["parent_path"] == query.get("parent_path")
    }
    name, number = query["display_name"], 1
    while query["display_name"] in used:
        if not call.body.get("auto_resolve_display_name"):
            raise ApiError(400, "RESOURCE_ALREADY_EXISTS", f"A query named '{name}' already exists.")
        query["display_name"] = f"{name} ({number})"
        number += 1


ROUTES = (
    Route("GET", PATH, list_queries),
    Route("POST", PATH, create),
    Route("GET", f"{PATH}/{{}}", get),
    Route("PATCH", f"{PATH}/{{}}", update),
    Route("DELETE", f"{PATH}/{{}}", trash),
)
