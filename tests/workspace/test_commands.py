"""Command execution 1.2: commands really run, and a context keeps its state."""

from __future__ import annotations

from typing import Any

import pytest

from tests.environments.conftest import make_wheel
from tests.workspace.server import Server, until

sdk = pytest.importorskip("databricks.sdk")
from databricks.sdk.service import compute  # noqa: E402

CLIENT = "http/commands"
CLUSTER = "lakeward-local"
KNOWN = {"clusterId": CLUSTER}


@pytest.fixture(scope="module")
def context(client: Any) -> Any:
    """The module's context for Spark: a JVM starts with its first command that needs one."""
    return client.command_execution.create_and_wait(cluster_id=CLUSTER, language=compute.Language.SQL).id


@pytest.fixture(scope="module")
def python(client: Any) -> Any:
    """A context without a JVM."""
    return client.command_execution.create_and_wait(cluster_id=CLUSTER, language=compute.Language.PYTHON).id


def run(client: Any, context: str, text: str, language: str = "python") -> Any:
    return client.command_execution.execute_and_wait(
        cluster_id=CLUSTER, context_id=context, language=compute.Language(language), command=text
    )


def ended(server: Server, context: str, command: str) -> Any:
    """Return the results of a command once there are some."""
    known = {**KNOWN, "contextId": context, "commandId": command}
    return until(lambda: server.get("/api/1.2/commands/status", **known).get("results"))


@pytest.mark.process
def test_a_python_context_keeps_its_state(client: Any, python: str) -> None:
    assert run(client, python, "x = 20\nprint('set')").results.data == "set"
    done = run(client, python, "print('x'); x + 1")
    assert (done.status, done.results.result_type) == (
        compute.CommandStatus.FINISHED,
        compute.ResultType.TEXT,
    )
    assert done.results.data == "x\n21"
    assert run(client, python, "x += 1").results.data == ""
    assert run(client, python, "dbutils.notebook.exit(str(x))").results.data == "21"


@pytest.mark.process
def test_an_error_has_a_summary_and_a_cause(client: Any, python: str) -> None:
    results = run(
        client, python, "print('before')\ndef f():\n    raise ValueError('<bad> luck')\nf()"
    ).results
    assert results.result_type == compute.ResultType.ERROR
    assert results.summary == '<span class="ansi-red-fg">ValueError</span>: &lt;bad&gt; luck'
    assert results.cause.startswith("before\n----") and results.cause.endswith("ValueError: <bad> luck")
    assert "line 4" in results.cause and "interpreter.py" not in results.cause
    assert "SyntaxError" in run(client, python, "x = (").results.summary
    assert "SystemExit" in run(client, python, "raise SystemExit(3)").results.summary


@pytest.mark.process
def test_tables_come_with_their_types(client: Any, context: str) -> None:
    results = run(
        client, context, "display(spark.range(2).selectExpr('id', 'struct(id) s', 'null n'))"
    ).results
    assert results.result_type == compute.ResultType.TABLE
    assert results.data == [[0, {"id": 0}, None], [1, {"id": 1}, None]]
    assert next((each["name"], each["type"]) for each in results.schema) == ("id", '"long"')
    assert run(client, context, "%sql select 2 as two").results.data == [[2]]
    error = run(client, context, "spark.sql('select * from nowhere')").results
    assert "TABLE_OR_VIEW_NOT_FOUND" in error.cause


@pytest.mark.process
def test_a_sql_context_keeps_its_views(client: Any, server: Server, context: str) -> None:
    run(client, context, "create temporary view v as select 7 as n; select * from v", "sql")
    # Without a language a command has that of its context.
    order = {**KNOWN, "contextId": context, "command": "select n from v"}
    assert ended(server, context, server.post("/api/1.2/commands/execute", order)["id"])["data"] == [[7]]
    failed = run(client, context, "select * from nowhere", "sql").results
    assert failed.result_type == compute.ResultType.ERROR and "nowhere" in failed.summary


@pytest.mark.process
def test_a_command_is_canceled_and_its_context_continues(client: Any, python: str) -> None:
    waiter = client.command_execution.execute(
        cluster_id=CLUSTER,
        context_id=python,
        language=compute.Language.PYTHON,
        command="import time; time.sleep(60)",
    )

    def state() -> str:
        return str(client.command_execution.command_status(CLUSTER, python, waiter.command_id).status.value)

    until(lambda: state() == "Running")
    client.command_execution.cancel(cluster_id=CLUSTER, context_id=python, command_id=waiter.command_id)
    until(lambda: state() == "Cancelled")
    assert client.command_execution.context_status(CLUSTER, python).status.value == "Running"
    assert run(client, python, "1 + 1").results.data == "2"


@pytest.mark.process
def test_dbutils_of_the_sdk_runs_in_a_context(client: Any) -> None:
    client.config.cluster_id = CLUSTER
    assert len(client.dbutils.fs.mounts()) > 1


