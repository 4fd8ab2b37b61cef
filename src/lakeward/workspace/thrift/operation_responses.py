"""Responses of an operation: its state, the schema of its result, its rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lakeward.workspace.api.statements import stored_statement
from lakeward.workspace.context import ServerRequest
from lakeward.workspace.state.store import Document
from lakeward.workspace.thrift.constants import OperationState, RowSetType, StatusCode
from lakeward.workspace.thrift.messages import STRUCTS
from lakeward.workspace.thrift.row_sets import arrow_rows, arrow_schema, column_rows, table_schema
from lakeward.workspace.warehouse.client_sessions import Operation
from lakeward.workspace.warehouse.statement_results import read_batches, result_schema

_MOST_ROWS, _MOST_BYTES = 100_000, 2**26
_STATES = {
    "PENDING": OperationState.PENDING,
    "RUNNING": OperationState.RUNNING,
    "SUCCEEDED": OperationState.FINISHED,
    "FAILED": OperationState.ERROR,
    "CANCELED": OperationState.CANCELED,
    "CLOSED": OperationState.CLOSED,
}


class Refused(Exception):
    """An answer with a status that is not SUCCESS."""

    def __init__(
        self, message: str, code: StatusCode = StatusCode.ERROR, sql_state: str | None = None
    ) -> None:
        super().__init__(message)
        self.code, self.sql_state = code, sql_state


def status(failure: Refused | None = None) -> Any:
    """Return the status of an answer."""
    if failure is None:
        return STRUCTS["TStatus"](statusCode=StatusCode.SUCCESS)
    message = str(failure)
    return STRUCTS["TStatus"](
        statusCode=failure.code,
        sqlState=failure.sql_state,
        errorCode=0,
        errorMessage=message,
        displayMessage=message,
    )


def finished_statement(call: ServerRequest, key: str) -> Document:
    """Return the document of a statement that has succeeded. Raises Refused for any other."""
    found = stored_statement(call, key)
    state = found["status"]["state"]
    if state == "FAILED":
        raise Refused(found["status"]["error"]["message"], sql_state=found["status"].get("sql_state"))
    if state != "SUCCEEDED":
        message = f"Expected state FINISHED, but found {_STATES[state].name}"
        raise Refused(message, sql_state="HY010")
    return found


def status_response(call: ServerRequest, found: Document) -> Any:
    """Return the state of an operation, with its error or the number of changed rows."""
    state = _STATES[found["status"]["state"]]
    response = STRUCTS["TGetOperationStatusResp"](
        status=status(),
        operationState=state,
        operationStarted=found["query_start_time_ms"],
        operationCompleted=found.get("query_end_time_ms"),
        hasResultSet=True,
    )
    if state == OperationState.FINISHED:
        response.numModifiedRows = _affected_rows(call, found)
    if state == OperationState.ERROR:
        message = found["status"]["error"]["message"]
        response.sqlState = found["status"].get("sql_state")
        response.errorCode = 0
        response.errorMessage = response.displayMessage = response.diagnosticInfo = message
    return response


def _affected_rows(call: ServerRequest, found: Document) -> int | None:
    """Return the number of rows that a DML statement has changed, None for other statements."""
    manifest = found["manifest"]
    columns = manifest["schema"]["columns"]
    if not columns or columns[0]["name"] != "num_affected_rows" or manifest["total_row_count"] != 1:
        return None
    folder = call.context.warehouse.results.of(found["statement_id"])
    try:
        batches = read_batches(folder, manifest, 0, most_rows=1, most_bytes=_MOST_BYTES)
    except FileNotFoundError:
        return None
    number: int = batches[0].column(0)[0].as_py()
    return number


def metadata_response(call: ServerRequest, operation: Operation, found: Document) -> Any:
    """Return the schema of a result."""
    columns = found["manifest"]["schema"]["columns"]
    response = STRUCTS["TGetResultSetMetadataResp"](
        status=status(),
        schema=table_schema(columns),
        resultFormat=RowSetType.ARROW_BASED_SET if operation.arrow else RowSetType.COLUMN_BASED_SET,
        lz4Compressed=False,
        isStagingOperation=found.get("is_volume_operation", False),
    )
    if operation.arrow:
        folder = call.context.warehouse.results.of(operation.key)
        response.arrowSchema = arrow_schema(_available(result_schema, folder), columns)
    return response


def rows_response(
    call: ServerRequest, operation: Operation, found: Document, rows: int | None, size: int | None
) -> Any:
    """Return the rows from the operation's position on, and advance it."""
    folder, manifest = call.context.warehouse.results.of(operation.key), found["manifest"]
    with operation.lock:
        start = operation.position
        batches = _available(
            read_batches,
            folder,
            manifest,
            start,
            most_rows=rows if rows and rows > 0 else _MOST_ROWS,
            most_bytes=size if size and size > 0 else _MOST_BYTES,
        )
        operation.position += sum(batch.num_rows for batch in batches)
        more = operation.position < manifest["total_row_count"]
    if operation.arrow:
        written = arrow_rows(batches, start)
    else:
        written = column_rows(_available(result_schema, folder), batches, start)
    return STRUCTS["TFetchResultsResp"](status=status(), hasMoreRows=more, results=written)


def _available(read: Callable[..., Any], *arguments: object, **named: object) -> Any:
    """Read a result. Raises Refused for one that has expired."""
    try:
        return read(*arguments, **named)
    except FileNotFoundError:
        raise Refused("The result of the statement has expired.", StatusCode.INVALID_HANDLE) from None
