"""The methods of TCLIService: sessions, statements, metadata, results.

An operation is a statement of the warehouse: its state is that of the statement's document, which the REST
API and the history of queries show, too. A method raises `Refused` for an answer with another status.
"""

from __future__ import annotations

import importlib.metadata
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

from anyio import to_thread

from lakeward.databricks_shims.local_workspace import ApiError
from lakeward.workspace.api.sql_sessions import SessionFailure, start_session
from lakeward.workspace.api.statements import StatementRequest, refuse_too_long, stored_statement, submit
from lakeward.workspace.context import ServerRequest
from lakeward.workspace.state.store import Document
from lakeward.workspace.thrift.constants import (
    PROTOCOL_VERSION,
    FetchOrientation,
    InfoType,
    OperationState,
    RowSetType,
    StatusCode,
)
from lakeward.workspace.thrift.messages import STRUCTS
from lakeward.workspace.thrift.metadata import METADATA
from lakeward.workspace.thrift.parameters import statement_parameters
from lakeward.workspace.thrift.row_sets import arrow_rows, arrow_schema, column_rows, table_schema
from lakeward.workspace.warehouse.client_sessions import ClientSession, Operation
from lakeward.workspace.warehouse.execution import StatementOrder
from lakeward.workspace.warehouse.result_columns import TEXT_TYPES
from lakeward.workspace.warehouse.statement_results import read_batches, result_schema

