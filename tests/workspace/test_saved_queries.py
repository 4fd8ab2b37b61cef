"""Saved queries: created, listed, changed and removed by the SDK, and run by the SQL tasks of jobs."""

from __future__ import annotations

from typing import Any

import pytest

from tests.workspace.server import Server

sdk = pytest.importorskip("databricks.sdk")

CLIENT = "sdk/queries"
_TEXT = "SELECT 40 + 2 AS answer; SELECT current_schema() AS s, :who AS who"


def _made(client: Any, **fields: Any) -> Any:
    from databricks.sdk.service.sql import CreateQueryRequestQuery

    return client.queries.create(query=CreateQueryRequestQuery(query_text=_TEXT, **fields))


def test_a_query_is_created_read_changed_and_removed(client: Any) -> None:
    from databricks.sdk.service.sql import CreateQueryRequestQuery, UpdateQueryRequestQuery

    made = _made(client, display_name="daily", tags=["a"], warehouse_id="w")
    assert client.queries.get(made.id) == made
    assert (made.owner_user_name, made.lifecycle_state.value) == (
        client.current_user.me().user_name,
        "ACTIVE",
    )
    assert made.id in [each.id for each in client.queries.list()]
    with pytest.raises(sdk.errors.DatabricksError, match="already exists"):
        _made(client, display_name="daily")
    other = client.queries.create(
        query=CreateQueryRequestQuery(display_name="daily"), auto_resolve_display_name=True
    )
    assert other.display_name == "daily (1)"
    change = UpdateQueryRequestQuery(description="new", query_text="SELECT 1")
    changed = client.queries.update(made.id, "description", query=change)
    assert (changed.description, changed.query_text) == ("new", _TEXT)
    assert client.queries.update(made.id, "*", query=change).tags is None
    with pytest.raises(sdk.errors.InvalidParameterValue, match="update_mask"):
        client.queries.update(made.id, "owner", query=change)
    client.queries.delete(made.id)
    assert client.queries.get(made.id).lifecycle_state.value == "TRASHED"
    assert made.id not in [each.id for each in client.queries.list()]
    with pytest.raises(sdk.errors.NotFound):
        client.queries.delete(made.id)
    with pytest.raises(sdk.errors.NotFound):
        client.queries.get("absent")
    assert _made(client, display_name="daily").display_name == "daily"


@pytest.mark.slow
@pytest.mark.process
def test_a_sql_task_runs_a_saved_query_in_its_schema(client: Any, server: Server) -> None:
    query = _made(client, display_name="of a task", catalog="main", schema="default")
    task = {"query": {"query_id": query.id}, "warehouse_id": "w", "parameters": {"who": "ada"}}
    body = {"name": "q", "tasks": [{"task_key": "a", "sql_task": task}]}
    job = server.post("/api/2.2/jobs/create", body)["job_id"]
    run = server.ended(server.run_now(job), 240)
    assert run["state"]["result_state"] == "SUCCESS", run["state"]
    log = server.log_of(run)
    assert '{"answer":42}' in log
    assert '{"s":"default","who":"ada"}' in log
    client.queries.delete(query.id)
    failed = server.ended(server.run_now(job), 240)
    assert failed["state"]["result_state"] == "FAILED"
