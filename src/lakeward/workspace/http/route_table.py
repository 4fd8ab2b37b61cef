"""Table of all routes of the server; the source of `docs/workspace.md`."""

from __future__ import annotations

from lakeward.databricks_shims.local_workspace import ROUTES as LOCAL
from lakeward.databricks_shims.local_workspace import Route, Table
from lakeward.workspace.api import (
    alerts,
    catalog,
    clusters,
    commands,
    dashboards,
    grants,
    instance_profiles,
    jobs,
    libraries,
    models,
    permissions,
    pipeline_reports,
    pipelines,
    query_history,
    records,
    repos,
    run_submission,
    run_views,
    runs,
    saved_queries,
    scim,
    sql_sessions,
    statements,
    table_history,
    tokens,
    volume_operations,
    warehouses,
    workspace_info,
    workspace_objects,
)
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
OWN: tuple[Route, ...] = (
    *workspace_info.ROUTES,
    *tokens.ROUTES,
    *jobs.ROUTES,
    *run_submission.ROUTES,
    *runs.ROUTES,
    *saved_queries.ROUTES,
    *alerts.ROUTES,
    *pipelines.ROUTES,
    *table_history.ROUTES,
    *pipeline_reports.ROUTES,
    *permissions.ROUTES,
    *catalog.ROUTES,
    *grants.ROUTES,
    *statements.ROUTES,
    *sql_sessions.ROUTES,
    *warehouses.ROUTES,
    *clusters.ROUTES,
    *libraries.ROUTES,
    *instance_profiles.ROUTES,
    *commands.ROUTES,
    *dashboards.ROUTES,
    *scim.ROUTES,
    *query_history.ROUTES,
    *records.ROUTES,
    *repos.ROUTES,
    *workspace_objects.ROUTES,
    *models.ROUTES,
    *run_views.ROUTES,
    *volume_operations.ROUTES,
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
