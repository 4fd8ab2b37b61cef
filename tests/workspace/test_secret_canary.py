"""Planted secrets are in no output, no file, no command line and no environment where they do not belong."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.workspace.server import Server, running, until

pytestmark = [pytest.mark.slow, pytest.mark.process]

# Each secret, and each line of it, begins and ends with a mark that must not be found anywhere.
MARKS = ("C4nAryB", "C4nAryE")
ENVIRONMENT = "EnvC4n4ry"
SECRETS = {
    "markup": "C4nAryB & < > \" ' / C4nAryE",
    "backslash": "C4nAryB \\ \\n \\\\ C4nAryE",
    "lines": "C4nAryB one & C4nAryE\nC4nAryB\t<two> C4nAryE",
    "unicode": "C4nAryB é 漢 😀 C4nAryE",
    "url": "C4nAryB%20+?a=b&c;d#C4nAryE",
    "template": "C4nAryB${a}{{b}}$(c)`d`C4nAryE",
    "account": json.dumps({"C4nAryB": "x", "private_key": "-----BEGIN\nab+/=\n-----END\n", "e": "C4nAryE"}),
    "conf": 'C4nAryB conf = : # \\ " C4nAryE',
}

NOTEBOOK = """# Databricks notebook source
import html, json, time, urllib.parse, urllib.request
KEYS = %(keys)r
values = {key: dbutils.secrets.get("vault", key) for key in KEYS}
for value in values.values():
    print(value, repr(value), json.dumps(value), html.escape(value), urllib.parse.quote(value))
    print(value[:9], end="", flush=True)
    print(value[9:])

# COMMAND ----------

display(spark.createDataFrame([(key, value) for key, value in values.items()], "key string, value string"))
displayHTML("".join(f"<p>{value}</p>" for value in values.values()))
values

# COMMAND ----------

# MAGIC %%sql select secret('vault', 'markup') as a, array(secret('vault', 'account')) as b

# COMMAND ----------

spark.createDataFrame([(value,) for value in values.values()], "value string").show(truncate=False)
ui, application = spark.sparkContext.uiWebUrl, spark.sparkContext.applicationId
places = ("environment/", f"api/v1/applications/{application}/environment", "SQL/", "executors/")
page = "".join(urllib.request.urlopen(f"{ui}/{place}", timeout=30).read().decode() for place in places)
dbutils.fs.put("dbfs:/environment.html", page, True)
print("conf", len(spark.conf.get("spark.my.pin")), spark.conf.get("spark.my.pin"))
time.sleep(1)  # the processes of the run are looked at meanwhile
dbutils.notebook.exit(values["lines"])
"""

TASK = """import html, json, logging, os, subprocess, sys
from databricks.sdk.runtime import dbutils
for key in %(keys)r:
    value = dbutils.secrets.get("vault", key)
    print(value, repr(value), json.dumps([value]), html.escape(value))
    for at in range(0, len(value), 5):
        sys.stdout.write(value[at : at + 5])
        sys.stdout.flush()
    print()
    logging.getLogger("canary").warning("value: %%s", value)
    subprocess.run([sys.executable, "-c", "import sys; print(sys.stdin.read())"], input=value.encode())
    dbutils.jobs.taskValues.set(key, value)
print("environment", len(os.environ["MY_TOKEN"]), os.environ["MY_TOKEN"])
"""

LATER = """from databricks.sdk.runtime import dbutils
for key in %(keys)r:
    value = dbutils.jobs.taskValues.get("python", key)
    print("later", len(value), value)
"""

FAILING = """from databricks.sdk.runtime import dbutils
values = [dbutils.secrets.get("vault", key) for key in %(keys)r]
raise ValueError(values, " ".join(values), "x" * 3000 + values[0])
"""


PIPELINE = """from pyspark import pipelines as dp
from pyspark.sql import functions as F
values = {key: dbutils.secrets.get("vault", key) for key in %(keys)r}

