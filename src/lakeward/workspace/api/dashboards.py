"""AI/BI (Lakeview) dashboards: drafts and their published versions, as clients deploy them.

They are records: nothing renders them. Tasks of jobs run the queries of the published version. `path` names a
dashboard in its folder; `workspace_objects` shows it there.

Source: https://docs.databricks.com/api/workspace/lakeview
"""

from __future__ import annotations

import json
import posixpath
import secrets
import uuid
from typing import Any

from lakeward.databricks_shims.local_workspace import (
    ApiError,
    ApiRequest,
    Route,
    exclusively,
    invalid_parameter,
    missing,
    paginate,
    workspace_handlers,
)
from lakeward.workspace.api.fields import Types, read_fields
from lakeward.workspace.api.permissions import has_permission, require
from lakeward.workspace.api.trash import ACTIVE, Trash
from lakeward.workspace.context import ServerRequest
from lakeward.workspace.state.store import Document, now, time_text

PATH = "/api/2.0/lakeview/dashboards"
_KIND, _ACL = "dashboard", "dashboards"
_HIDDEN = ("published", "published_draft", "creator_user_name", "dataset_catalog", "dataset_schema")
# What a task that refreshes the dashboard reads.
_PUBLISHED = ("display_name", "serialized_dashboard", "dataset_catalog", "dataset_schema")
_FIELDS: Types = {
    "display_name": str,
    "parent_path": str,
    "serialized_dashboard": str,
    "warehouse_id": str,
    "etag": str,
    "dataset_catalog": str,
    "dataset_schema": str,
}
_ENDING = ".lvdash.json"
_TRASH = Trash(_KIND, "dashboard", "TRASHED", key="dashboard_id")
# As the SDK documents: lists have the summary alone.
_SUMMARY = ("dashboard_id", "display_name", "create_time", "lifecycle_state", "warehouse_id")
_MOST_BYTES = 10 * 2**20  # assumed: the limit of workspace/import


def list_dashboards(call: ServerRequest) -> Document:
    """List dashboards; those in the trash only with `show_trashed`."""
    found = [
        {name: each[name] for name in _SUMMARY if name in each}
        for each in call.store.find(_KIND)
        if (call.flag("show_trashed") or each["lifecycle_state"] == ACTIVE)
        and has_permission(call, _ACL, each["dashboard_id"], "CAN_READ")
    ]
    return paginate(call, found, "dashboards")


@exclusively
def create(call: ServerRequest) -> Document:
    """Create a draft. Raises ApiError where its folder does not exist or has a dashboard of that name."""
    given = _read(call)
    if "display_name" not in given:
        raise invalid_parameter("Missing required field: display_name")
    given.pop("etag", None)
    folder = given.pop("parent_path", None) or f"/Users/{call.caller}"
    _require_folder(call, folder)
    folder = plain_path(folder)
    created = time_text(now())
    dashboard = {
        "dashboard_id": uuid.uuid4().hex,
        "serialized_dashboard": "{}",
        **given,
        "parent_path": folder,
        "path": _path(folder, given["display_name"]),
        "lifecycle_state": ACTIVE,
        "creator_user_name": call.caller,
        "create_time": created,
        "update_time": created,
        "etag": _etag(),
    }
    _refuse_duplicate(call, dashboard)
    call.store.put(_KIND, dashboard["dashboard_id"], dashboard)
    return _shown(dashboard)


def get(call: ServerRequest) -> Document:
    """Return a draft; one in the trash has the state TRASHED."""
    return _shown(_found(call, "CAN_READ"))


@exclusively
def update(call: ServerRequest) -> Document:
    """Change a draft. Raises ApiError where `etag` is not the newest one: another client has changed it."""
    dashboard, given = _active(call, "CAN_EDIT"), _read(call)
    given.pop("parent_path", None)  # a dashboard is not moved
    etag = given.pop("etag", None)
    if etag is not None and etag != dashboard["etag"]:
        message = f"The dashboard {dashboard['dashboard_id']} was changed since etag {etag[:50]!r}."
        raise ApiError(409, "RESOURCE_CONFLICT", message)
    changed = {**dashboard, **given, "update_time": time_text(now()), "etag": _etag()}
    changed["path"] = _path(changed["parent_path"], changed["display_name"])
    _refuse_duplicate(call, changed)
    call.store.put(_KIND, dashboard["dashboard_id"], changed)
    return _shown(changed)


@exclusively
def trash(call: ServerRequest) -> None:
    """Move a dashboard to the trash."""
    trash_dashboard(call, _active(call, "CAN_MANAGE"))


def trash_dashboard(call: ServerRequest, dashboard: Document) -> None:
    """Move a dashboard to the trash."""
    _TRASH.add(call.store, dashboard)


