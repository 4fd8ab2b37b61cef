"""Table of all routes of the server; the source of `docs/workspace.md`."""

from __future__ import annotations

from lakeward.databricks_shims.local_workspace import ROUTES as LOCAL
from lakeward.databricks_shims.local_workspace import Handler, Route, Table
from lakeward.workspace.api import (
    catalog,
    clusters,
    commands,
    dashboards,
    empty_lists,
    jobs,
    models,
    notebook_export,
    permissions,
    pipeline_reports,
    pipelines,
    query_history,
    records,
    repos,
    run_submission,
    runs,
    scim,
    statements,
    table_history,
    tokens,
    workspace_info,
)
from lakeward.workspace.warehouse.result_links import RESULTS_PATH

CLIENTS = {
    "sdk": "databricks-sdk",
    "legacy": "databricks-cli 0.18",
    "bundle": "the CLI's sequence of requests, replayed",
    "http": "plain requests",
    "spark": "databricks-sdk, with Spark (a long proof)",
}

_VERSIONS = ("2.0", "2.1", "2.2")
_RUNS = "jobs/runs"
_UC = "/api/2.1/unity-catalog"


def _jobs(method: str, path: str, handler: Handler, *, quick: bool = False) -> list[Route]:
    return [Route(method, f"/api/{version}/{path}", handler, quick=quick) for version in _VERSIONS]


