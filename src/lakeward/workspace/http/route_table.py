"""Table of all routes of the server; the source of `docs/workspace.md`."""

from __future__ import annotations

import importlib
import pkgutil

from lakeward.databricks_shims.local_workspace import ROUTES as LOCAL
from lakeward.databricks_shims.local_workspace import Route, Table
from lakeward.workspace import api
from lakeward.workspace.api import workspace_info
from lakeward.workspace.thrift import endpoint

CLIENTS = {
    "sdk": "databricks-sdk",
    "legacy": "databricks-cli 0.18",
    "bundle": "the CLI's sequence of requests, replayed",
    "http": "plain requests",
    "spark": "databricks-sdk, with Spark (a long proof)",
    "sql": "databricks-sql-connector",
}

# Each module of the API has the table of its routes.
_MODULES = [
    importlib.import_module(name) for _, name, _ in pkgutil.iter_modules(api.__path__, f"{api.__name__}.")
]
OWN: tuple[Route, ...] = (
    *(route for module in _MODULES for route in getattr(module, "ROUTES", ())),
    *endpoint.ROUTES,
)

_REPLACED = {(route.method, route.path) for route in OWN}

ROUTES: tuple[Route, ...] = (
    *(route for route in LOCAL if (route.method, route.path) not in _REPLACED),
    *OWN,
)
"""Routes that need only the state folder, and those of the server, which replace them."""

TABLE = Table(ROUTES)

PUBLIC_PATHS = ("/.well-known/databricks-config", workspace_info.ABORT_PATH)
"""Paths that need no token."""
