"""SQL statement execution: the routes. The statements of all warehouses run in one process.

Source: https://docs.databricks.com/api/workspace/statementexecution
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import replace

import orjson
from anyio import to_thread

from lakeward.databricks_shims.local_workspace import ApiError, ApiResponse, Route, missing
from lakeward.workspace.api.statement_requests import StatementRequest
from lakeward.workspace.api.volume_operations import parse_volume_operation
from lakeward.workspace.api.warehouses import wake_warehouse
from lakeward.workspace.context import ServerRequest
from lakeward.workspace.state.store import Document, now
from lakeward.workspace.warehouse.execution import Execution, ExecutionResult
from lakeward.workspace.warehouse.result_folder import RESULT_SECONDS
from lakeward.workspace.warehouse.result_links import RESULTS_PATH
from lakeward.workspace.warehouse.statement_results import chunk_file

HISTORY_CHARACTERS = 2**16
"""Of the text of a statement, in the history of queries: its pages and lists have many statements."""
_MEDIA_TYPES = {
    "JSON_ARRAY": "application/json",
    "ARROW_STREAM": "application/vnd.apache.arrow.stream",
    "CSV": "text/csv",
}
# How long the answer to an expired `wait_timeout` with CANCEL waits for the cancellation.
_CANCEL_SECONDS = 5.0


async def execute(call: ServerRequest) -> Document:
    """Run a statement and wait for it up to `wait_timeout`. Waiting occupies no thread."""
    request, execution = await to_thread.run_sync(submit_statement, call)
    if request.wait and not await execution.wait(request.wait) and request.cancel_on_timeout:
        call.context.warehouse.cancel(execution.key)
        await execution.wait(_CANCEL_SECONDS)
    return await to_thread.run_sync(_statement, call, execution.key)


def get(call: ServerRequest) -> Document:
    """Show the state of a statement and, once it has succeeded, the first chunk of its result."""
    return _statement(call, call.path_parameter)


def result_chunk(call: ServerRequest) -> Document:
    """Return one chunk of a result."""
    statement_id, _, index = call.path_parameter.partition("/")
    found = stored_statement(call, statement_id)
    chunks = (found.get("manifest") or {}).get("chunks", ())
    if found["status"]["state"] != "SUCCEEDED" or not index.isdecimal() or int(index) >= len(chunks):
        raise missing(f"Chunk {index} of the statement {statement_id}")
    return _result(call, found, int(index))


def download_chunk(call: ServerRequest) -> ApiResponse:
    """Return the content of a chunk to a request with a signed link."""
    call.require_link(call.path_parameter)
    statement_id, _, index = call.path_parameter.partition("/")
    found = call.store.get("statement", statement_id) or {}
    if "manifest" not in found:
        raise missing(f"The statement {statement_id}")
    layout = found["manifest"]["format"]
    file = chunk_file(call.context.warehouse.results.of(statement_id), layout, int(index))
    if not file.is_file():
        raise missing(f"The result of the statement {statement_id}")
    return ApiResponse(file=file, headers={"Content-Type": _MEDIA_TYPES[layout], "Cache-Control": "no-store"})


def close(call: ServerRequest) -> None:
    """Cancel a statement that is running, and remove its result."""
    statement_id = call.path_parameter
    stored_statement(call, statement_id)
    call.context.warehouse.cancel(statement_id)
    call.context.warehouse.results.remove(statement_id)
    call.store.change("statement", statement_id, _close)


def _close(body: Document) -> None:
    if body["status"]["state"] == "SUCCEEDED":
        body["status"] = {"state": "CLOSED"}


def cancel(call: ServerRequest) -> None:
    """Cancel one statement."""
    stored_statement(call, call.path_parameter)
    call.context.warehouse.cancel(call.path_parameter)


def submit_statement(
    call: ServerRequest, on_end: Callable[[Document], None] = lambda _: None
) -> tuple[StatementRequest, Execution]:
    """Queue the statement of a request; `on_end` receives its document when it has ended."""
    request = StatementRequest.of(call)
    return request, submit(call, request, on_end)


def submit(
    call: ServerRequest, request: StatementRequest, on_end: Callable[[Document], None] = lambda _: None
) -> Execution:
    """Queue a statement and keep it in the history of queries under the key of its execution."""
    store, statement_id = call.store, str(uuid.uuid4())
    text = request.order.statement if request.query_text is None else request.query_text
    operation = parse_volume_operation(request.order.statement)
    document = {
        "statement_id": statement_id,
        "status": {"state": "PENDING"},
        "user": call.caller,
        "warehouse_id": request.warehouse_id,
        "query_text": text[:HISTORY_CHARACTERS],
        "disposition": request.order.disposition,
        "query_start_time_ms": now(),
        "is_volume_operation": operation is not None,
    }
    store.put("statement", statement_id, document, parent=call.caller, active=True)
    wake_warehouse(call, request.warehouse_id)

    def started() -> None:
        store.change("statement", statement_id, _begin, retry=True)

    def ended(result: ExecutionResult) -> None:
        changed = store.change(
            "statement", statement_id, lambda body: _end(body, result), active=False, retry=True
        )
        if changed is not None:
            on_end(changed)

    order = request.order
    if operation is not None:
        try:
            operation.check(call)
        except ApiError as error:
            execution = Execution(statement_id, {}, on_start=started, on_end=ended)
            execution.end(ExecutionResult(error=str(error), error_code=error.code))
            return execution
        order = replace(order, statement=operation.statement(call))
    warehouse = call.context.warehouse
    warehouse.results.remove_expired()
    return warehouse.submit(statement_id, order, on_start=started, on_end=ended)


def _begin(body: Document) -> None:
    body["status"] = {"state": "RUNNING"}
    body["execution_start_time_ms"] = now()


def _end(body: Document, result: ExecutionResult) -> None:
    body["query_end_time_ms"] = now()
    if result.canceled:
        body["status"] = {"state": "CANCELED"}
    elif result.error is not None:
        error = {"error_code": result.error_code, "message": result.error}
        body["status"] = {"state": "FAILED", "error": error}
        if result.sql_state:
            body["status"]["sql_state"] = result.sql_state
    else:
        assert result.manifest is not None, "a statement that succeeds has a result"
        body["status"] = {"state": "SUCCEEDED"}
        body["manifest"] = result.manifest
        body["rows_produced"] = result.manifest["total_row_count"]


def stored_statement(call: ServerRequest, statement_id: str) -> Document:
    """Return the statement's document; only its user finds it."""
    found = call.store.get("statement", statement_id)
    if found is None or found["user"] != call.caller:
        raise missing(f"The statement {statement_id}")
    ended = found.get("query_end_time_ms", 0)
    if found["status"]["state"] == "SUCCEEDED" and now() - ended > RESULT_SECONDS * 1000:
        found["status"] = {"state": "CLOSED"}
    return found


