"""Sessions of SQL statements in the REST API, which `databricks-sql-connector` opens with `use_sea=True`.

The paths and fields are those that the connector sends; the API is not documented.
"""

from __future__ import annotations

from collections.abc import Mapping

from anyio import to_thread

from lakeward.databricks_shims.local_workspace import ApiError, Route, missing
from lakeward.workspace.api.warehouses import require_warehouse, wake_warehouse
from lakeward.workspace.context import ServerRequest
from lakeward.workspace.state.store import Document
from lakeward.workspace.warehouse.client_sessions import ClientSession
from lakeward.workspace.warehouse.execution import ExecutionResult, SessionOrder

_OPENING_SECONDS = 600.0


class SessionFailure(ApiError):
    """A session that was not opened; `sql_state` is that of its error."""

    sql_state: str | None = None


async def start_session(
    call: ServerRequest,
    warehouse_id: str,
    *,
    catalog: str | None,
    schema: str | None,
    configuration: Mapping[str, str],
) -> ClientSession:
    """Open a session of a warehouse, and wait until it is ready.

    Args:
        call: The request of the client.
        warehouse_id: The warehouse, which is started if it is stopped.
        catalog: The current catalog; by default that of the settings.
        schema: The current schema, which need not exist.
        configuration: Parameters of Databricks SQL and settings of Spark.

    Raises:
        SessionFailure: The session was not opened.
    """
    await to_thread.run_sync(wake_warehouse, call, warehouse_id)
    order = SessionOrder(catalog or None, schema or None, configuration)
    results: list[ExecutionResult] = []
    session, execution = call.context.sessions.open(call.caller, warehouse_id, order, results.append)
    if not await execution.wait(_OPENING_SECONDS):
        call.context.sessions.close(session)
        raise SessionFailure(504, "DEADLINE_EXCEEDED", "The session was not opened in time.")
    if results[0].error is not None:
        failure = SessionFailure(400, "BAD_REQUEST", results[0].error)
        failure.sql_state = results[0].sql_state
        raise failure
    return session


async def open_session(call: ServerRequest) -> Document:
    """Open a session in a catalog and schema, with settings."""
    warehouse_id = call.required("warehouse_id")
    await to_thread.run_sync(require_warehouse, call, warehouse_id)
    settings = {str(name): str(value) for name, value in call.mapping("session_confs").items()}
    catalog, schema = call.text("catalog"), call.text("schema")
    session = await start_session(call, warehouse_id, catalog=catalog, schema=schema, configuration=settings)
    return {"session_id": session.key}


def close_session(call: ServerRequest) -> None:
    """Close a session; its temporary views and variables end with it."""
    session = call.context.sessions.find(call.path_parameter, call.caller)
    if session is None:
        raise missing(f"The session {call.path_parameter}")
    call.context.sessions.close(session)


_PATH = "/api/2.0/sql/sessions"
ROUTES = (Route("POST", _PATH, open_session), Route("DELETE", f"{_PATH}/{{}}", close_session))
