"""What needs Spark: statements on the local warehouse, and a pipeline that really runs."""

from __future__ import annotations

from typing import Any

import pytest

from tests.workspace.server import USER, Server, until

sdk = pytest.importorskip("databricks.sdk")
from databricks.sdk.service.sql import StatementParameterListItem as Parameter  # noqa: E402

CLIENT = "spark"

pytestmark = [pytest.mark.slow, pytest.mark.process]

PIPELINE = """
from pyspark import pipelines as dp

@dp.table
@dp.expect("small", "id < 3")
def numbers():
    return spark.readStream.table("main.default.source")
"""


NOTEBOOK = """# Databricks notebook source
dbutils.notebook.exit(str(spark.range(6).count() * 7))
"""


CONF = """value = spark.conf.get("lake.key")
print(len(value), value)
"""


def execute(client: Any, statement: str, **options: Any) -> Any:
    (warehouse,) = client.warehouses.list()
    answer = client.statement_execution.execute_statement(
        statement, warehouse.id, wait_timeout="50s", **options
    )

    def over() -> Any:
        found = client.statement_execution.get_statement(answer.statement_id)
        return None if found.status.state.value in ("PENDING", "RUNNING") else found

    return until(over, 120)


def test_statements_and_a_pipeline_work_on_the_same_tables(client: Any, server: Server) -> None:
    made = execute(
        client, "CREATE TABLE source AS SELECT id, 'x' AS name, CAST(NULL AS DATE) AS day FROM range(4)"
    )
    assert made.status.state.value == "SUCCEEDED", made.status
    found = execute(
        client,
        "SELECT * FROM source WHERE id >= :least ORDER BY id",
        parameters=[Parameter("least", value="2", type="INT")],
    )
    assert found.result.data_array == [["2", "x", None], ["3", "x", None]]
    columns = [(each.name, each.type_name.value) for each in found.manifest.schema.columns]
    assert columns == [("id", "LONG"), ("name", "STRING"), ("day", "DATE")]
    chunk = client.statement_execution.get_statement_result_chunk_n(found.statement_id, 0)
    assert chunk.row_count == 2
    failed = execute(client, "SELECT * FROM nowhere")
    assert failed.status.state.value == "FAILED"
    assert "TABLE_OR_VIEW_NOT_FOUND" in failed.status.error.message
    cut = execute(client, "SELECT id FROM range(10)", row_limit=3)
    assert (cut.manifest.truncated, len(cut.result.data_array)) == (True, 3)
    client.secrets.create_scope("sql")
    client.secrets.put_secret("sql", "key", string_value="seven77")
    assert execute(client, "SELECT length(secret('sql', 'key'))").result.data_array == [["7"]]

    queries = client.query_history.list(max_results=100).res
    history = {each.query_text: each for each in queries}
    counted = history["SELECT id FROM range(10)"]
    assert (counted.status.value, counted.user_name, counted.rows_produced) == ("FINISHED", USER, 3)
    assert counted.query_id and counted.is_final and counted.duration >= 0
    refused = history["SELECT * FROM nowhere"]
    assert (refused.status.value, "nowhere" in refused.error_message) == ("FAILED", True)
    assert all("seven77" not in str(each.as_dict()) for each in queries)

    path = server.file("/Workspace/Users/ada/pipeline/numbers.py", PIPELINE)
    library = {"file": {"path": path}}
    spec = {"name": "numbers", "catalog": "main", "schema": "default", "libraries": [library]}
    pipeline = server.post("/api/2.0/pipelines", spec)["pipeline_id"]
    update = client.pipelines.start_update(pipeline).update_id
    state = until(
        lambda: (
            s
            if (s := client.pipelines.get_update(pipeline, update).update.state.value)
            in ("COMPLETED", "FAILED")
            else None
        ),
        200,
    )
    events = list(client.pipelines.list_pipeline_events(pipeline))
    assert state == "COMPLETED", [each.error for each in events if each.error]
    assert any(each.origin.dataset_name and "numbers" in each.origin.dataset_name for each in events)
    assert execute(client, "SELECT count(*) FROM main.default.numbers").result.data_array == [["4"]]

    job = {"name": "refresh", "tasks": [{"task_key": "only", "pipeline_task": {"pipeline_id": pipeline}}]}
    job_id = server.post("/api/2.2/jobs/create", job)["job_id"]
    run = server.ended(server.run_now(job_id), 200)
    assert run["state"]["result_state"] == "SUCCESS", run["state"]
    newest, first = client.pipelines.list_updates(pipeline).updates
    assert (newest.cause.value, newest.state.value, first.update_id) == ("JOB_TASK", "COMPLETED", update)
    graph = server.get(f"/api/2.0/lakeward/graph/{pipeline}")
    assert [each["name"].rpartition(".")[2] for each in graph["datasets"]] == ["numbers"]

    notebook = server.file("/Workspace/Users/ada/answer.py", NOTEBOOK)
    task = {"task_key": "only", "notebook_task": {"notebook_path": notebook.removesuffix(".py")}}
    run = server.post("/api/2.2/jobs/runs/submit", {"tasks": [task]})["run_id"]
    until(lambda: "result_state" in server.run(run)["state"], 120)
    assert client.jobs.get_run_output(run).notebook_output.result == "42"
    (exported,) = client.jobs.export_run(run).views
    assert exported.name == "answer" and "__DATABRICKS_NOTEBOOK_MODEL = " in exported.content

    code = server.file("/Workspace/Users/ada/conf.py", CONF)
    task = {
        "task_key": "only",
        "spark_python_task": {"python_file": code},
        "new_cluster": {"spark_conf": {"lake.key": "{{secrets/sql/key}}"}},
    }
    run = server.ended(server.post("/api/2.2/jobs/runs/submit", {"tasks": [task]})["run_id"], 120)
    assert server.log_of(run) == "7 [REDACTED]\n", run["state"]

    (warehouse,) = client.warehouses.list()
    long = client.statement_execution.execute_statement(
        "SELECT count(*) FROM range(1000000000000)", warehouse.id, wait_timeout="5s"
    )
    client.statement_execution.cancel_execution(long.statement_id)
    ended = client.statement_execution.get_statement(long.statement_id)
    assert ended.status.state.value == "CANCELED"
