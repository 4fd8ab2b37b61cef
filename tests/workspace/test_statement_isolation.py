"""Statements on the warehouse: isolation, cancellation, concurrency. One server and one JVM for all tests."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.workspace.server import Server, started, until

pytestmark = pytest.mark.process

WAREHOUSE = "1a6e3a4d00000001"
STATEMENTS = "/api/2.0/sql/statements"
# Spark reads 10^12 rows for hours, in jobs that can be canceled.
ENDLESS = "SELECT count(*) FROM range(0, 1000000000000, 1, 1)"
# The loop runs on the driver, without a job.
TIGHT_LOOP = "BEGIN DECLARE n INT DEFAULT 0; WHILE n < 100000000 DO SET n = n + 1; END WHILE; END"


def submit(server: Server, statement: str, *, token: str | None = None, **options: Any) -> str:
    """Start a statement without waiting for it; return its id."""
    body = {"statement": statement, "warehouse_id": WAREHOUSE, "wait_timeout": "0s", **options}
    answer = server.answer("POST", STATEMENTS, body, token=token)
    assert answer.status_code == 200, answer.text
    return str(answer.json()["statement_id"])


def state(server: Server, statement_id: str) -> str:
    return str(server.get(f"{STATEMENTS}/{statement_id}")["status"]["state"])


def finished(server: Server, statement_id: str, *, token: str | None = None, seconds: float = 120) -> Any:
    """The statement once it has ended."""

    def ended() -> Any:
        found = server.answer("GET", f"{STATEMENTS}/{statement_id}", token=token).json()
        return found if found["status"]["state"] not in ("PENDING", "RUNNING") else None

    return until(ended, seconds)


def rows(server: Server, statement: str, **options: Any) -> Any:
    """The rows of a statement that succeeds."""
    found = finished(server, submit(server, statement, **options), token=options.get("token"))
    assert found["status"]["state"] == "SUCCEEDED", found["status"]
    return found["result"]["data_array"]


@pytest.fixture
def robot(server: Server) -> str:
    """The token of another principal."""
    body = {"application_id": "robot", "lifetime_seconds": 86400, "comment": ""}
    return str(server.post("/api/2.0/token-management/on-behalf-of/tokens", body)["token_value"])


@pytest.mark.slow
def test_a_slow_a_large_and_a_long_statement_do_not_block_each_other(server: Server) -> None:
    rows(server, "SELECT 1")
    slow = submit(server, ENDLESS)
    large = submit(server, "SELECT id, repeat('x', 200) FROM range(10000)")
    long = submit(server, f"SELECT length('{'y' * 300_000}')")
    assert finished(server, large)["manifest"]["total_row_count"] == 10000
    done = finished(server, long)
    assert done.get("result", done)["data_array"] == [["300000"]]
    assert state(server, slow) == "RUNNING"
    server.post(f"{STATEMENTS}/{slow}/cancel")
    assert finished(server, slow)["status"] == {"state": "CANCELED"}


def test_catalog_and_schema_end_with_the_statement(server: Server) -> None:
    rows(server, "CREATE SCHEMA IF NOT EXISTS main.zz")
    rows(server, "CREATE CATALOG IF NOT EXISTS second")
    where = "SELECT current_catalog(), current_schema()"
    assert rows(server, where, catalog="main", schema="zz") == [["main", "zz"]]
    assert rows(server, where, catalog="second") == [["second", "default"]]
    assert rows(server, "USE main.zz") == []
    assert rows(server, where) == [["main", "default"]]


@pytest.mark.parametrize(
    ("change", "observe", "expected"),
    [
        ("SET TIME ZONE 'Asia/Tokyo'", "SELECT current_timezone()", [["Etc/UTC"]]),
        ("CREATE TEMPORARY VIEW leak AS SELECT 1 AS n", "SHOW VIEWS LIKE 'leak'", []),
        ("DECLARE VARIABLE leaked INT DEFAULT 5", "SELECT count(*) FROM range(1)", [["1"]]),
        (
            "CREATE TEMPORARY FUNCTION leaked(x INT) RETURNS INT RETURN x",
            "SHOW USER FUNCTIONS LIKE 'leaked'",
            [],
        ),
    ],
)
def test_nothing_of_a_session_reaches_another_statement(
    server: Server, robot: str, change: str, observe: str, expected: Any
) -> None:
    rows(server, change)
    # Sessions are made ahead: more statements than there are prepared sessions.
    for _ in range(4):
        assert rows(server, observe, token=robot) == expected


def test_settings_of_one_user_do_not_change_the_results_of_another(server: Server, robot: str) -> None:
    rows(server, "SET spark.sql.ansi.enabled=false")
    failed = finished(server, submit(server, "SELECT cast('x' AS INT)", token=robot), token=robot)
    assert failed["status"]["state"] == "FAILED"
    assert "CAST_INVALID_INPUT" in failed["status"]["error"]["message"]
    assert failed["status"]["sql_state"] == "22018"


def test_temporary_views_and_variables_are_unknown_to_the_next_statement(server: Server) -> None:
    rows(server, "CREATE OR REPLACE TEMPORARY VIEW own AS SELECT 1 AS n")
    rows(server, "DECLARE OR REPLACE VARIABLE mine INT DEFAULT 5")
    for statement, condition in (
        ("SELECT * FROM own", "TABLE_OR_VIEW_NOT_FOUND"),
        ("SELECT mine", "UNRESOLVED_COLUMN"),
    ):
        status = finished(server, submit(server, statement))["status"]
        assert status["state"] == "FAILED"
        assert condition in status["error"]["message"]


def test_a_catalog_created_by_one_statement_is_usable_in_the_next(server: Server) -> None:
    rows(server, "CREATE CATALOG IF NOT EXISTS fresh")
    rows(server, "CREATE TABLE fresh.default.t AS SELECT 7 AS n")
    assert rows(server, "SELECT * FROM t", catalog="fresh") == [["7"]]
    rows(server, "DROP CATALOG fresh CASCADE")
    assert ["fresh"] not in rows(server, "SHOW CATALOGS")


def test_cancel_stops_one_statement_and_no_other(server: Server) -> None:
    running = [submit(server, ENDLESS) for _ in range(10)]
    queued = submit(server, "SELECT 42")
    until(lambda: all(state(server, each) == "RUNNING" for each in running))
    assert state(server, queued) == "PENDING"
    server.post(f"{STATEMENTS}/{running[0]}/cancel")
    assert finished(server, queued)["result"]["data_array"] == [["42"]]
    assert state(server, running[0]) == "CANCELED"
    assert [state(server, each) for each in running[1:]] == ["RUNNING"] * 9
    for each in running[1:]:
        server.post(f"{STATEMENTS}/{each}/cancel")
    assert rows(server, "SELECT 1") == [["1"]]


def test_a_queued_statement_is_canceled_without_having_run(server: Server) -> None:
    running = [submit(server, ENDLESS) for _ in range(10)]
    queued = submit(server, "CREATE TABLE main.default.never AS SELECT 1 AS n")
    until(lambda: all(state(server, each) == "RUNNING" for each in running))
    server.post(f"{STATEMENTS}/{queued}/cancel")
    assert finished(server, queued)["status"] == {"state": "CANCELED"}
    for each in running:
        server.post(f"{STATEMENTS}/{each}/cancel")
    assert rows(server, "SHOW TABLES IN main.default LIKE 'never'") == []


def test_a_loop_that_spark_cannot_interrupt_costs_no_other_query_anything(server: Server) -> None:
    loop = submit(server, TIGHT_LOOP)
    until(lambda: state(server, loop) == "RUNNING")
    server.post(f"{STATEMENTS}/{loop}/cancel")
    assert finished(server, loop)["status"] == {"state": "CANCELED"}
    assert rows(server, "SELECT 1") == [["1"]]


def test_other_requests_are_quick_while_45_statements_wait(server: Server) -> None:
    rows(server, "SELECT 1")
    body = {"statement": ENDLESS, "warehouse_id": WAREHOUSE, "wait_timeout": "50s"}

    def wait(_: int) -> str:
        # A connection each: the shared session of the helper is not made for threads.
        import requests

        headers = {"Authorization": f"Bearer {server.token}"}
        answer = requests.post(server.host + STATEMENTS, json=body, headers=headers, timeout=120)
        return str(answer.json()["status"]["state"])

    with ThreadPoolExecutor(45) as clients:
        waiting = [clients.submit(wait, n) for n in range(45)]
        documents = until(lambda: found if len(found := active(server)) == 45 else None)
        for _ in range(5):
            server.get("/api/2.2/jobs/list")
        # They were answered before a statement freed its thread, which each does after 50 seconds.
        assert not any(each.done() for each in waiting)
        for each in documents:
            server.post(f"{STATEMENTS}/{each}/cancel")
        assert {each.result(120) for each in waiting} == {"CANCELED"}


def active(server: Server) -> list[str]:
    """Ids of the statements that have not ended, from the server's database."""
    import sqlite3
    from contextlib import closing

    file = server.state / "server" / "workspace.db"
    with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as connection:
        query = "SELECT id FROM documents WHERE kind = 'statement' AND active = 1"
        return [key for (key,) in connection.execute(query)]


