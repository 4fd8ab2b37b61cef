"""Code that lakeward runs reaches the target's workspace without a setting, whatever runs the code.

Runs and commands × ways to find the workspace: clients without credentials, the notebook context with
`requests`, and a client with what the context has.
"""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest
import requests

from lakeward.session import Settings
from lakeward.workspace import ServerProcess, running_connection
from lakeward.workspace_connection import (
    Connection,
    connection_variables,
    process_connection,
    write_connection_file,
)
from tests.processes import SharedDaemon, environ_without, outcome
from tests.workspace.server import running

pytestmark = pytest.mark.process

# Not the name of a job: `jobs list` needs the server, `current user` the state folder alone.
CODE = """\
import json, os, sys
import requests
from databricks.sdk import WorkspaceClient
from databricks.sdk.errors import PermissionDenied
from databricks.sdk.runtime import dbutils

name = sys.argv[1] if len(sys.argv) > 1 else "made"
client = WorkspaceClient()
job = client.jobs.create(name=name)
context = dbutils.notebook.entry_point.getDbutils().notebook().getContext()
url, token = context.apiUrl().get(), context.apiToken().get()
bearer = {"Authorization": f"Bearer {token}"}
answer = requests.get(f"{url}/api/2.2/jobs/get", params={"job_id": job.job_id}, headers=bearer, timeout=60)
assert answer.json()["settings"]["name"] == name, answer.text
for shown in (context.browserHostName().get(), "lakeward.localhost"):
    answer = requests.get(
        f"https://{shown}/api/2.1/jobs/get?job_id={job.job_id}", headers=bearer, timeout=60)
    assert answer.json()["settings"]["name"] == name, answer.text
assert json.loads(context.toJson())["extraContext"]["api_token"] == token
named = WorkspaceClient(host=url, token=token)
assert named.jobs.get(job.job_id).settings.name == name
assert named.current_user.me().user_name == client.current_user.me().user_name
assert client.config.host == named.config.host == url
assert client.dbutils.secrets.listScopes() == dbutils.secrets.listScopes()
assert requests.get(f"{url}{'/api/2.0/preview/scim/v2/Me'}", headers=client.config.authenticate()).ok
for path in ("/api/2.2/jobs/list", "/api/2.0/preview/scim/v2/Me"):
    try:
        WorkspaceClient(host=url, token="wrong").api_client.do("GET", path)
    except PermissionDenied:
        pass
    else:
        raise AssertionError(f"{path} was answered without the token")
try:
    from databricks import sql
except ImportError:
    sql = None
# With a wrong token: a session would start the SQL warehouse in each of the cases.
for shown in ("lakeward.localhost", context.browserHostName().get(), url) if sql else ():
    try:
        sql.connect(
            server_hostname=shown, http_path="/sql/1.0/warehouses/1a6e3a4d00000001", access_token="wrong",
            enable_telemetry=False)
    except sql.exc.Error as error:
        assert "Invalid access token" in str(error), error
    else:
        raise AssertionError(f"{shown} opened a session without the token")
client.schemas.create(name, "main")
# At once: tasks that run at a time share the output.
sys.stdout.write(f"host {url} token {token}\\n")
"""
BUNDLE = """\
bundle: {name: shop}
resources:
  jobs:
    nightly:
      name: nightly
      tasks:
        - task_key: first
          spark_python_task: {python_file: code.py, parameters: [one]}
        - task_key: second
          spark_python_task: {python_file: code.py, parameters: [two]}
targets: {local: {default: true}}
"""


def environ() -> dict[str, str]:
    return environ_without("LAKEWARD_", "PYTEST", "DATABRICKS_")


def lakeward(
    folder: Path, *arguments: str, env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "lakeward", *arguments]
    return outcome(command, cwd=folder, env=env or environ(), timeout=240)


def host_in(text: str) -> str:
    # Tasks that run at a time may print into one line.
    found = re.findall(r"host (http://127\.0\.0\.1:\d+) token (\[REDACTED\]|dapi)", text)
    assert {token for _, token in found} == {"[REDACTED]"}, "the token is shown"
    (host,) = {host for host, _ in found}
    return host


def assert_gone(host: str) -> None:
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(("127.0.0.1", int(host.rpartition(":")[2])), timeout=5).close()