def active_dashboards(call: ServerRequest, *, of_all: bool = False) -> list[Document]:
    """Return the dashboards that are not in the trash: those that the user may read, or of all users."""
    return [
        each
        for each in _TRASH.active_records(call.store)
        if of_all or has_permission(call, _ACL, each["dashboard_id"], "CAN_READ")
    ]


def plain_path(path: str) -> str:
    """Return the path of an object without the prefix /Workspace and in its shortest spelling.

    >>> plain_path("/Workspace/Users/../Shared/")
    '/Shared'
    """
    path = posixpath.normpath("/" + path.strip("/"))
    return (path.removeprefix("/Workspace") or "/") if f"{path}/".startswith("/Workspace/") else path


@exclusively
def publish(call: ServerRequest) -> Document:
    """Publish the draft as it is now."""
    dashboard = _active(call, "CAN_EDIT")
    given = read_fields(call.body, {"embed_credentials": bool, "warehouse_id": str})
    published = {
        "display_name": dashboard["display_name"],
        "embed_credentials": given.get("embed_credentials", False),
        "revision_create_time": time_text(now()),
    }
    warehouse = given.get("warehouse_id") or dashboard.get("warehouse_id")
    if warehouse:
        published["warehouse_id"] = warehouse
    draft = {name: dashboard[name] for name in _PUBLISHED if name in dashboard}
    changed = {**dashboard, "published": published, "published_draft": draft}
    call.store.put(_KIND, dashboard["dashboard_id"], changed)
    return published


def get_published(call: ServerRequest) -> Any:
    """Return the published version."""
    dashboard = _found(call, "CAN_READ")
    if "published" not in dashboard:
        raise missing(f"The published version of the dashboard {dashboard['dashboard_id']}")
    return dashboard["published"]


@exclusively
def unpublish(call: ServerRequest) -> None:
    """Remove the published version."""
    get_published(call)
    dashboard = _found(call, "CAN_EDIT")
    del dashboard["published"]
    dashboard.pop("published_draft", None)
    call.store.put(_KIND, dashboard["dashboard_id"], dashboard)


def _read(call: ServerRequest) -> Document:
    given = read_fields(call.body, _FIELDS)
    # On the platform they are parameters of the request.
    given |= {each: call.text(each) for each in ("dataset_catalog", "dataset_schema") if call.query.get(each)}
    name = given.get("display_name")
    if name is not None and (not name.strip() or len(name) > 200 or any(char in name for char in "/\n\r")):
        raise invalid_parameter(
            f"display_name cannot be {name[:100]!r}: use 1 to 200 characters without slashes."
        )
    text = given.get("serialized_dashboard")
    if text is not None:
        _check_content(text)
    return given


def _check_content(text: str) -> None:
    if len(text.encode()) > _MOST_BYTES:
        raise invalid_parameter("serialized_dashboard has more than 10 MB.")
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        content = None
    if not isinstance(content, dict):
        raise invalid_parameter("serialized_dashboard is not a JSON object.")


def _require_folder(call: ServerRequest, folder: str) -> None:
    request = ApiRequest(call.environment, query={"path": folder}, user=call.user)
    if not workspace_handlers.resolve_object(request, folder).is_dir():
        raise ApiError(404, "RESOURCE_DOES_NOT_EXIST", f"Path ({folder}) doesn't exist.")


def _refuse_duplicate(call: ServerRequest, dashboard: Document) -> None:
    for each in _TRASH.active_records(call.store):
        if each["path"] == dashboard["path"] and each["dashboard_id"] != dashboard["dashboard_id"]:
            raise ApiError(400, "RESOURCE_ALREADY_EXISTS", f"Path ({each['path']}) already exists.")


def _found(call: ServerRequest, level: str) -> Document:
    """Return the dashboard of the request. Raises ApiError where the caller lacks this level on it."""
    found = _TRASH.find_record(call)
    require(call, _ACL, found["dashboard_id"], level)
    return found


def _active(call: ServerRequest, level: str) -> Document:
    found = _found(call, level)
    if found["lifecycle_state"] != ACTIVE:
        raise ApiError(400, "INVALID_STATE", f"The dashboard {found['dashboard_id']} is in the trash.")
    return found


def _shown(dashboard: Document) -> Document:
    return {name: value for name, value in dashboard.items() if name not in _HIDDEN}


def _path(folder: str, name: str) -> str:
    return f"{folder.rstrip('/')}/{name}{_ENDING}"


def _etag() -> str:
    return secrets.token_hex(8)


ROUTES = (
    Route("GET", PATH, list_dashboards),
    Route("POST", PATH, create),
    Route("GET", f"{PATH}/{{}}", get),
    Route("PATCH", f"{PATH}/{{}}", update),
    Route("DELETE", f"{PATH}/{{}}", trash),
    Route("GET", f"{PATH}/{{}}/published", get_published),
    Route("POST", f"{PATH}/{{}}/published", publish),
    Route("DELETE", f"{PATH}/{{}}/published", unpublish),
)
