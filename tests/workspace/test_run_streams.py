"""Streaming queries of a notebook task in the workspace: shown, stopped and restarted as its page does it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.workspace.server import Server, until

pytestmark = [pytest.mark.slow, pytest.mark.process]

STREAMS = "/api/2.0/lakeward/streams"

NOTEBOOK = """# Databricks notebook source
spark.sql("CREATE OR REPLACE TABLE main.default.clicks AS SELECT id FROM range(3)")

# COMMAND ----------

display(spark.readStream.table("main.default.clicks"))

# COMMAND ----------

copy = (
    spark.readStream.table("main.default.clicks")
    .writeStream.queryName("copy")
    .option("checkpointLocation", "/tmp/checkpoints/copy")
    .toTable("main.default.copied")
)

# COMMAND ----------

from pathlib import Path

added = Path("/Workspace/added")
while not added.exists():
    copy.awaitTermination(1)
spark.sql("INSERT INTO main.default.clicks SELECT id FROM range(3, 10)")
copy.awaitTermination()

# COMMAND ----------

dbutils.notebook.exit(str(spark.table("main.default.copied").count()))
"""


def rows(query: dict[str, Any]) -> int:
    return sum(each["rows"] for each in query["batches"])


def test_a_page_stops_and_restarts_the_queries_of_a_notebook(server: Server) -> None:
    path = server.file("/Workspace/Users/ada/live.py", NOTEBOOK).removesuffix(".py")
    # Serverless compute has no streams without an end.
    cluster = {"spark_version": "17.3.x-scala2.13", "num_workers": 1, "node_type_id": "local"}
    task = {"task_key": "only", "notebook_task": {"notebook_path": path}, "new_cluster": cluster}
    run = server.post("/api/2.2/jobs/runs/submit", {"tasks": [task]})["run_id"]
    task_run = server.run(run)["tasks"][0]["run_id"]

    def shown(holds: Callable[[list[dict[str, Any]]], bool]) -> list[dict[str, Any]]:
        def look() -> Any:
            state = server.run(run)["state"]
            assert "result_state" not in state, (state, server.log_of(server.run(run)))
            found = server.get(STREAMS, run_id=task_run)["streams"]
            return found if found and holds(found) else None

        return list(until(look, 300))

    def change(query: int, action: str) -> None:
        server.post(STREAMS, {"run_id": str(task_run), "query": query, "action": action})

    def named(found: list[dict[str, Any]]) -> list[str]:
        return [each["name"] for each in found]

    found = shown(lambda each: len(each) == 2 and all(map(rows, each)))
    assert named(found)[1] == "copy"
    assert [(each["state"], rows(each)) for each in found] == [("RUNNING", 3)] * 2

    change(0, "stop")
    found = shown(lambda each: each[0]["state"] != "RUNNING")
    assert [each["state"] for each in found] == ["STOPPED", "RUNNING"]

    change(1, "restart")
    found = shown(lambda each: each[1]["state"] == "RUNNING")
    server.file("/Workspace/added", "")
    # The restarted query continues from its checkpoint: no row arrives twice.
    found = shown(lambda each: rows(each[1]) >= 10)
    assert rows(found[1]) == 10

    change(1, "stop")
    ended = server.ended(run, 120)
    assert ended["state"]["result_state"] == "SUCCESS", server.log_of(ended)
    output = server.get("/api/2.2/jobs/runs/get-output", run_id=task_run)
    assert output["notebook_output"]["result"] == "10"
    after = server.get(STREAMS, run_id=task_run)
    assert (after["active"], [each["state"] for each in after["streams"]]) == (False, ["STOPPED"] * 2)
    refused = server.answer("POST", STREAMS, {"run_id": str(task_run), "query": 1, "action": "stop"})
    assert (refused.status_code, refused.json()["error_code"]) == (400, "INVALID_STATE")
