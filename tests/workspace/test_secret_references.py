"""A secret that one task passes to others by reference is shown by none of them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.workspace.server import Server

SECRET = "C4nAry & <value> of 'a' task"
SET = """
from databricks.sdk.runtime import dbutils
value = dbutils.secrets.get("passed", "key")
dbutils.jobs.taskValues.set("text", value)
dbutils.jobs.taskValues.set("list", [value, value])
"""
RAISE = "import sys\nprint(len(sys.argv[1]), sys.argv[1])\nraise ValueError(sys.argv[1])\n"
NOTEBOOK = """# Databricks notebook source
value = dbutils.widgets.get("value")
print(len(value), value)
dbutils.notebook.exit(value)
"""
TEXT = "{{tasks.set.values.text}}"


@pytest.mark.process
def test_references_to_a_secret_are_redacted_in_all_outputs(server: Server) -> None:
    server.post("/api/2.0/secrets/scopes/create", {"scope": "passed"})
    server.post("/api/2.0/secrets/put", {"scope": "passed", "key": "key", "string_value": SECRET})
    fails = server.file("/Workspace/passed/fails.py", RAISE)
    server.file("/Workspace/passed/notebook.py", NOTEBOOK)
    parameters = [{"name": "p", "default": ""}]
    inner_task = {"python_file": fails, "parameters": ["{{job.parameters.p}}"]}
    inner = {
        "name": "inner",
        "parameters": parameters,
        "tasks": [{"task_key": "inner", "spark_python_task": inner_task}],
    }
    job_id = server.post("/api/2.2/jobs/create", inner)["job_id"]
    each = {
        "task_key": "each",
        "spark_python_task": {"python_file": fails, "parameters": ["{{input}}"]},
    }
    tasks: dict[str, dict[str, Any]] = {
        "parameter": {"spark_python_task": {"python_file": fails, "parameters": [TEXT]}},
        "notebook": {
            "notebook_task": {
                "notebook_path": "/Workspace/passed/notebook",
                "base_parameters": {"value": TEXT},
            }
        },
        "order": {"condition_task": {"op": "GREATER_THAN", "left": TEXT, "right": "5"}},
        "loop": {"for_each_task": {"inputs": "{{tasks.set.values.list}}", "task": each}},
        "inputs": {"for_each_task": {"inputs": TEXT, "task": {**each, "task_key": "other"}}},
        "child": {"run_job_task": {"job_id": job_id, "job_parameters": {"p": TEXT}}},
    }
    first = {
        "task_key": "set",
        "spark_python_task": {"python_file": server.file("/Workspace/passed/set.py", SET)},
    }
    later = [{"task_key": key, "depends_on": [{"task_key": "set"}], **task} for key, task in tasks.items()]
    run = server.ended(server.post("/api/2.2/jobs/runs/submit", {"tasks": [first, *later]})["run_id"])

    states = {task["task_key"]: task["state"] for task in run["tasks"]}
    results = {key: state["result_state"] for key, state in states.items()}
    assert results == {**dict.fromkeys(tasks, "FAILED"), "set": "SUCCESS", "notebook": "SUCCESS"}
    assert all("[REDACTED]" in states[key]["state_message"] for key in tasks if key != "notebook"), states
    shown = [json.dumps(run, ensure_ascii=False)]
    paths = ("2.2/jobs/runs/get-output", "2.2/jobs/runs/export", "2.0/lakeward/logs")
    for task in run["tasks"]:
        answers = [server.answer("GET", f"/api/{path}", params={"run_id": task["run_id"]}) for path in paths]
        shown.extend(answer.text for answer in answers)
    # The task itself has the value.
    assert f"{len(SECRET)} [REDACTED]" in server.log_of(run, 1)
    assert [text for text in shown if _has_mark(text.encode())] == []
    assert [file for file in server.state.rglob("*") if file.is_file() and _has_mark(file.read_bytes())] == []


def _has_mark(data: bytes) -> bool:
    return b"C4nAry" in data or b"of 'a' task" in data


def test_a_run_knows_the_secrets_of_the_run_it_repairs(server: Server) -> None:
    """The task that reads the secret is not repeated: its value comes from the stored run, encrypted."""
    server.answer("POST", "/api/2.0/secrets/scopes/create", {"scope": "passed"})
    server.post("/api/2.0/secrets/put", {"scope": "passed", "key": "key", "string_value": SECRET})
    reader = server.file("/Workspace/passed/set.py", SET)
    fails = server.file("/Workspace/passed/fails.py", RAISE)
    task = {"python_file": fails, "parameters": [TEXT]}
    tasks = [
        {"task_key": "set", "spark_python_task": {"python_file": reader}},
        {"task_key": "fails", "depends_on": [{"task_key": "set"}], "spark_python_task": task},
    ]
    job_id = server.post("/api/2.2/jobs/create", {"name": "repaired", "tasks": tasks})["job_id"]
    run = server.ended(server.run_now(job_id))
    server.post("/api/2.2/jobs/runs/repair", {"run_id": run["run_id"], "rerun_tasks": ["fails"]})
    again = server.ended(run["run_id"])
    assert "ValueError: [REDACTED]" in again["tasks"][1]["state"]["state_message"]
    assert not _has_mark(json.dumps(again).encode())
