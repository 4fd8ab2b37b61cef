"""Feature flags of clients: none is set, so their telemetry stays off."""

from __future__ import annotations

from typing import Any

from lakeward.databricks_shims.local_workspace import Route
from lakeward.workspace.context import ServerRequest

_SECONDS = 3600


def feature_flags(_: ServerRequest) -> Any:
    """Return the flags of a client: none, to be requested again in an hour."""
    return {"flags": [], "ttl_seconds": _SECONDS}


ROUTES = (Route("GET", "/api/2.0/connector-service/feature-flags/{}/{}", feature_flags, quick=True),)
