"""What docs/threat-model.md promises, and what it says is not protected."""

from __future__ import annotations

import os
import pty
import re
import select
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import requests

from lakeward.workspace.http.route_table import PUBLIC_PATHS, ROUTES
from lakeward.workspace.warehouse.result_links import RESULTS_PATH
from tests.workspace.server import Server

PAGE = Path(__file__).parents[2] / "docs" / "threat-model.md"
ROBOT = """import json, os
from pathlib import Path
from databricks.sdk.runtime import dbutils
print(len(dbutils.secrets.get("guarded", "key")))
print(json.loads(Path("/Workspace/connection.json").read_text())["host"])
print(os.getuid())
"""


def test_every_promise_has_a_test_that_exists() -> None:
    text = PAGE.read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    rows = [row for row in rows if not row.startswith(("| from whom", "| attack or fault"))]
    assert len(rows) >= 10
    for row in rows:
        assert "`tests/" in row, row
    named = re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", text)
    for file, name in named:
        source = (PAGE.parents[1] / file).read_text(encoding="utf-8")
        assert not name or f"def {name}(" in source, (file, name)


def test_any_token_runs_code_as_the_user_of_the_server(server: Server) -> None:
    server.post("/api/2.0/secrets/scopes/create", {"scope": "guarded"})
    server.post("/api/2.0/secrets/put", {"scope": "guarded", "key": "key", "string_value": "value-of-key"})
    body = {"application_id": "robot", "lifetime_seconds": 3600}
    robot = server.post("/api/2.0/token-management/on-behalf-of/tokens", body)["token_value"]
    # The routes answer as the platform does …
    refused = server.answer("GET", "/api/2.0/secrets/get?scope=guarded&key=key", token=robot)
    assert (refused.status_code, refused.json()["error_code"]) == (403, "PERMISSION_DENIED")
    # … and code that the principal runs reads everything.
    code = ROBOT.replace("/Workspace/connection.json", str(server.state / "workspace" / "connection.json"))
    task = {"task_key": "a", "spark_python_task": {"python_file": server.file("/Workspace/robot.py", code)}}
    submitted = server.answer("POST", "/api/2.2/jobs/runs/submit", {"tasks": [task]}, token=robot)
    run = server.ended(submitted.json()["run_id"])
    assert run["creator_user_name"] == "robot"
    assert server.log_of(run).splitlines() == ["12", server.host, str(os.getuid())]


@pytest.mark.parametrize(
    "host",
    [
        "evil.example.com",
        "127.0.0.1.evil.com",
        "localhost.evil.com",
        "127.0.0.1:evil.com",
        "127.0.0.1:80:80",
        "127.0.0.1@evil.com",
        "evil.com:127.0.0.1",
        "127.0.0.2",
        "0.0.0.0",
        "[::1]",
        "2130706433",
        "127.1",
        "localhost.",
        "",
    ],
)
def test_foreign_host_names_are_refused(server: Server, host: str) -> None:
    for path in ("/", "/api/2.0/preview/scim/v2/Me", "/.well-known/databricks-config"):
        answer = server.answer("GET", path, headers={"Host": host})
        assert answer.status_code in (400, 403), (host, path)


def test_the_own_names_are_accepted(server: Server) -> None:
    port = server.host.rpartition(":")[2]
    for host in (f"127.0.0.1:{port}", "localhost", f"LOCALHOST:{port}", "127.0.0.1"):
        assert server.answer("GET", "/api/2.0/preview/scim/v2/Me", headers={"Host": host}).status_code == 200


def test_a_page_of_another_origin_gets_no_permission(server: Server) -> None:
    headers = {"Origin": "https://evil.example.com", "Access-Control-Request-Method": "POST"}
    for method in ("OPTIONS", "GET", "HEAD", "POST"):
        for path in ("/", "/api/2.2/jobs/list", "/api/2.2/jobs/runs/submit", "/api/2.0/secrets/get"):
            for token in (None, server.token):
                sent = {**headers, **({"Authorization": f"Bearer {token}"} if token else {})}
                answer = requests.request(method, server.host + path, headers=sent, data="{}", timeout=60)
                names = {name.lower() for name in answer.headers}
                assert not [name for name in names if name.startswith("access-control")]
                assert not names & {"set-cookie", "www-authenticate"}
                if token is None and path != "/":
                    assert answer.status_code == 401
    page = requests.get(f"{server.host}/", timeout=60)
    policy = page.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy


def test_no_route_answers_without_a_token(server: Server) -> None:
    statuses: dict[str, int] = {}
    for route in ROUTES:
        path = route.path.replace("{}", "x").replace("*", "x")
        if path in PUBLIC_PATHS:
            continue
        answer: Any = requests.request(route.method, server.host + path, json={}, timeout=60)
        statuses[f"{route.method} {path}"] = answer.status_code
    assert len(statuses) > 100
    # Links to results carry a signature instead of a token, and expire.
    links = {name for name in statuses if RESULTS_PATH in name}
    assert {name: status for name, status in statuses.items() if status != 401} == dict.fromkeys(links, 403)
    assert PUBLIC_PATHS == ("/.well-known/databricks-config", "/api/2.0/lakeward/upload-parts")