@pytest.mark.parametrize("way", ["--in-process", "--isolated"])
def test_tasks_of_a_run_share_one_workspace_that_ends_with_the_run(tmp_path: Path, way: str) -> None:
    (tmp_path / "code.py").write_text(CODE)
    (tmp_path / "databricks.yml").write_text(BUNDLE)
    with running(tmp_path) as server:
        configured = server.connection()
    ran = lakeward(tmp_path, "run", "nightly", way)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert_gone(host_in(ran.stderr))
    with running(tmp_path) as server:
        assert server.connection() == configured, "other clients are configured with it"
        assert len(server.get("/api/2.0/token/list")["token_infos"]) == 1
        assert {job["settings"]["name"] for job in server.get("/api/2.2/jobs/list")["jobs"]} == {"one", "two"}


PARENT = """\
import sys
from databricks.sdk import WorkspaceClient
client = WorkspaceClient()
found = {job.settings.name: job.job_id for job in client.jobs.list()}
assert int(sys.argv[1]) in found.values(), (sys.argv, found)
run = client.jobs.run_now(int(sys.argv[1]), job_parameters={"who": "parent"}).result()
print("output", client.jobs.get_run_output(run.tasks[0].run_id).logs)
assert [each.name for each in client.pipelines.list_pipelines()] == [sys.argv[2]]
assert client.pipelines.get(sys.argv[3]).name == sys.argv[2]
"""
JOBS = """\
resources:
  jobs:
    child:
      name: child
      parameters: [{name: who, default: other}]
      tasks:
        - task_key: a
          spark_python_task: {python_file: src/child.py, parameters: ["{{job.parameters.who}}"]}
    parent:
      name: parent
      tasks:
        - task_key: a
          spark_python_task:
            python_file: src/parent.py
            parameters:
              - ${resources.jobs.child.id}
              - ${resources.pipelines.flow.name}
              - ${resources.pipelines.flow.id}
  pipelines:
    flow: {name: flow, libraries: [{file: {path: src/flow.sql}}]}
"""


@pytest.mark.parametrize("where", ["databricks.yml", "jobs.yml"])
def test_code_of_a_run_finds_the_jobs_and_pipelines_of_its_bundle(tmp_path: Path, where: str) -> None:
    """Under the ids that references to them have; none is left for a later server."""
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "parent.py").write_text(PARENT)
    (tmp_path / "src" / "child.py").write_text("import sys\nprint('child of', sys.argv[1])\n")
    (tmp_path / "src" / "flow.sql").write_text("CREATE MATERIALIZED VIEW v AS SELECT 1 AS a;\n")
    is_bundle = where == "databricks.yml"
    head = "bundle: {name: shop}\ntargets: {local: {default: true, mode: development}}\n" if is_bundle else ""
    (tmp_path / where).write_text(head + JOBS)
    ran = lakeward(tmp_path, "run", "parent" if is_bundle else "jobs.yml:parent")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "output child of parent" in ran.stderr
    with running(tmp_path) as server:
        assert not server.get("/api/2.2/jobs/list").get("jobs")
        assert not server.get("/api/2.0/pipelines").get("statuses")


def test_a_run_of_a_workspace_reaches_that_workspace(tmp_path: Path) -> None:
    with running(tmp_path) as server:
        run = server.ended(server.run_now(server.job(a=CODE)))
        assert run["state"]["result_state"] == "SUCCESS", server.log_of(run)
        assert host_in(server.log_of(run)) == server.host


@pytest.mark.spark
def test_a_notebook_waits_for_the_runs_that_it_started(tmp_path: Path, shared_daemon: SharedDaemon) -> None:
    (tmp_path / "notebook.py").write_text(
        "# Databricks notebook source\nimport os\nfrom pathlib import Path\n"
        "from databricks.sdk import WorkspaceClient\nfrom databricks.sdk.service import jobs\n"
        "client = WorkspaceClient()\n"
        "Path('/Workspace/task.py').write_text(\"import time; time.sleep(3); open('ended', 'w').close()\")\n"
        "task = jobs.SubmitTask(task_key='a', spark_python_task=jobs.SparkPythonTask('/Workspace/task.py'))\n"
        "print(client.jobs.submit(run_name='later', tasks=[task]).run_id)\n"
    )
    ran = lakeward(tmp_path, "notebook", "notebook.py", env=shared_daemon.environ(environ()))
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "of later (Ctrl-C ends them)" in ran.stderr
    assert list(tmp_path.glob("**/ended")), ran.stderr


