"""Objects at paths of the workspace: files and folders, and the records that have a path there.

A Git folder is a folder of the type REPO. A dashboard is a record without a file.

Source: https://docs.databricks.com/api/workspace/workspace
"""

from __future__ import annotations

import base64
from datetime import datetime

from lakeward.databricks_shims.local_workspace import (
    ApiError,
    ApiResponse,
    Route,
    exclusively,
    object_id,
    workspace_handlers,
)
from lakeward.workspace.api import notebook_export
from lakeward.workspace.api.dashboards import active_dashboards, plain_path, trash_dashboard
from lakeward.workspace.api.permissions import require
from lakeward.workspace.context import ServerRequest
from lakeward.workspace.state.store import Document


def list_objects(call: ServerRequest) -> Document:
    """List a folder with its dashboards, or the one object at the path."""
    dashboard = _dashboard(call)
    if dashboard is not None:
        return {"objects": [_about(dashboard)]}
    answer = workspace_handlers.list_objects(call)
    folder = plain_path(call.required("path"))
    dashboards = [each for each in active_dashboards(call) if each["parent_path"] == folder]
    return {"objects": [*(_typed(call, each) for each in answer["objects"]), *map(_about, dashboards)]}


def get_status(call: ServerRequest) -> Document:
    """Return what is at a path."""
    dashboard = _dashboard(call)
    return _typed(call, workspace_handlers.get_status(call)) if dashboard is None else _about(dashboard)


def export(call: ServerRequest) -> ApiResponse | Document:
    """Return the content of a dashboard, a notebook in a format, or a file as it is."""
    dashboard = _dashboard(call)
    if dashboard is None or call.query.get("format", "SOURCE") not in ("SOURCE", "AUTO", "RAW"):
        return notebook_export.export(call)
    data = dashboard["serialized_dashboard"].encode()
    if call.flag("direct_download"):
        return ApiResponse(data, {"Content-Type": "application/octet-stream"})
    return {"content": base64.b64encode(data).decode(), "file_type": "lvdash.json"}


@exclusively
def delete(call: ServerRequest) -> None:
    """Remove an object; dashboards, those in the folder included, go to the trash."""
    dashboard = _dashboard(call)
    if dashboard is not None:
        require(call, "dashboards", dashboard["dashboard_id"], "CAN_MANAGE")
        trash_dashboard(call, dashboard)
        return
    path = call.required("path")
    below = f"{plain_path(path).rstrip('/')}/"
    dashboards = [each for each in active_dashboards(call, of_all=True) if each["path"].startswith(below)]
    if dashboards and not call.flag("recursive"):
        raise ApiError(400, "DIRECTORY_NOT_EMPTY", f"Folder ({path}) is not empty")
    workspace_handlers.delete(call)
    for each in dashboards:
        trash_dashboard(call, each)


def _dashboard(call: ServerRequest) -> Document | None:
    """Return the dashboard at the path of the request, None where the user may read none there."""
    path = plain_path(call.required("path"))
    return next((each for each in active_dashboards(call) if each["path"] == path), None)


def _about(dashboard: Document) -> Document:
    return {
        "path": dashboard["path"],
        "object_type": "DASHBOARD",
        "object_id": object_id(dashboard["path"]),
        "resource_id": dashboard["dashboard_id"],
        "created_at": _milliseconds(dashboard["create_time"]),
        "modified_at": _milliseconds(dashboard["update_time"]),
    }


def _milliseconds(time: str) -> int:
    return round(datetime.fromisoformat(time.replace("Z", "+00:00")).timestamp() * 1000)


def _typed(call: ServerRequest, about: Document) -> Document:
    is_repo = about["object_type"] == "DIRECTORY" and call.store.get("repo", about["object_id"])
    return {**about, "object_type": "REPO"} if is_repo else about


ROUTES = (
    Route("GET", "/api/2.0/workspace/list", list_objects),
    Route("GET", "/api/2.0/workspace/get-status", get_status),
    Route("GET", "/api/2.0/workspace/export", export),
    Route("POST", "/api/2.0/workspace/delete", delete),
)
