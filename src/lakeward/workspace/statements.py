"""SQL statement execution on the one local warehouse.

Source: https://docs.databricks.com/api/workspace/statementexecution
"""

from __future__ import annotations

import uuid
from typing import Any

from lakeward.standins.local_workspace import Failure, missing
from lakeward.workspace.call import ServerCall
from lakeward.workspace.store import Document
from lakeward.workspace.warehouse import WAREHOUSE_ID

__all__ = ["cancel", "execute", "get", "get_warehouse", "list_warehouses", "result_chunk"]

_LONGEST_WAIT = 50


def list_warehouses(call: ServerCall) -> Any:
    """The one that there is."""
    return {"warehouses": [_shown(call)]}


def get_warehouse(call: ServerCall) -> Any:
    """The local warehouse, whatever it is called."""
    if call.at != WAREHOUSE_ID:
        raise missing(f"SQL warehouse {call.at}")
    return _shown(call)


def execute(call: ServerCall) -> Any:
    """Run a statement and wait for it as long as asked; afterwards it goes on."""
    statement, warehouse = call.given("statement"), call.given("warehouse_id")
    if warehouse != WAREHOUSE_ID:
        raise missing(f"SQL warehouse {warehouse}")
    disposition = call.body.get("disposition") or "INLINE"
    layout = call.body.get("format") or "JSON_ARRAY"
    if (disposition, layout) != ("INLINE", "JSON_ARRAY"):
        message = f"Results are given INLINE as JSON_ARRAY here, not {disposition} as {layout}."
        raise Failure(501, "NOT_IMPLEMENTED", message)
    wait = _seconds(str(call.body.get("wait_timeout") or "10s"))
    statement_id = str(uuid.uuid4())
    order = {
        "statement": statement,
        "catalog": call.body.get("catalog"),
        "schema": call.body.get("schema"),
        "parameters": call.body.get("parameters") or [],
        "row_limit": call.body.get("row_limit"),
    }
    pending = _pending(statement_id, call.asker)
    call.store.put("statement", statement_id, pending, parent=call.asker, active=True)

    def ended(answer: Document) -> None:
        call.store.change("statement", statement_id, lambda body: _fill(body, answer), active=False)

    done = call.office.warehouse.run(statement_id, order, ended)
    if not done.wait(wait) and call.body.get("on_wait_timeout") == "CANCEL":
        call.office.warehouse.cancel(statement_id)
        done.wait(5)
    return _statement(call, statement_id)


def get(call: ServerCall) -> Any:
    """A statement as it stands."""
    return _statement(call, call.at)


def result_chunk(call: ServerCall) -> Any:
    """A part of the result: there is one."""
    statement_id, _, index = call.at.partition("/")
    found = _statement(call, statement_id)
    if index != "0" or "result" not in found:
        raise missing(f"Chunk {index} of the statement {statement_id}")
    return found["result"]


def cancel(call: ServerCall) -> None:
    """Ask a statement to stop."""
    _statement(call, call.at)
    call.office.warehouse.cancel(call.at)


def _statement(call: ServerCall, statement_id: str) -> Document:
    found = call.store.get("statement", statement_id)
    # Whoever ran it is the only one who sees its rows.
    if found is None or found.pop("user", call.asker) != call.asker:
        raise missing(f"The statement {statement_id}")
    return found


def _pending(statement_id: str, user: str) -> Document:
    return {"statement_id": statement_id, "status": {"state": "PENDING"}, "user": user}


def _fill(body: Document, answer: Document) -> None:
    if "error" in answer:
        state = "CANCELED" if answer.get("canceled") else "FAILED"
        body["status"] = {"state": state}
        if state == "FAILED":
            body["status"]["error"] = {"error_code": "BAD_REQUEST", "message": answer["error"]}
            if answer.get("sql_state"):
                body["status"]["sql_state"] = answer["sql_state"]
        return
    rows = answer["rows"]
    body["status"] = {"state": "SUCCEEDED"}
    body["manifest"] = {
        "format": "JSON_ARRAY",
        "schema": {"column_count": len(answer["columns"]), "columns": answer["columns"]},
        "total_chunk_count": 1,
        "total_row_count": len(rows),
        "truncated": answer["truncated"],
        "chunks": [{"chunk_index": 0, "row_offset": 0, "row_count": len(rows)}],
    }
    body["result"] = {"chunk_index": 0, "row_offset": 0, "row_count": len(rows), "data_array": rows}


def _shown(call: ServerCall) -> Document:
    running = call.office.warehouse.is_running()
    return {
        "id": WAREHOUSE_ID,
        "name": "local",
        "state": "RUNNING" if running else "STOPPED",
        "cluster_size": "2X-Small",
        "warehouse_type": "PRO",
        "enable_serverless_compute": False,
        "num_clusters": int(running),
        "creator_name": call.owner,
        "jdbc_url": "",
    }


def _seconds(text: str) -> float:
    number = text.removesuffix("s")
    if not number.isdecimal() or not (int(number) == 0 or 5 <= int(number) <= _LONGEST_WAIT):
        message = f"wait_timeout is 0s, or from 5s to {_LONGEST_WAIT}s, not {text}."
        raise Failure(400, "INVALID_PARAMETER_VALUE", message)
    return float(number)
