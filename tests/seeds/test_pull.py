"""`lakeward pull` against a workspace's statement execution, as databricks-sdk speaks to it over HTTP."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from databricks.sdk import WorkspaceClient
from databricks.sdk.core import Config

from lakeward.cli import main
from lakeward.errors import SeedError, SetupError
from lakeward.seeds import TableName, pull
from tests.processes import environ_without, outcome

ROWS = [pa.table({"id": [1, 2], "at": pa.array([0, 1], pa.timestamp("us", "UTC"))}), pa.table({"id": [3]})]
ROWS[1] = ROWS[1].append_column("at", pa.array([None], pa.timestamp("us", "UTC")))
NAME = TableName("prod", "crm", "people")


class Workspace(ThreadingHTTPServer):
    """Records requests and answers them."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answering)
        self.statements: list[dict[str, Any]] = []
        self.polls = 0
        self.warehouses: list[dict[str, str]] = [
            {"id": "off", "state": "STOPPED"},
            {"id": "on", "state": "RUNNING"},
        ]
        self.error: str | None = None
        self.fetched: list[dict[str, str]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Answering(BaseHTTPRequestHandler):
    server: Workspace

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.statements.append(request)
        self.answer({"statement_id": "s-1", "status": {"state": "PENDING"}})

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        if path.startswith("/signed/"):
            self.server.fetched.append(dict(self.headers))
            sink = pa.BufferOutputStream()
            table = ROWS[int(path.rpartition("/")[2])]
            with pa.ipc.new_stream(sink, table.schema) as writer:
                writer.write_table(table)
            self.send(sink.getvalue().to_pybytes())
        elif path == "/api/2.0/sql/warehouses":
            self.answer({"warehouses": self.server.warehouses})
        elif path == "/api/2.0/sql/statements/s-1":
            self.server.polls += 1
            state = "RUNNING" if self.server.polls == 1 else "SUCCEEDED"
            if self.server.error:
                status = {"state": "FAILED", "error": {"message": self.server.error}}
                self.answer({"statement_id": "s-1", "status": status})
            else:
                self.answer({"statement_id": "s-1", "status": {"state": state}, "result": self.chunk(0)})
        elif path == "/api/2.0/sql/statements/s-1/result/chunks/1":
            self.answer(self.chunk(1))
        else:
            self.send_error(404)

    def chunk(self, number: int) -> dict[str, Any]:
        link: dict[str, Any] = {"external_link": f"{self.server.url}/signed/{number}", "chunk_index": number}
        return {"external_links": [link | ({"next_chunk_index": 1} if number == 0 else {})]}

    def answer(self, body: dict[str, Any]) -> None:
        self.send(json.dumps(body).encode())

    def send(self, body: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: the test reads the requests."""


@pytest.fixture
def workspace() -> Iterator[Workspace]:
    server = Workspace()
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


def client(workspace: Workspace) -> WorkspaceClient:
    return WorkspaceClient(config=Config(host=workspace.url, token="t", retry_timeout_seconds=1))


def test_the_rows_of_all_chunks_are_one_file_with_the_workspaces_types(
    workspace: Workspace, tmp_path: Path
) -> None:
    slept: list[float] = []
    file = tmp_path / "seeds/people.parquet"
    assert pull(client(workspace), NAME, limit=3, to=file, sleep=slept.append) == 3
    assert pq.read_table(file).equals(pa.concat_tables(ROWS))
    (request,) = workspace.statements
    assert request["statement"] == "SELECT * FROM `prod`.`crm`.`people` LIMIT 3"
    assert request["warehouse_id"] == "on", "a running warehouse comes before a stopped one"
    assert slept, "a statement that still runs is polled"
    assert all("Authorization" not in headers for headers in workspace.fetched)
    assert list(file.parent.iterdir()) == [file]


def test_what_the_workspace_refuses_is_said_and_leaves_no_file(workspace: Workspace, tmp_path: Path) -> None:
    workspace.error = "[TABLE_OR_VIEW_NOT_FOUND] no people"
    with pytest.raises(SeedError, match=r"prod\.crm\.people cannot be read from the workspace: .*no people"):
        pull(client(workspace), NAME, limit=3, to=tmp_path / "f.parquet", sleep=lambda _: None)
    workspace.warehouses = []
    with pytest.raises(SetupError, match="no SQL warehouse"):
        pull(client(workspace), NAME, limit=3, to=tmp_path / "f.parquet", sleep=lambda _: None)
    assert list(tmp_path.iterdir()) == []


def test_the_command_writes_the_file_and_says_how_to_use_it(
    workspace: Workspace,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("time.sleep", lambda _: None)
    for name, value in {"HOST": workspace.url, "TOKEN": "t", "WAREHOUSE_ID": "mine"}.items():
        monkeypatch.setenv(f"DATABRICKS_{name}", value)
    assert main(["pull", "prod.crm.people", "--limit", "5"]) == 0
    said = capsys.readouterr()
    assert said.out == "seeds/prod.crm.people.parquet: 3 rows of prod.crm.people\n"
    assert "lakeward seed prod.crm.people --from seeds/prod.crm.people.parquet" in said.err
    assert workspace.statements[0]["warehouse_id"] == "mine"


def test_without_a_workspace_the_command_names_the_settings(tmp_path: Path) -> None:
    theirs = environ_without("DATABRICKS")
    ran = outcome(
        [sys.executable, "-m", "lakeward", "pull", "t"],
        cwd=tmp_path,
        env={**theirs, "HOME": str(tmp_path), "PATH": str(tmp_path)},
        timeout=60,
    )
    assert ran.returncode == 2, ran.stderr
    assert "DATABRICKS_HOST and DATABRICKS_TOKEN" in ran.stderr
    assert list(tmp_path.iterdir()) == []