def ipynb(code: str) -> str:
    cell = {"cell_type": "code", "execution_count": None, "id": "a", "metadata": {}, "outputs": []}
    about = {"kernelspec": {"name": "python3"}, "language_info": {"name": "python"}}
    whole = {"cells": [{**cell, "source": code}], "metadata": about, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(whole)


DATASET = "from pyspark import pipelines as dp\n@dp.materialized_view\ndef v(): return spark.range(1)\n"
# How code is run: the command, the file, and its content.
WAYS = {
    "notebook": (["notebook"], "code.py", f"# Databricks notebook source\n{CODE}"),
    "ipynb": (["notebook"], "code.ipynb", ipynb(CODE)),
    "pipeline": (["pipeline"], "code.py", CODE + DATASET),
}


@pytest.mark.spark
@pytest.mark.parametrize("way", WAYS)
def test_other_commands_have_a_workspace(tmp_path: Path, way: str, shared_daemon: SharedDaemon) -> None:
    command, name, content = WAYS[way]
    # Commands have no arguments for the code.
    (tmp_path / name).write_text(content.replace("sys.argv[1] if len(sys.argv) > 1 else", ""))
    ran = lakeward(tmp_path, *command, name, env=shared_daemon.environ(environ()))
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert_gone(host_in(ran.stderr))


def test_a_command_uses_the_server_that_runs_already(tmp_path: Path) -> None:
    (tmp_path / "code.py").write_text(CODE)
    (tmp_path / "jobs.yml").write_text(
        "name: nightly\ntasks:\n  - task_key: a\n    spark_python_task: {python_file: code.py}\n"
    )
    with running(tmp_path) as server:
        ran = lakeward(tmp_path, "run", "jobs.yml")
        assert ran.returncode == 0, ran.stdout + ran.stderr
        assert host_in(ran.stderr) == server.host
        assert [job["settings"]["name"] for job in server.get("/api/2.2/jobs/list")["jobs"]] == ["made"]


def test_a_server_that_cannot_start_answers_with_the_reason(tmp_path: Path) -> None:
    settings = Settings.here(tmp_path, environ={})
    (settings.state / "server").mkdir(parents=True)
    (settings.state / "server" / "workspace.db").write_text("no database")
    server = ServerProcess(settings)
    server.start()
    try:
        headers = {"Authorization": f"Bearer {server.connection.token}"}
        for _ in range(2):
            answer = requests.get(f"{server.connection.host}/api/2.2/jobs/list", headers=headers, timeout=60)
            assert answer.status_code == 400, "clients repeat requests with other errors"
            assert "workspace.db" in answer.json()["message"]
    finally:
        server.close()


def test_only_a_server_that_runs_has_a_connection(tmp_path: Path) -> None:
    settings = Settings.here(tmp_path, environ={})
    assert running_connection(settings) is None
    assert not (settings.state / "server").exists()
    with running(tmp_path) as server:
        assert running_connection(settings) == Connection(**server.connection())
    assert running_connection(settings) is None


def test_a_client_of_a_workspace_that_has_ended_reports_it(tmp_path: Path) -> None:
    (tmp_path / "code.py").write_text(
        "from databricks.sdk import WorkspaceClient\n"
        "client = WorkspaceClient()\nprint(client.current_user.me().user_name)\nlist(client.jobs.list())\n"
    )
    (tmp_path / "jobs.yml").write_text(
        "name: nightly\ntasks:\n  - task_key: a\n    spark_python_task: {python_file: code.py}\n"
    )
    server = ServerProcess(Settings.here(tmp_path, environ={}))
    server.start()
    server.close()
    command = [sys.executable, "-m", "lakeward", "run", "jobs.yml", "--json"]
    ran = outcome(
        command,
        cwd=tmp_path,
        env={**environ(), **connection_variables(server.connection.host, server.file)},
        timeout=120,
    )
    (task,) = json.loads(ran.stdout)["tasks"]
    assert "ends with the command that started it" in task["error"]


def test_the_variables_lead_to_a_connection_and_hold_no_token(tmp_path: Path) -> None:
    connection, file = Connection("http://127.0.0.1:1", "t0k3n"), tmp_path / "private" / "connection.json"
    write_connection_file(file, connection)
    variables = connection_variables(connection.host, file)
    assert process_connection(variables) == connection
    assert connection.token not in "".join(variables.values())
    assert file.stat().st_mode & 0o077 == 0
    assert process_connection({}) is None
    assert process_connection(dict.fromkeys(variables, "")) is None
    assert set(variables).isdisjoint(os.environ)
    file.unlink()
    assert process_connection(variables) == Connection(connection.host, "")


def test_the_file_with_the_token_ends_with_the_command(tmp_path: Path) -> None:
    server = ServerProcess(Settings.here(tmp_path, environ={}))
    assert server.file.stat().st_mode & 0o077 == 0
    server.start()
    server.close()
    assert not server.file.exists()