@pytest.mark.process
def test_plain_requests_have_the_fields_of_the_api(server: Server) -> None:
    context = server.post("/api/1.2/contexts/create", {**KNOWN, "language": "PYTHON"})["id"]
    known = {**KNOWN, "contextId": context}
    until(lambda: server.get("/api/1.2/contexts/status", **known)["status"] == "Running")
    command = {
        **known,
        "commandId": server.post("/api/1.2/commands/execute", {**known, "command": "1"})["id"],
    }
    done = until(
        lambda: c if (c := server.get("/api/1.2/commands/status", **command)).get("results") else None
    )
    assert done == {
        "id": command["commandId"],
        "status": "Finished",
        "results": {"resultType": "text", "data": "1"},
    }
    assert server.post("/api/1.2/commands/cancel", command) == {"id": command["commandId"]}
    # A context belongs to the user who made it.
    order = {"application_id": "robot", "lifetime_seconds": 86400}
    other = server.post("/api/2.0/token-management/on-behalf-of/tokens", order)["token_value"]
    for method, path in (("GET", "contexts/status"), ("GET", "commands/status")):
        assert server.answer(method, f"/api/1.2/{path}", params=command, token=other).status_code == 404
    stolen = server.answer("POST", "/api/1.2/commands/execute", {**known, "command": "2"}, token=other)
    assert stolen.status_code == 404
    dead = server.post("/api/1.2/commands/execute", {**known, "command": "import os; os._exit(3)"})["id"]
    lost = {**known, "commandId": dead}
    until(lambda: server.get("/api/1.2/commands/status", **lost)["status"] == "Error")
    assert server.get("/api/1.2/contexts/status", **known)["status"] == "Error"
    late = server.post("/api/1.2/commands/execute", {**known, "command": "1"})["id"]
    after = server.get("/api/1.2/commands/status", **{**known, "commandId": late})
    assert (after["status"], "has ended" in after["results"]["summary"]) == ("Error", True)
    assert server.post("/api/1.2/contexts/destroy", known) == {"id": context}
    assert server.answer("GET", "/api/1.2/contexts/status", params=known).status_code == 404


@pytest.mark.process
def test_commands_install_packages_and_restart_python(client: Any, server: Server, python: str) -> None:
    for version in ("1.0", "1.1"):
        make_wheel(server.state / "workspace" / "wheels", "tiny", version)
    install = "%pip install --no-index /Workspace/wheels/tiny-{}-py3-none-any.whl"
    assert run(client, python, install.format("1.0")).results.result_type == compute.ResultType.TEXT
    assert run(client, python, "import tiny; tiny.__version__").results.data == "'1.0'"
    run(client, python, install.format("1.1") + "\ndbutils.library.restartPython()")
    assert "NameError" in run(client, python, "tiny").results.summary
    assert run(client, python, "import tiny; tiny.__version__").results.data == "'1.1'"
    missing = run(client, python, "%pip install /Workspace/wheels/none.whl").results
    assert (missing.result_type, "none.whl" in missing.summary) == (compute.ResultType.ERROR, True)


BAD: list[tuple[str, str, Any]] = [
    ("POST", "contexts/create", {"language": "python"}),
    ("POST", "contexts/create", {**KNOWN}),
    ("POST", "contexts/create", {**KNOWN, "language": "cobol"}),
    ("POST", "contexts/create", {"clusterId": "none", "language": "python"}),
    ("POST", "contexts/create", {"clusterId": [], "language": {}}),
    ("GET", "contexts/status", None),
    ("POST", "commands/execute", {**KNOWN}),
    ("POST", "commands/execute", {**KNOWN, "contextId": 5}),
    ("POST", "commands/cancel", {**KNOWN, "contextId": "1"}),
]


@pytest.mark.parametrize(("method", "path", "body"), BAD)
def test_wrong_requests_are_refused(server: Server, method: str, path: str, body: Any) -> None:
    answer = server.answer(method, f"/api/1.2/{path}", body)
    assert answer.status_code in (400, 404) and answer.json().keys() & {"error", "message"}


def test_a_missing_context_has_the_message_of_the_api(client: Any) -> None:
    with pytest.raises(sdk.errors.DatabricksError, match="requirement failed: missing contextId") as raised:
        client.command_execution.execute(cluster_id=CLUSTER)
    assert raised.value.error_code is None


@pytest.mark.parametrize(
    "command", ["class Other(BaseException): pass\nraise Other('gone')", "import os\nos.fork() and None"]
)
def test_a_context_survives_its_commands(server: Server, command: str) -> None:
    """An exception that is no Exception ended the context; a forked child took commands of its parent."""
    order = {**KNOWN, "language": "python"}
    order["contextId"] = server.post("/api/1.2/contexts/create", order)["id"]
    for text in (command, "x = 1", "x + 1", "x + 2", "x + 3"):
        sent = server.post("/api/1.2/commands/execute", {**order, "command": text})["id"]
        results = ended(server, order["contextId"], sent)
    assert results == {"resultType": "text", "data": "4"}
    server.post("/api/1.2/contexts/destroy", order)