def test_a_timeout_with_cancel_cancels_and_with_continue_continues(server: Server) -> None:
    body = {"statement": ENDLESS, "warehouse_id": WAREHOUSE, "wait_timeout": "5s"}
    assert server.post(STATEMENTS, {**body, "on_wait_timeout": "CANCEL"})["status"]["state"] == "CANCELED"
    left = server.post(STATEMENTS, {**body, "on_wait_timeout": "CONTINUE"})
    assert left["status"]["state"] == "RUNNING"
    server.post(f"{STATEMENTS}/{left['statement_id']}/cancel")


def test_sigterm_ends_the_server_in_five_seconds_whatever_is_running(root: Path) -> None:
    server = started(root)
    try:
        rows(server, "SELECT 1")
        assert len(statement_processes(server)) == 1
        submit(server, TIGHT_LOOP)
        large = "/api/2.0/fs/files/Volumes/main/default/v/large"
        server.answer("PUT", large, data=b"x" * 50_000_000)
        with ExitStack() as connections:
            # 45 clients that wait, and one that does not read its response.
            body = json.dumps({"statement": ENDLESS, "warehouse_id": WAREHOUSE, "wait_timeout": "50s"})
            for _ in range(45):
                send(connections.enter_context(connect(server)), server, "POST", STATEMENTS, body)
            half_read = connections.enter_context(connect(server))
            send(half_read, server, "GET", large)
            until(lambda: len(active(server)) == 46)
            server.process.send_signal(signal.SIGTERM)
            # More than five, for a busy machine; the statements would wait for 50.
            server.process.wait(30)
        until(lambda: not statement_processes(server))
    finally:
        server.stop()


def connect(server: Server) -> socket.socket:
    return socket.create_connection(("127.0.0.1", int(server.host.rpartition(":")[2])))


def send(connection: socket.socket, server: Server, method: str, path: str, body: str = "") -> None:
    head = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {server.token}\r\n"
    connection.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n{body}".encode())


def statement_processes(server: Server) -> list[str]:
    """Process ids of the server's warehouse."""
    listed = subprocess.run(["ps", "-axww", "-o", "pid=,args="], check=True, capture_output=True, text=True)
    lines = [line for line in listed.stdout.splitlines() if "warehouse.statement_process" in line]
    return [line.split()[0] for line in lines if str(server.root) in line]