def test_principals_do_not_disturb_each_other(server: Server) -> None:
    """A service principal has no permission on clusters, upload handles and contexts of others."""
    body = {"application_id": "disturber", "lifetime_seconds": 600}
    robot = server.post("/api/2.0/token-management/on-behalf-of/tokens", body)["token_value"]
    handle = server.post("/api/2.0/dbfs/create", {"path": "/upload"})["handle"]
    own = {"Authorization": f"Bearer {robot}"}

    def status(path: str, body: dict[str, Any]) -> int:
        answer = requests.post(server.host + path, json=body, headers=own, timeout=120)
        return answer.status_code

    for verb in ("start", "restart", "delete", "permanent-delete", "edit", "resize", "pin", "unpin"):
        cluster = {"cluster_id": "lakeward-local", "spark_version": "16.4.x-scala2.12", "num_workers": 1}
        assert status(f"/api/2.1/clusters/{verb}", cluster) == 403, verb
    assert status("/api/2.0/dbfs/add-block", {"handle": handle, "data": "eA=="}) == 404
    assert status("/api/2.0/dbfs/close", {"handle": handle}) == 404
    server.post("/api/2.0/dbfs/add-block", {"handle": handle, "data": "eA=="})
    server.post("/api/2.0/dbfs/close", {"handle": handle})
    mine = requests.post(
        f"{server.host}/api/2.1/clusters/create",
        json={"spark_version": "16.4.x-scala2.12"},
        headers=own,
        timeout=120,
    ).json()["cluster_id"]
    assert status("/api/2.1/clusters/delete", {"cluster_id": mine}) == 200
    assert status("/api/2.1/clusters/permanent-delete", {"cluster_id": mine}) == 200


@pytest.mark.parametrize(
    "head",
    [
        "Content-Length: 2\r\nContent-Length: 3",
        "Content-Length: +2",
        "Transfer-Encoding: xchunked\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: gzip",
        "Transfer-Encoding: chunked\r\nContent-Length: 2",
        "Host: evil.example",
        "Authorization: Bearer another",
        "Content-Length: 99999999999999999999999",
    ],
)
def test_ambiguous_requests_are_refused(server: Server, head: str) -> None:
    """Two programs that read such a request differently would see different requests."""
    address = urlsplit(server.host)
    lines = ("POST /api/2.2/jobs/create HTTP/1.1", f"Host: {address.netloc}", head)
    authorized = f"Authorization: Bearer {server.token}"
    with socket.create_connection((address.hostname, address.port), timeout=60) as link:
        link.sendall("\r\n".join((*lines, authorized, "", "2\r\n{}\r\n0\r\n\r\n")).encode())
        assert link.recv(12) in (b"HTTP/1.1 400", b"HTTP/1.1 501")


def test_nothing_follows_a_body_of_two_lengths(server: Server) -> None:
    address = urlsplit(server.host)
    common = (f"Host: {address.netloc}", f"Authorization: Bearer {server.token}")
    first = (
        "POST /api/2.2/jobs/create HTTP/1.1",
        *common,
        "Content-Length: 5",
        "Transfer-Encoding: chunked",
        "",
        "0",
    )
    second = ("GET /api/2.2/jobs/list HTTP/1.1", *common, "", "")
    received = b""
    with socket.create_connection((address.hostname, address.port), timeout=60) as link:
        link.sendall("\r\n".join((*first, "", *second)).encode())
        while more := link.recv(2**16):
            received += more
    assert received.startswith(b"HTTP/1.1 400") and received.count(b"HTTP/1.1") == 1


@pytest.mark.parametrize("terminal", [True, False])
def test_the_token_is_printed_once_and_only_on_a_terminal(tmp_path: Path, terminal: bool) -> None:
    reading, writing = pty.openpty() if terminal else os.pipe()
    environ = {name: value for name, value in os.environ.items() if name != "LAKEWARD_HOME"}
    process = subprocess.Popen(
        [sys.executable, "-m", "lakeward", "workspace"],
        cwd=tmp_path,
        env=environ,
        stdout=writing,
        stderr=subprocess.DEVNULL,
    )
    os.close(writing)
    printed = b""
    end = time.monotonic() + 120
    try:
        while b"Ctrl-C" not in printed and time.monotonic() < end:
            if select.select([reading], [], [], 0.5)[0]:
                printed += os.read(reading, 4096)
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(60)
        os.close(reading)
    assert b"Ctrl-C" in printed
    file = tmp_path / ".lakeward" / "local" / "workspace" / "connection.json"
    token = re.search(r"dapi\w+", file.read_text())
    assert token is not None
    assert printed.decode().count(token[0]) == terminal
    assert (file.stat().st_mode | (tmp_path / ".lakeward" / "local").stat().st_mode) & 0o077 == 0