@dp.materialized_view
def planned():
    return spark.range(1).select(*(F.length(F.lit(value)).alias(key) for key, value in values.items()))

@dp.materialized_view
def failing():
    return spark.range(1).select(F.raise_error(F.lit("x " + values["markup"])).alias("a"))
"""


@contextmanager
def watched(server: Server) -> Iterator[dict[str, set[str]]]:
    """Look at the command lines and environments of all processes of this user while the block runs."""
    found: dict[str, set[str]] = {"cmdline": set(), "environ": set(), "secret environ": set()}
    over = threading.Event()

    def look() -> None:
        while not over.wait(0.05):
            for process in Path("/proc").iterdir():
                if not process.name.isdecimal() or process.name == str(os.getpid()):
                    continue
                try:
                    line, environ = (process / "cmdline").read_bytes(), (process / "environ").read_bytes()
                except OSError:
                    continue
                shown = line.replace(b"\0", b" ").decode(errors="replace")[:300]
                if any(mark.encode() in line for mark in (*MARKS, ENVIRONMENT, server.token)):
                    found["cmdline"].add(shown)
                if any(mark.encode() in environ for mark in (*MARKS, server.token)):
                    found["environ"].add(shown)
                if ENVIRONMENT.encode() in environ:
                    found["secret environ"].add(shown)

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield found
    finally:
        over.set()
        thread.join()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with running(tmp_path_factory.mktemp("canary")) as server:
        yield server


def test_planted_secrets_are_found_nowhere(server: Server) -> None:
    server.post("/api/2.0/secrets/scopes/create", {"scope": "vault"})
    for key, value in {**SECRETS, "env": ENVIRONMENT}.items():
        server.post("/api/2.0/secrets/put", {"scope": "vault", "key": key, "string_value": value})
    answers: dict[str, str] = {}
    with watched(server) as seen:
        run = server.ended(server.post("/api/2.2/jobs/runs/submit", _job(server))["run_id"], 300)
        statements = _statements(server, lambda name, answer: answers.update({name: answer}))
    (pipeline,) = server.get("/api/2.0/pipelines")["statuses"]
    events = server.get(f"/api/2.0/pipelines/{pipeline['pipeline_id']}/events", max_results=250)
    answers |= {"run": json.dumps(run), "events": json.dumps(events), **_outputs(server, run)}

    # What must work, works: nothing below is empty by mistake.
    states = {task["task_key"]: task["state"]["result_state"] for task in run["tasks"]}
    assert states == {
        "notebook": "SUCCESS",
        "python": "SUCCESS",
        "later": "SUCCESS",
        "failing": "FAILED",
        "pipeline": "FAILED",
    }
    assert f"conf {len(SECRETS['conf'])} [REDACTED]" in _notebook_text(server)
    assert f"environment {len(ENVIRONMENT)} [REDACTED]" in answers["log python"]
    assert [f"later {len(value)} " in answers["log later"] for value in SECRETS.values()] == [True] * len(
        SECRETS
    )
    assert json.loads(answers["output notebook"])["notebook_output"]["result"].startswith("[REDACTED]")
    assert "ValueError" in answers["output failing"]
    assert "FAILED" in answers["events"]
    assert statements == {"rows": "SUCCEEDED", "lengths": "SUCCEEDED", "error": "FAILED"}
    page = (server.state / "dbfs" / "environment.html").read_text()
    assert "spark.my.pin" in page
    assert "redacted" in page

    assert {name: text for name, text in answers.items() if _marks(text.encode())} == {}
    assert seen["cmdline"] == set()
    assert seen["environ"] == set()
    # Only processes of the run whose cluster declares it, and not the server or the warehouse.
    assert seen["secret environ"]
    others = ("lakeward workspace", "statement_process")
    assert not [line for line in seen["secret environ"] if any(other in line for other in others)]
    server.stop()
    files = [file for file in server.state.rglob("*") if file.is_file()]
    assert len(files) > 20
    assert [str(file) for file in files if _marks(file.read_bytes())] == []
    own = ("notebooks", "jobs", "server", "secrets")
    written = [file for file in files if file.relative_to(server.state).parts[0] in own]
    assert len(written) > 10
    assert [str(file) for file in written if file.stat().st_mode & 0o077] == []
    assert server.state.stat().st_mode & 0o077 == 0
    assert server.process.stderr is not None


def _marks(data: bytes) -> bool:
    return any(mark.encode() in data for mark in (*MARKS, ENVIRONMENT))


def _job(server: Server) -> dict[str, Any]:
    keys = {"keys": list(SECRETS)}
    cluster = {
        "spark_conf": {
            "spark.my.pin": "{{secrets/vault/conf}}",
            "spark.ui.enabled": "true",
            "spark.ui.port": "0",
        },
        "spark_env_vars": {"MY_TOKEN": "{{secrets/vault/env}}"},
    }
    server.file("/Workspace/canary/notebook.py", NOTEBOOK % keys)
    task = {"notebook_path": "/Workspace/canary/notebook"}
    tasks: list[dict[str, Any]] = [{"task_key": "notebook", "notebook_task": task, "new_cluster": cluster}]
    for name, code in (("python", TASK), ("later", LATER), ("failing", FAILING)):
        file = server.file(f"/Workspace/canary/{name}.py", code % keys)
        task = {"python_file": file}
        tasks.append({"task_key": name, "spark_python_task": task, "new_cluster": cluster})
    tasks[2]["depends_on"] = [{"task_key": "python"}]
    library = {"file": {"path": server.file("/Workspace/canary/pipeline.py", PIPELINE % keys)}}
    spec = {"name": "canary", "catalog": "main", "schema": "default", "libraries": [library]}
    pipeline = server.post("/api/2.0/pipelines", spec)["pipeline_id"]
    tasks.append({"task_key": "pipeline", "pipeline_task": {"pipeline_id": pipeline}})
    return {"run_name": "canary", "tasks": tasks}


def _statements(server: Server, keep: Callable[[str, str], None]) -> dict[str, str]:
    columns = ", ".join(f"secret('vault', '{key}') as {key}" for key in SECRETS)
    lengths = ", ".join(f"length(secret('vault', '{key}')) as {key}" for key in SECRETS)
    texts = {
        "rows": f"select {columns}, map('k', array(secret('vault', 'account'))) as nested",
        "lengths": f"select {lengths}",
        "error": "select raise_error(concat('x ', secret('vault', 'markup'), secret('vault', 'account')))",
    }
    states: dict[str, str] = {}
    for name, text in texts.items():
        body = {"statement": text, "warehouse_id": "1a6e3a4d00000001", "wait_timeout": "0s"}
        key = server.post("/api/2.0/sql/statements", body)["statement_id"]
        path = f"/api/2.0/sql/statements/{key}"

        def ended(path: str = path) -> Any:
            found = server.get(path)
            return None if found["status"]["state"] in ("PENDING", "RUNNING") else found

        answer = until(ended, 120)
        states[name] = answer["status"]["state"]
        keep(f"statement {name}", json.dumps(answer))
        if name == "lengths":
            assert answer["result"]["data_array"] == [[str(len(value)) for value in SECRETS.values()]]
    return states


def _outputs(server: Server, run: Any) -> dict[str, str]:
    answers: dict[str, str] = {}
    for task in run["tasks"]:
        output = server.get("/api/2.2/jobs/runs/get-output", run_id=task["run_id"])
        answers[f"output {task['task_key']}"] = json.dumps(output, ensure_ascii=False)
        answers[f"log {task['task_key']}"] = str(output.get("logs"))
    return answers


def _notebook_text(server: Server) -> str:
    return (server.state / "notebooks" / "notebook.ipynb").read_text()
