"""History of SQL statements.

Source: https://docs.databricks.com/api/workspace/queryhistory
"""

from __future__ import annotations

from lakeward.databricks_shims.local_workspace import Route, invalid_parameter, paginate, paginate_query
from lakeward.workspace.api.permissions import is_admin
from lakeward.workspace.context import ServerRequest
from lakeward.workspace.state.store import Document

_STATES = {"SUCCEEDED": "FINISHED", "CLOSED": "FINISHED", "PENDING": "QUEUED"}
_MAX_RESULTS = 1_000


def list_queries(call: ServerRequest) -> Document:
    """List statements, newest first: all for administrators, otherwise the caller's."""
    parent = None if is_admin(call) else call.caller

    def newest(limit: int = -1, offset: int = 0) -> list[Document]:
        found = call.store.find("statement", parent=parent, newest_first=True, limit=limit, offset=offset)
        return [_to_json(each) for each in found]

    if any(name.startswith("filter_by") for name in call.query):
        answer = paginate(call, _filtered(call, newest()), "res", default=100, most=_MAX_RESULTS)
    else:
        # No more than the page: a workspace keeps the statements of a month.
        answer = paginate_query(call, newest, "res", default=100, most=_MAX_RESULTS)
    answer.pop("prev_page_token", None)
    return {**answer, "has_next_page": "next_page_token" in answer}


def _filtered(call: ServerRequest, found: list[Document]) -> list[Document]:
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
        raise invalid_parameter(f"{name} must be a number.")
    return int(value)


ROUTES = (Route("GET", "/api/2.0/sql/history/queries", list_queries),)