OWN: tuple[Route, ...] = (
    Route("GET", "/.well-known/databricks-config", workspace_info.facts),
    Route("POST", "/telemetry-ext", workspace_info.telemetry),
    Route("POST", "/api/2.0/token/create", tokens.create),
    Route("GET", "/api/2.0/token/list", tokens.list_all),
    Route("POST", "/api/2.0/token/delete", tokens.delete),
    Route("POST", "/api/2.0/token-management/on-behalf-of/tokens", tokens.create_on_behalf),
    *_jobs("POST", "jobs/create", jobs.create),
    *_jobs("GET", "jobs/get", jobs.get),
    *_jobs("GET", "jobs/list", jobs.list_jobs),
    *_jobs("POST", "jobs/update", jobs.update),
    *_jobs("POST", "jobs/reset", jobs.reset),
    *_jobs("POST", "jobs/delete", jobs.delete),
    *_jobs("POST", "jobs/run-now", run_submission.run_now),
    *_jobs("POST", f"{_RUNS}/submit", run_submission.submit),
    *_jobs("GET", f"{_RUNS}/get", runs.get, quick=True),
    *_jobs("GET", f"{_RUNS}/list", runs.list_runs),
    *_jobs("GET", f"{_RUNS}/get-output", runs.get_output),
    *_jobs("GET", f"{_RUNS}/export", runs.export),
    *_jobs("POST", f"{_RUNS}/cancel", runs.cancel),
    *_jobs("POST", f"{_RUNS}/cancel-all", runs.cancel_all),
    *_jobs("POST", f"{_RUNS}/repair", run_submission.repair),
    *_jobs("POST", f"{_RUNS}/delete", runs.delete),
    Route("GET", "/api/2.0/lakeward/logs", runs.log),
    Route("GET", "/api/2.0/lakeward/streams", runs.list_streams),
    Route("POST", "/api/2.0/lakeward/streams", runs.change_stream),
    Route("GET", "/api/2.0/lakeward/graph/{}", pipelines.graph),
    Route("GET", "/api/2.0/lakeward/history/{}", table_history.history),
    Route("GET", "/api/2.0/lakeward/pipelines", pipeline_reports.list_local),
    Route("GET", "/api/2.0/lakeward/report/{}", pipeline_reports.report),
    Route("GET", "/api/2.0/pipelines", pipelines.list_pipelines),
    Route("POST", "/api/2.0/pipelines", pipelines.create),
    Route("GET", "/api/2.0/pipelines/{}", pipelines.get),
    Route("PUT", "/api/2.0/pipelines/{}", pipelines.edit),
    Route("DELETE", "/api/2.0/pipelines/{}", pipelines.delete),
    Route("GET", "/api/2.0/pipelines/{}/updates", pipelines.list_updates),
    Route("POST", "/api/2.0/pipelines/{}/updates", pipelines.start_update),
    Route("GET", "/api/2.0/pipelines/{}/updates/{}", pipelines.get_update),
    Route("POST", "/api/2.0/pipelines/{}/stop", pipelines.stop),
    Route("GET", "/api/2.0/pipelines/{}/events", pipelines.list_events),
    Route("GET", "/api/2.0/permissions/{}/{}", permissions.read),
    Route("PUT", "/api/2.0/permissions/{}/{}", permissions.replace),
    Route("PATCH", "/api/2.0/permissions/{}/{}", permissions.update),
    Route("GET", "/api/2.0/permissions/{}/{}/permissionLevels", permissions.levels),
    Route("GET", f"{_UC}/catalogs", catalog.list_catalogs),
    Route("POST", f"{_UC}/catalogs", catalog.create_catalog),
    Route("GET", f"{_UC}/catalogs/{{}}", catalog.get_catalog),
    Route("PATCH", f"{_UC}/catalogs/{{}}", catalog.update_catalog),
    Route("DELETE", f"{_UC}/catalogs/{{}}", catalog.delete_catalog),
    Route("GET", f"{_UC}/schemas", catalog.list_schemas),
    Route("POST", f"{_UC}/schemas", catalog.create_schema),
    Route("GET", f"{_UC}/schemas/{{}}", catalog.get_schema),
    Route("PATCH", f"{_UC}/schemas/{{}}", catalog.update_schema),
    Route("DELETE", f"{_UC}/schemas/{{}}", catalog.delete_schema),
    Route("GET", f"{_UC}/tables", catalog.list_tables),
    Route("GET", f"{_UC}/tables/{{}}", catalog.get_table),
    Route("DELETE", f"{_UC}/tables/{{}}", catalog.delete_table),
    Route("GET", f"{_UC}/table-summaries", catalog.list_table_summaries),
    Route("GET", f"{_UC}/tables/{{}}/exists", catalog.table_exists),
    Route("GET", f"{_UC}/permissions/*", catalog.grants),
    Route("PATCH", f"{_UC}/permissions/*", catalog.change_grants),
    Route("GET", f"{_UC}/effective-permissions/*", catalog.effective_grants),
    Route("GET", "/api/2.0/sql/warehouses", statements.list_warehouses),
    Route("GET", "/api/2.0/sql/warehouses/{}", statements.get_warehouse),
    Route("POST", "/api/2.0/sql/warehouses/{}/start", statements.start_warehouse),
    Route("POST", "/api/2.0/sql/warehouses/{}/stop", statements.stop_warehouse),
    Route("POST", "/api/2.0/sql/statements", statements.execute),
    Route("GET", "/api/2.0/sql/statements/{}", statements.get),
    Route("GET", "/api/2.0/sql/statements/{}/result/chunks/{}", statements.result_chunk),
    Route("POST", "/api/2.0/sql/statements/{}/cancel", statements.cancel),
    Route("GET", f"{RESULTS_PATH}{{}}/{{}}", statements.download_chunk),
    *clusters.ROUTES,
    *commands.ROUTES,
    *dashboards.ROUTES,
    *scim.ROUTES,
    *notebook_export.ROUTES,
    *query_history.ROUTES,
    *records.ROUTES,
    *repos.ROUTES,
    *workspace_info.ROUTES,
    *models.ROUTES,
    *empty_lists.ROUTES,
)

_REPLACED = {(route.method, route.path) for route in OWN}

ROUTES: tuple[Route, ...] = (
    *(route for route in LOCAL if (route.method, route.path) not in _REPLACED),
    *OWN,
)
"""Those that need the state folder alone, and those that need a server; the server's own come first."""

TABLE = Table(ROUTES)

PUBLIC_PATHS = ("/.well-known/databricks-config",)
"""What is answered without a token."""
