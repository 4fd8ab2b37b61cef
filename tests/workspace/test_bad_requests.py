"""Bad requests to all routes: an error with a code and a sentence, never a fault, and nothing half-stored."""

from __future__ import annotations

import http.client
import json
import os
import sqlite3
from urllib.parse import urlsplit

import pytest

from lakeward.workspace.http.route_table import ROUTES
from tests.workspace.bad_requests import BadRequest, bad_requests
from tests.workspace.server import Server

MOVING = ("run", "update", "statement", "event", "cluster_event", "command", "context")
"""Kinds of documents that processes change: only their number is compared."""


def ask(server: Server, link: http.client.HTTPConnection, request: BadRequest) -> tuple[int, bytes]:
    headers = {"Authorization": f"Bearer {server.token}"}
    link.request(request.route.method, request.url, request.body, headers)
    answer = link.getresponse()
    return answer.status, answer.read()


def stored(server: Server) -> dict[str, object]:
    """What the server keeps: its documents, and the names of files in the roots."""
    found: dict[str, object] = {}
    with sqlite3.connect(f"file:{server.state}/server/workspace.db?mode=ro", uri=True) as database:
        for kind, key, body in database.execute("SELECT kind, id, body FROM documents"):
            found[f"{kind} {key}"] = None if kind in MOVING else body
    database.close()
    for root in ("dbfs", "volumes", "workspace", "warehouse", "secrets", "uploads"):
        for folder, _, files in os.walk(server.state / root):
            found[folder] = sorted(files)
    return found


def prepared(server: Server) -> None:
    """Objects for the good values of requests."""
    for path, text in (
        ("workspace/Users/ada/file.txt", "x"),
        ("dbfs/mnt/own.txt", "x"),
        ("volumes/main/default/v/f", "x"),
    ):
        place = server.state / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    # What a workspace has from the start is made by the first request for it.
    for route in ROUTES:
        if route.method == "GET" and "{}" not in route.path and "*" not in route.path:
            server.answer("GET", f"{route.path}?path=/")
    server.answer("POST", "/api/2.0/secrets/scopes/create", {"scope": "good"})
    server.post("/api/2.0/secrets/put", {"scope": "good", "key": "k", "string_value": "v"})


def drive(server: Server, count: int, seed: int) -> None:
    prepared(server)
    link = http.client.HTTPConnection(urlsplit(server.host).netloc, timeout=120)
    before = stored(server)
    refused = 0
    for request in bad_requests(count, seed=seed):
        status, data = ask(server, link, request)
        if status < 400 or not request.writes:
            # What reading makes on first use (the cluster) is no change of the next write.
            before = stored(server)
        if status < 400:
            continue
        refused += 1
        assert status < 500 or status in (501, 507), (str(request), status, data, faults(server))
        if request.route.method != "HEAD":
            assert data.startswith(b"{"), (str(request), status, data)
            answer = json.loads(data)
            # Version 1.2 of the API has errors of a form of its own.
            code, sentence = answer.get("error_code"), answer.get("message", "")
            if request.route.path.startswith("/api/1.2/") and "error" in answer:
                code, sentence = "error", answer["error"]
            assert code and len(sentence) > 10, (str(request), answer)
            assert "Traceback" not in sentence, (str(request), answer)
        if request.writes:
            after = stored(server)
            changed = {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
            assert not changed, (str(request), data, changed)
    link.close()
    assert refused > count // 2
    assert server.process.poll() is None


def faults(server: Server) -> list[str]:
    lines = (server.state / "server" / "requests.jsonl").read_text().splitlines()
    return [line["fault"] for line in map(json.loads, lines) if "fault" in line][-3:]


def test_bad_requests_are_refused_with_a_reason_and_store_nothing(server: Server) -> None:
    drive(server, 500, seed=16)


@pytest.mark.slow
def test_ten_thousand_bad_requests_are_refused(server: Server) -> None:
    drive(server, 10_000, seed=17)
