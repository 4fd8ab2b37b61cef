"""History of SQL statements.

Source: https://docs.databricks.com/api/workspace/queryhistory
"""

from __future__ import annotations

from typing import Any

from lakeward.databricks_shims.local_workspace import ApiError, Route
from lakeward.workspace.api.permissions import is_admin
from lakeward.workspace.context import ServerRequest
from lakeward.workspace.state.store import Document

_STATES = {"SUCCEEDED": "FINISHED", "CLOSED": "FINISHED", "PENDING": "QUEUED"}
_MAX_RESULTS = 1_000


def list_queries(call: ServerRequest) -> Any:
    """List statements, newest first: all for administrators, otherwise the caller's."""
    parent = None if is_admin(call) else call.caller
    size = min(call.number("max_results", 100), _MAX_RESULTS) or 100
    token = call.query.get("page_token") or "0"
    if not token.isdecimal() or len(token) > 15:
        raise ApiError(400, "INVALID_PARAMETER_VALUE", f"Invalid page_token: {token[:50]!r}.")
    first = int(token)
    if any(name.startswith("filter_by") for name in call.query):
        found = _filtered(call, call.store.find("statement", parent=parent, newest_first=True))[first:]
    else:
        # No more than the page: a workspace keeps the statements of a month.
        page = call.store.find("statement", parent=parent, newest_first=True, limit=size + 1, offset=first)
        found = [_to_json(each) for each in page]
    answer: Document = {"res": found[:size], "has_next_page": len(found) > size}
    if answer["has_next_page"]:
        answer["next_page_token"] = str(first + size)
    return answer


def _filtered(call: ServerRequest, statements: list[Document]) -> list[Document]:
    found = [_to_json(each) for each in statements]
    begin = _number(call, "filter_by.query_start_time_range.start_time_ms")
    end = _number(call, "filter_by.query_start_time_range.end_time_ms")
    fields = {"statuses": "status", "warehouse_ids": "warehouse_id", "statement_ids": "query_id"}
    wanted = {name: call.query.get(f"filter_by.{name}") for name in fields}
    return [
        each
        for each in found
        if (begin is None or each["query_start_time_ms"] >= begin)
        and (end is None or each["query_start_time_ms"] <= end)
        and all(value is None or each[fields[name]] in value.split(",") for name, value in wanted.items())
    ]


def _to_json(statement: Document) -> Document:
    state = statement["status"]["state"]
    begin, end = statement.get("query_start_time_ms", 0), statement.get("query_end_time_ms")
    shown = {
        "query_id": statement["statement_id"],
        "status": _STATES.get(state, state),
        "query_text": statement.get("query_text", ""),
        "query_start_time_ms": begin,
        "execution_end_time_ms": end,
        "query_end_time_ms": end,
        "duration": max(0, end - begin) if end else None,
        "user_name": statement.get("user"),
        "executed_as_user_name": statement.get("user"),
        "warehouse_id": statement.get("warehouse_id"),
        "endpoint_id": statement.get("warehouse_id"),
        "rows_produced": statement.get("rows_produced"),
        "error_message": (statement["status"].get("error") or {}).get("message"),
        "is_final": end is not None,
    }
    return {name: value for name, value in shown.items() if value is not None}


def _number(call: ServerRequest, name: str) -> int | None:
    value = call.query.get(name)
    if value is None:
        return None
    if not value.isdecimal() or len(value) > 18:
        raise ApiError(400, "INVALID_PARAMETER_VALUE", f"{name} must be a number.")
    return int(value)


ROUTES = (Route("GET", "/api/2.0/sql/history/queries", list_queries),)
