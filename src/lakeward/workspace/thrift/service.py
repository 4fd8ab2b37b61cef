"""The methods of TCLIService: sessions, statements, metadata, results.

An operation is a statement of the warehouse: its state is that of the statement's document, which the REST
API and the history of queries show, too. A method raises `Refused` for an answer with another status.
"""

from __future__ import annotations

import importlib.metadata
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from typing import Any

from anyio import to_thread

from lakeward.databricks_shims.local_workspace import ApiError
from lakeward.workspace.api.sql_sessions import SessionFailure, start_session
from lakeward.workspace.api.statement_requests import StatementRequest, refuse_too_long
from lakeward.workspace.api.statements import stored_statement, submit
from lakeward.workspace.context import ServerRequest
from lakeward.workspace.state.store import Document
from lakeward.workspace.thrift.constants import (
    PROTOCOL_VERSION,
    FetchOrientation,
    InfoType,
    OperationState,
    StatusCode,
)
from lakeward.workspace.thrift.messages import STRUCTS
from lakeward.workspace.thrift.metadata import METADATA
from lakeward.workspace.thrift.operation_responses import (
    Refused,
    finished_statement,
    metadata_response,
    rows_response,
    status,
    status_response,
)
from lakeward.workspace.thrift.parameters import statement_parameters
from lakeward.workspace.warehouse.client_sessions import ClientSession, Operation
from lakeward.workspace.warehouse.execution import StatementOrder
from lakeward.workspace.warehouse.result_columns import TEXT_TYPES

# How long a request waits for the end of a statement; clients request the state again at once.
_DIRECT_RESULT_SECONDS = 5.0
_STATUS_SECONDS = 1.0
_CANCEL_SECONDS = 5.0
_EXECUTE_STATEMENT = 0
_NAME_LENGTH = 255
_ARROW_FLAGS = {
    "timestampAsArrow": "timestamp",
    "decimalAsArrow": "decimal",
    "complexTypesAsArrow": "nested",
}


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


async def _started(call: ServerRequest, session: ClientSession, operation: Operation, direct: object) -> Any:
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
    state = status_response(call, found)
    results = STRUCTS["TSparkDirectResults"](operationStatus=state)
    if state.operationState == OperationState.FINISHED:
        results.resultSetMetadata = metadata_response(call, operation, found)
        results.resultSet = rows_response(call, operation, found, limits.maxRows, limits.maxBytes)
        if not results.resultSet.hasMoreRows:
            call.context.sessions.close_operation(session, operation)
            results.closeOperation = STRUCTS["TCloseOperationResp"](status=status())
    return results


async def get_operation_status(call: ServerRequest, request: Any) -> Document:
    """Return the state of an operation; waits a moment for the end of one that is running."""
    _, operation = _operation(call, request.operationHandle)
    await operation.execution.wait(_STATUS_SECONDS)
    return await to_thread.run_sync(lambda: status_response(call, stored_statement(call, operation.key)))


async def get_result_set_metadata(call: ServerRequest, request: Any) -> Document:
    """Return the schema of the result."""
    _, operation = _operation(call, request.operationHandle)
    return await to_thread.run_sync(
        lambda: metadata_response(call, operation, finished_statement(call, operation.key))
    )


async def fetch_results(call: ServerRequest, request: Any) -> Any:
    """Return the next rows."""
    _, operation = _operation(call, request.operationHandle)
    if request.orientation not in (None, *FetchOrientation):
        raise Refused(
            f"The fetch type {request.orientation} is not supported for this resultset", sql_state="HY106"
        )

    def fetch() -> Any:
        found = finished_statement(call, operation.key)
        if request.orientation == FetchOrientation.FIRST:
            operation.position = 0
        response = rows_response(call, operation, found, request.maxRows, request.maxBytes)
        if request.includeResultSetMetadata:
            response.resultSetMetadata = metadata_response(call, operation, found)
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


_Handler = Callable[[ServerRequest, Any], Awaitable[Any]]
_METHODS: dict[str, _Handler] = {
    "CloseSession": close_session,
    "GetInfo": get_info,
    "ExecuteStatement": execute_statement,
    "GetOperationStatus": get_operation_status,
    "GetResultSetMetadata": get_result_set_metadata,
    "FetchResults": fetch_results,
    "CancelOperation": cancel_operation,
    "CloseOperation": close_operation,
}


async def answer(call: ServerRequest, method: str, request: object, warehouse_id: str) -> Any:
    """Return the response of a method, None for an unknown method."""
    handlers: dict[str, _Handler] = {
        **_METHODS,
        **{name: partial(get_metadata, method=name) for name in METADATA},
        "OpenSession": partial(open_session, warehouse_id=warehouse_id),
    }
    if method not in handlers:
        return None
    try:
        return await handlers[method](call, request)
    except (Refused, ApiError) as error:
        failure = error if isinstance(error, Refused) else Refused(str(error))
        # A metadata request is answered as its statement.
        response = STRUCTS[f"T{'ExecuteStatement' if method in METADATA else method}Resp"]
        return response(status=status(failure))
