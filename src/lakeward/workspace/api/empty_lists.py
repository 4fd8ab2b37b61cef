"""Lists of objects that a local workspace never has: empty, so that clients that probe them continue.

Among them are the feature flags of clients: without any, their telemetry stays off.

Creating such an object is not served (501).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lakeward.databricks_shims.local_workspace import Route
from lakeward.workspace.context import ServerRequest

EMPTY_LISTS: dict[str, dict[str, Any]] = {
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
"""Path -> answer."""


def _constant(answer: dict[str, Any]) -> Callable[[ServerRequest], Any]:
    return lambda _: answer


# To be requested again in an hour.
_NO_FLAGS = {"flags": [], "ttl_seconds": 3600}
_FLAGS = Route("GET", "/api/2.0/connector-service/feature-flags/{}/{}", _constant(_NO_FLAGS), quick=True)
ROUTES = (*(Route("GET", path, _constant(answer)) for path, answer in EMPTY_LISTS.items()), _FLAGS)
