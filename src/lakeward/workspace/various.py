"""Small answers: the workspace's own facts, telemetry."""

from __future__ import annotations

from typing import Any

from lakeward.workspace.call import ServerCall

__all__ = ["WORKSPACE_ID", "facts", "telemetry"]

WORKSPACE_ID = 1000000000000001


def facts(call: ServerCall) -> Any:
    """Who this workspace is; asked for before a client has credentials."""
    return {"oidc_endpoint": f"{call.office.host}/oidc", "workspace_id": str(WORKSPACE_ID)}


def telemetry(call: ServerCall) -> Any:
    """Taken, counted and thrown away."""
    logs = [*(call.body.get("protoLogs") or ()), *(call.body.get("items") or ())]
    return {"errors": [], "numProtoSuccess": len(logs)}
