"""Workspace identifiers, settings and metastore, and answers that never change: telemetry, empty lists."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lakeward.databricks_shims.local_workspace import Route, invalid_parameter, missing
from lakeward.workspace.api.permissions import require_admin
from lakeward.workspace.context import ServerRequest
from lakeward.workspace.state.store import Document
from lakeward.workspace_connection import WORKSPACE_ID

METASTORE_ID = "00000000-0000-0000-0000-000000000001"
_UC = "/api/2.1/unity-catalog"
ACCOUNT_ID = "00000000-0000-0000-0000-000000000000"
ABORT_PATH = "/api/2.0/lakeward/upload-parts"
"""Needs no token, as links of cloud storage: it does nothing."""


def facts(call: ServerRequest) -> Document:
    """Return identifiers of the workspace, which clients request before they have credentials."""
    return {
        "oidc_endpoint": f"{call.host}/oidc",
        "workspace_id": str(WORKSPACE_ID),
        "account_id": ACCOUNT_ID,
    }


def telemetry(call: ServerRequest) -> Document:
    """Count telemetry records and discard them."""
    logs = [*(call.body.get("protoLogs") or ()), *(call.body.get("items") or ())]
    return {"errors": [], "numProtoSuccess": len(logs)}


def summary(call: ServerRequest) -> Document:
    """Return the one metastore: the warehouse folder of the target."""
    return {
        "metastore_id": METASTORE_ID,
        "name": "lakeward",
        "global_metastore_id": f"local:local:{METASTORE_ID}",
        "cloud": "local",
        "region": "local",
        "owner": call.owner,
        "privilege_model_version": "1.0",
        "delta_sharing_scope": "INTERNAL",
        "storage_root": f"file:{call.environment.settings().warehouse}",
    }


def list_metastores(call: ServerRequest) -> Document:
    """List the one metastore."""
    return {"metastores": [summary(call)]}


def get_metastore(call: ServerRequest) -> Document:
    """Return the one metastore by its id."""
    if call.path_parameter != METASTORE_ID:
        raise missing(f"Metastore '{call.path_parameter[:100]}'", "METASTORE_DOES_NOT_EXIST")
    return summary(call)


def assignment(call: ServerRequest) -> Document:
    """Return the metastore that this workspace uses."""
    default = call.environment.settings().catalog
    return {"metastore_id": METASTORE_ID, "workspace_id": WORKSPACE_ID, "default_catalog_name": default}


def get_conf(call: ServerRequest) -> Document:
    """Return the settings of the workspace that `keys` names; unset ones are null."""
    kept = call.store.get("conf", "workspace") or {}
    return {key: kept.get(key) for key in call.required("keys").split(",")}


def set_conf(call: ServerRequest) -> None:
    """Keep settings of the workspace; they have no effect here."""
    require_admin(call, "change settings of the workspace")
    if not all(isinstance(value, str) for value in call.body.values()):
        raise invalid_parameter("The values of settings must be strings.")
    call.store.put("conf", "workspace", {**(call.store.get("conf", "workspace") or {}), **call.body})


def create_link(call: ServerRequest) -> Document:
    """Return the link to which databricks-sdk before 0.157 sends the abort of an upload in parts.

    There are no parts to remove (`files.initiate_upload`). Without the link, each upload of 50 MB and more
    would log that it could not be aborted.
    """
    return {"abort_upload_url": {"url": f"{call.host}{ABORT_PATH}", "headers": []}}


def abort(_: ServerRequest) -> None:
    """Remove nothing."""


EMPTY_LISTS: dict[str, Document] = {
    "/api/2.0/apps": {"apps": []},
    "/api/2.0/genie/spaces": {"spaces": []},
    "/api/2.0/notification-destinations": {"results": []},
    "/api/2.0/policy-families": {"policy_families": []},
    "/api/2.0/preview/sql/alerts": {"results": []},
    "/api/2.0/preview/sql/dashboards": {"results": [], "count": 0, "page": 1, "page_size": 25},
    "/api/2.0/preview/sql/queries": {"results": [], "count": 0, "page": 1, "page_size": 25},
    "/api/2.0/serving-endpoints": {"endpoints": []},
    "/api/2.0/sql/alerts": {"results": []},
    "/api/2.1/unity-catalog/providers": {"providers": []},
    "/api/2.1/unity-catalog/recipients": {"recipients": []},
    "/api/2.1/unity-catalog/shares": {"shares": []},
}
"""Path -> answer: what a local workspace never has, for clients that look for it. Creating one is 501."""


def _constant(answer: Document) -> Callable[[ServerRequest], Any]:
    return lambda _: answer


# Feature flags of clients: without any, their telemetry stays off. They are requested again in an hour.
_NO_FLAGS = {"flags": [], "ttl_seconds": 3600}


ROUTES = (
    Route("GET", "/.well-known/databricks-config", facts),
    Route("POST", "/telemetry-ext", telemetry),
    Route("GET", f"{_UC}/metastore_summary", summary),
    Route("GET", f"{_UC}/metastores", list_metastores),
    Route("GET", f"{_UC}/metastores/{{}}", get_metastore),
    Route("GET", f"{_UC}/current-metastore-assignment", assignment),
    Route("GET", "/api/2.0/workspace-conf", get_conf),
    Route("PATCH", "/api/2.0/workspace-conf", set_conf),
    Route("POST", "/api/2.0/fs/create-abort-upload-url", create_link),
    Route("DELETE", ABORT_PATH, abort),
    *(Route("GET", path, _constant(answer)) for path, answer in EMPTY_LISTS.items()),
    Route("GET", "/api/2.0/connector-service/feature-flags/{}/{}", _constant(_NO_FLAGS), quick=True),
)