def _statement(call: ServerRequest, statement_id: str) -> Document:
    found = stored_statement(call, statement_id)
    shown = {"statement_id": statement_id, "status": found["status"]}
    if found["status"]["state"] == "SUCCEEDED":
        shown["manifest"] = _manifest(found)
        shown["result"] = _result(call, found, 0)
    return shown


def _manifest(found: Document) -> Document:
    manifest: Document = found["manifest"]
    if found.get("is_volume_operation"):
        manifest["is_volume_operation"] = True
    if found["disposition"] == "INLINE":
        manifest.pop("total_byte_count")
        for chunk in manifest["chunks"]:
            chunk.pop("byte_count")
    return manifest


def _result(call: ServerRequest, found: Document, index: int) -> Document:
    """Return the `result` of a statement: one chunk."""
    chunk = dict(found["manifest"]["chunks"][index])
    if index + 1 < found["manifest"]["total_chunk_count"]:
        link = f"/api/2.0/sql/statements/{found['statement_id']}/result/chunks/{index + 1}"
        chunk |= {"next_chunk_index": index + 1, "next_chunk_internal_link": link}
    if found["disposition"] == "EXTERNAL_LINKS":
        links = call.context.result_links.link(call.host, f"{found['statement_id']}/{index}")
        return {"external_links": [{**chunk, **links}]}
    chunk.pop("byte_count", None)
    file = chunk_file(call.context.warehouse.results.of(found["statement_id"]), "JSON_ARRAY", index)
    try:
        return {**chunk, "data_array": orjson.Fragment(file.read_bytes())}
    except FileNotFoundError:
        raise missing(f"The result of the statement {found['statement_id']}") from None


def read_rows(call: ServerRequest, statement: Document) -> list[list[str | None]]:
    """Return all rows of a statement that has succeeded. Raises OSError where they have expired."""
    folder = call.context.warehouse.results.of(statement["statement_id"])
    indexes = range(statement["manifest"]["total_chunk_count"])
    chunks = [orjson.loads(chunk_file(folder, "JSON_ARRAY", index).read_bytes()) for index in indexes]
    return [row for chunk in chunks for row in chunk]


ROUTES = (
    Route("POST", "/api/2.0/sql/statements", execute),
    Route("GET", "/api/2.0/sql/statements/{}", get),
    Route("DELETE", "/api/2.0/sql/statements/{}", close),
    Route("GET", "/api/2.0/sql/statements/{}/result/chunks/{}", result_chunk),
    Route("POST", "/api/2.0/sql/statements/{}/cancel", cancel),
    Route("GET", f"{RESULTS_PATH}{{}}/{{}}", download_chunk),
)