# How long a request waits for the end of a statement; clients request the state again at once.
_DIRECT_RESULT_SECONDS = 5.0
_STATUS_SECONDS = 1.0
_CANCEL_SECONDS = 5.0
_MOST_ROWS, _MOST_BYTES = 100_000, 2**26
_EXECUTE_STATEMENT = 0
_NAME_LENGTH = 255
_STATES = {
    "PENDING": OperationState.PENDING,
    "RUNNING": OperationState.RUNNING,
    "SUCCEEDED": OperationState.FINISHED,
    "FAILED": OperationState.ERROR,
    "CANCELED": OperationState.CANCELED,
    "CLOSED": OperationState.CLOSED,
}
_ARROW_FLAGS = {
    "timestampAsArrow": "timestamp",
    "decimalAsArrow": "decimal",
    "complexTypesAsArrow": "nested",
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


async def open_session(call: ServerRequest, request: Any, warehouse_id: str) -> Any:
    """Open a session in the initial namespace, with the configuration of the request."""
    namespace = request.initialNamespace
    try:
        session = await start_session(
            call,
            warehouse_id,
            catalog=namespace.catalogName if namespace else None,
            schema=namespace.schemaName if namespace else None,
            configuration=request.configuration or {},
        )
    except SessionFailure as failure:
        raise Refused(str(failure), sql_state=failure.sql_state) from None
    return STRUCTS["TOpenSessionResp"](
        status=status(),
        serverProtocolVersion=PROTOCOL_VERSION,
        sessionHandle=STRUCTS["TSessionHandle"](
            sessionId=_identifier(session.key), serverProtocolVersion=PROTOCOL_VERSION
        ),
        configuration={},
        initialNamespace=namespace,
        canUseMultipleCatalogs=True,
    )


async def close_session(call: ServerRequest, request: Any) -> Any:
    """Close a session, and cancel its statements."""
    session = _session(call, request.sessionHandle)
    await to_thread.run_sync(call.context.sessions.close, session)
    return STRUCTS["TCloseSessionResp"](status=status())


async def get_info(call: ServerRequest, request: Any) -> Any:
    """Describe the server."""
    _session(call, request.sessionHandle)
    value = STRUCTS["TGetInfoValue"]
    texts = {
        InfoType.SERVER_NAME: "Spark SQL",
        InfoType.DBMS_NAME: "Spark SQL",
        InfoType.DBMS_VER: importlib.metadata.version("pyspark"),
    }
    lengths = (
        InfoType.MAX_COLUMN_NAME_LEN,
        InfoType.MAX_SCHEMA_NAME_LEN,
        InfoType.MAX_CATALOG_NAME_LEN,
        InfoType.MAX_TABLE_NAME_LEN,
    )
    if request.infoType in texts:
        found = value(stringValue=texts[InfoType(request.infoType)])
    elif request.infoType in lengths:
        found = value(lenValue=_NAME_LENGTH)
    else:
        raise Refused(f"Unrecognized GetInfoType value: {request.infoType}", sql_state="HYC00")
    return STRUCTS["TGetInfoResp"](status=status(), infoValue=found)


async def execute_statement(call: ServerRequest, request: Any) -> Any:
    """Start a statement, and wait for it if the client wants its result in the answer."""
    session = _session(call, request.sessionHandle)
    statement = request.statement or ""
    refuse_too_long(statement)
    arrow = bool(request.canReadArrowResult)
    order = replace(
        _order(session, statement, arrow, request.useArrowNativeTypes),
        parameters=statement_parameters(request.parameters or ()),
        row_limit=request.resultRowLimit or None,
    )
    operation = await _start(call, session, order, _EXECUTE_STATEMENT, arrow=arrow)
    return await _started(call, session, operation, request.getDirectResults)


async def get_metadata(call: ServerRequest, request: Any, method: str) -> Any:
    """Start the statement of a metadata request."""
    session = _session(call, request.sessionHandle)
    title, kind, make = METADATA[method]
    # These requests have no flag for Arrow: drivers read columns.
    order = _order(session, make(request), False, None)
    operation = await _start(call, session, order, kind, arrow=False, title=title)
    return await _started(call, session, operation, request.getDirectResults)


def _order(session: ClientSession, statement: str, arrow: bool, types: Any) -> StatementOrder:
    """Return the order of a statement whose result is written in Arrow."""
    if arrow:
        text_types = [name for flag, name in _ARROW_FLAGS.items() if types and not getattr(types, flag)]
    else:
        text_types = list(TEXT_TYPES)
    return StatementOrder(
        statement,
        session=session.key,
        disposition="EXTERNAL_LINKS",
        format="ARROW_STREAM",
        text_types=text_types,
        native_intervals=bool(arrow and types and types.intervalTypesAsArrow),
    )


async def _start(
    call: ServerRequest,
    session: ClientSession,
    order: StatementOrder,
    kind: int,
    *,
    arrow: bool,
    title: str | None = None,
) -> Operation:
    request = StatementRequest(order, 0.0, False, session.warehouse_id, title)
    execution = await to_thread.run_sync(submit, call, request)
    operation = Operation(execution, kind, arrow)
    call.context.sessions.add_operation(session, operation)
    return operation


async def _started(call: ServerRequest, session: ClientSession, operation: Operation, direct: Any) -> Any:
    """Return the answer to a request that has started an operation."""
    results = None
    if direct is not None:
        await operation.execution.wait(_DIRECT_RESULT_SECONDS)
        results = await to_thread.run_sync(_direct_results, call, session, operation, direct)
    return STRUCTS["TExecuteStatementResp"](
        status=status(), operationHandle=_operation_handle(operation), directResults=results
    )


def _direct_results(call: ServerRequest, session: ClientSession, operation: Operation, limits: Any) -> Any:
    """Return state, schema and first rows; an operation without more rows is closed."""
    found = stored_statement(call, operation.key)
    state = _status_response(call, found)
    results = STRUCTS["TSparkDirectResults"](operationStatus=state)
    if state.operationState == OperationState.FINISHED:
        results.resultSetMetadata = _metadata_response(call, operation, found)
        results.resultSet = _fetch(call, operation, found, limits.maxRows, limits.maxBytes)
        if not results.resultSet.hasMoreRows:
            call.context.sessions.close_operation(session, operation)
            results.closeOperation = STRUCTS["TCloseOperationResp"](status=status())
    return results


async def get_operation_status(call: ServerRequest, request: Any) -> Any:
    """Return the state of an operation; waits a moment for the end of one that is running."""
    _, operation = _operation(call, request.operationHandle)
    await operation.execution.wait(_STATUS_SECONDS)
    return await to_thread.run_sync(lambda: _status_response(call, stored_statement(call, operation.key)))


async def get_result_set_metadata(call: ServerRequest, request: Any) -> Any:
    """Return the schema of the result."""
    _, operation = _operation(call, request.operationHandle)
    return await to_thread.run_sync(
        lambda: _metadata_response(call, operation, _finished(call, operation.key))
    )


async def fetch_results(call: ServerRequest, request: Any) -> Any:
    """Return the next rows."""
    _, operation = _operation(call, request.operationHandle)
    if request.orientation not in (None, *FetchOrientation):
        raise Refused(
            f"The fetch type {request.orientation} is not supported for this resultset", sql_state="HY106"
        )

    def fetch() -> Any:
        found = _finished(call, operation.key)
        if request.orientation == FetchOrientation.FIRST:
            operation.position = 0
        response = _fetch(call, operation, found, request.maxRows, request.maxBytes)
        if request.includeResultSetMetadata:
            response.resultSetMetadata = _metadata_response(call, operation, found)
        return response

    return await to_thread.run_sync(fetch)


async def cancel_operation(call: ServerRequest, request: Any) -> Any:
    """Cancel an operation; one that has ended is not affected."""
    _, operation = _operation(call, request.operationHandle)
    await to_thread.run_sync(call.context.warehouse.cancel, operation.key)
    await operation.execution.wait(_CANCEL_SECONDS)
    return STRUCTS["TCancelOperationResp"](status=status())


async def close_operation(call: ServerRequest, request: Any) -> Any:
    """Close an operation and remove its result."""
    session, operation = _operation(call, request.operationHandle)
    await to_thread.run_sync(call.context.sessions.close_operation, session, operation)
    return STRUCTS["TCloseOperationResp"](status=status())


def _identifier(key: str) -> Any:
    return STRUCTS["THandleIdentifier"](guid=uuid.UUID(key).bytes, secret=uuid.UUID(key).bytes)


def _operation_handle(operation: Operation) -> Any:
    return STRUCTS["TOperationHandle"](
        operationId=_identifier(operation.key), operationType=operation.kind, hasResultSet=True
    )


def _key(identifier: Any) -> str:
    """Return the id in a handle; an invalid handle has an id that nothing has."""
    try:
        return str(uuid.UUID(bytes=identifier.guid))
    except (AttributeError, TypeError, ValueError):
        return ""


def _session(call: ServerRequest, handle: Any) -> ClientSession:
    key = _key(handle.sessionId if handle else None)
    found = call.context.sessions.find(key, call.caller)
    if found is None:
        raise Refused(f"Invalid SessionHandle: SessionHandle [{key}]", StatusCode.INVALID_HANDLE)
    return found


def _operation(call: ServerRequest, handle: Any) -> tuple[ClientSession, Operation]:
    key = _key(handle.operationId if handle else None)
    found = call.context.sessions.find_operation(key, call.caller)
    if found is None:
        raise Refused(f"Invalid OperationHandle: OperationHandle [{key}]", StatusCode.INVALID_HANDLE)
    return found


def _finished(call: ServerRequest, key: str) -> Document:
    """Return the document of a statement that has succeeded. Raises Refused for any other."""
    found = stored_statement(call, key)
    state = found["status"]["state"]
    if state == "FAILED":
        raise Refused(found["status"]["error"]["message"], sql_state=found["status"].get("sql_state"))
    if state != "SUCCEEDED":
        message = f"Expected state FINISHED, but found {_STATES[state].name}"
        raise Refused(message, sql_state="HY010")
    return found


def _status_response(call: ServerRequest, found: Document) -> Any:
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


def _metadata_response(call: ServerRequest, operation: Operation, found: Document) -> Any:
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


def _fetch(
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


def _available(read: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    """Read a result. Raises Refused for one that has expired."""
    try:
        return read(*arguments, **named)
    except FileNotFoundError:
        raise Refused("The result of the statement has expired.", StatusCode.INVALID_HANDLE) from None


_METHODS: dict[str, tuple[Callable[[ServerRequest, Any], Awaitable[Any]], str]] = {
    "CloseSession": (close_session, "TCloseSessionResp"),
    "GetInfo": (get_info, "TGetInfoResp"),
    "ExecuteStatement": (execute_statement, "TExecuteStatementResp"),
    "GetOperationStatus": (get_operation_status, "TGetOperationStatusResp"),
    "GetResultSetMetadata": (get_result_set_metadata, "TGetResultSetMetadataResp"),
    "FetchResults": (fetch_results, "TFetchResultsResp"),
    "CancelOperation": (cancel_operation, "TCancelOperationResp"),
    "CloseOperation": (close_operation, "TCloseOperationResp"),
}


async def answer(call: ServerRequest, method: str, request: Any, warehouse_id: str) -> Any:
    """Return the response of a method, None for an unknown method."""
    try:
        if method == "OpenSession":
            response = "TOpenSessionResp"
            return await open_session(call, request, warehouse_id)
        if method in METADATA:
            response = "TExecuteStatementResp"
            return await get_metadata(call, request, method)
        if method not in _METHODS:
            return None
        handler, response = _METHODS[method]
        return await handler(call, request)
    except Refused as failure:
        return STRUCTS[response](status=status(failure))
    except ApiError as failure:
        return STRUCTS[response](status=status(Refused(str(failure))))
