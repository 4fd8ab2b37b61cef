"""What the pages request in addition to the platform's API, and the headers of their files."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import requests

from lakeward.streaming import query_file, request_file
from lakeward.workspace.http.page_files import PAGES
from tests.report.events import Events
from tests.workspace.server import Server, until

CLIENT = "http/pages"
STREAMS = "/api/2.0/lakeward/streams"
PROGRESS = {
    "batchId": 7,
    "numInputRows": 20,
    "batchDuration": 500,
    "timestamp": "2026-05-01T06:00:30.000Z",
    "eventTime": {"watermark": "2026-05-01T06:00:00.000Z"},
    "stateOperators": [{"numRowsTotal": 5, "numRowsDroppedByWatermark": 1}],
    "sources": [{"inputRowsPerSecond": 4.0, "processedRowsPerSecond": 40.0, "metrics": {}}],
}


def commit(log: Path, version: int, *actions: dict[str, Any]) -> None:
    log.mkdir(parents=True, exist_ok=True)
    (log / f"{version:020}.json").write_text("\n".join(map(json.dumps, actions)))


def table(server: Server, name: str) -> Path:
    """A managed table that only has a log."""
    log = server.state / "warehouse" / "main" / "shop" / name / "_delta_log"
    schema = json.dumps({"type": "struct", "fields": []})
    info = {"commitInfo": {"timestamp": 10, "operation": "CREATE TABLE"}}
    commit(log, 0, info, {"metaData": {"id": "1", "schemaString": schema, "partitionColumns": []}})
    return log


def test_the_report_of_a_pipeline_has_its_micro_batches(server: Server) -> None:
    pipeline = server.post("/api/2.0/pipelines", {"name": "reported"})["pipeline_id"]
    path = f"/api/2.0/lakeward/report/{pipeline}"
    assert server.get(path) == {"pipeline": "reported", "updates": [], "datasets": []}
    storage = server.state / "pipelines" / pipeline
    first = Events("one").define("main.shop.a").refresh("main.shop.a", 3)
    first.add("stream_progress", {"progress": PROGRESS}, "main.shop.a").end().store(storage)
    found = server.get(path)
    assert (found["pipeline"], [each["id"] for each in found["updates"]]) == ("reported", ["one"])
    [stream] = found["streams"]
    assert (stream["flow"], len(stream["batches"])) == ("main.shop.a", 1)
    assert stream["batches"][0] == {
        "batch": 7,
        "started": "2026-05-01T06:00:30.000Z",
        "seconds": 0.5,
        "rows": 20,
        "input_rate": 4.0,
        "processing_rate": 40.0,
        "backlog_files": None,
        "backlog_bytes": None,
        "state_rows": 5,
        "late_rows": 1,
        "watermark": "2026-05-01T06:00:00.000Z",
        "watermark_lag": 30.0,
    }
    # A later update is seen, though the report was built before.
    Events("two", day=1).define("main.shop.a").refresh("main.shop.a", 4).end().store(storage)
    assert [each["id"] for each in server.get(path)["updates"]] == ["two", "one"]


def test_pipelines_that_are_not_deployed_are_listed_and_shown(server: Server) -> None:
    deployed = server.post("/api/2.0/pipelines", {"name": "deployed"})["pipeline_id"]
    for name in (deployed, "of_the_command"):
        Events("u").define("c.s.a").refresh("c.s.a", 1).end().store(server.state / "pipelines" / name)
    names = [each["name"] for each in server.get("/api/2.0/lakeward/pipelines")["pipelines"]]
    assert "of_the_command" in names
    assert deployed not in names
    assert server.get("/api/2.0/lakeward/report/of_the_command")["updates"][0]["id"] == "u"


@pytest.mark.parametrize("name", ["..", ".", "%2e%2e", "..%2fjobs", "none", "x" * 5000, "<script>", "🚲"])
def test_reports_of_other_folders_are_refused(server: Server, name: str) -> None:
    answer = server.answer("GET", f"/api/2.0/lakeward/report/{name}")
    assert answer.status_code in (400, 404, 501), answer.text


def test_a_service_principal_sees_no_pipelines_of_the_command(server: Server) -> None:
    Events("u").end().store(server.state / "pipelines" / "private")
    body = {"application_id": "robot", "lifetime_seconds": 3600}
    robot = server.post("/api/2.0/token-management/on-behalf-of/tokens", body)["token_value"]
    listed = server.answer("GET", "/api/2.0/lakeward/pipelines", token=robot).json()
    assert listed == {"pipelines": []}
    assert server.answer("GET", "/api/2.0/lakeward/report/private", token=robot).status_code == 403


def test_the_history_of_a_table_is_newest_first_and_has_no_conditions(server: Server) -> None:
    log = table(server, "history")
    predicate = {"predicate": "[\"(secret = 'hunter22')\"]"}
    info = {"timestamp": 20, "operation": "DELETE", "operationParameters": predicate}
    commit(log, 1, {"commitInfo": {**info, "operationMetrics": {"numDeletedRows": "3"}}})
    commit(log, 2, {"add": {"path": "a"}}, {"commitInfo": {"inCommitTimestamp": 30, "timestamp": 99}})
    found = server.get("/api/2.0/lakeward/history/main.shop.history")
    assert found["omitted"] == 0
    assert [(each["version"], each["timestamp"], each["operation"]) for each in found["commits"]] == [
        (2, 30, None),
        (1, 20, "DELETE"),
        (0, 10, "CREATE TABLE"),
    ]
    assert found["commits"][1]["metrics"] == {"numDeletedRows": "3"}
    assert "hunter22" not in json.dumps(found)


def test_a_long_history_is_cut_and_a_damaged_commit_is_named(server: Server) -> None:
    log = table(server, "long")
    for version in range(1, 60):
        commit(log, version, {"commitInfo": {"timestamp": version, "operation": "WRITE"}})
    (log / f"{59:020}.json").write_text('{"commitInfo": {"op')
    found = server.get("/api/2.0/lakeward/history/main.shop.long")
    assert (len(found["commits"]), found["omitted"]) == (50, 10)
    assert found["commits"][0]["operation"] == "unreadable commit"


@pytest.mark.parametrize("name", ["main.shop", "main.shop.none", "main.shop.a.b", "..%2f.x.y", "a.b.%00"])
def test_a_history_needs_the_name_of_a_table(server: Server, name: str) -> None:
    assert server.answer("GET", f"/api/2.0/lakeward/history/{name}").status_code in (400, 404, 501)


def test_runs_are_listed_in_pages_of_the_newest_first(server: Server) -> None:
    job = server.job(only="print(1)")
    started = [server.run_now(job) for _ in range(3)]
    for run in started:
        server.ended(run)
    path = "/api/2.2/jobs/runs/list"
    first = server.get(path, job_id=job, limit=2)
    assert [run["run_id"] for run in first["runs"]] == started[:0:-1]
    assert first["has_more"] and first["next_page_token"].startswith("2.")
    second = server.get(path, job_id=job, limit=2, page_token=first["next_page_token"])
    assert [run["run_id"] for run in second["runs"]] == started[:1]
    assert (second["has_more"], second["prev_page_token"]) == (False, "0")
    # Exactly one full page is the last one.
    assert not server.get(path, job_id=job, limit=3)["has_more"]
    # A filter that is applied to the documents gives the same.
    same = server.get(path, job_id=job, limit=2, run_type="JOB_RUN")
    assert [run["run_id"] for run in same["runs"]] == started[:0:-1]


def test_files_of_the_pages_need_no_token_and_hold_no_data(server: Server) -> None:
    server.post("/api/2.0/secrets/scopes/create", {"scope": "scope-of-the-page"})
    server.job(task_of_the_page="print(1)")
    for path, (content, media_type) in PAGES.items():
        answer = requests.get(server.host + path, timeout=60)
        assert answer.status_code == 200
        assert answer.content == content
        assert answer.headers["Content-Type"].startswith(media_type)
        assert b"of-the-page" not in answer.content
        assert b"task_of_the_page" not in answer.content
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["Cross-Origin-Resource-Policy"] == "same-origin"
        policy = dict(part.split(" ", 1) for part in answer.headers["Content-Security-Policy"].split("; "))
        assert policy["default-src"] == "'none'"
        assert policy["script-src"] == "'self'"
        assert policy["connect-src"] == "'self'"
        assert policy["frame-ancestors"] == "'none'"
        assert server.answer("POST", path).status_code == 501
    for path in ("/ui/", "/ui/none.js", "/ui/../application.py", "/ui/%2e%2e/application.py"):
        assert requests.get(server.host + path, timeout=60).status_code == 401


def test_scripts_write_no_markup_and_load_nothing_from_elsewhere() -> None:
    """Names of users are text nodes; a browser proves it in test_page.py."""
    banned = re.compile(
        r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(|new Function|https?://(?!www\.w3\.org)"
    )
    for path, (content, _) in PAGES.items():
        assert not banned.search(content.decode()), path


WAITING = """
import time
while True: time.sleep(1)
"""


def test_streaming_queries_of_a_task_are_shown_and_changed(server: Server) -> None:
    """A task's file of queries is written by the task itself; here it is one that only waits."""
    job = server.job(only=WAITING)
    run = running_task(server, server.run_now(job))
    (task,) = run["tasks"]
    assert server.get(STREAMS, run_id=task["run_id"]) == {"active": False, "streams": []}
    file = query_file(server.state / "streams", str(run["run_id"]), task["task_key"])
    file.parent.mkdir(exist_ok=True)
    query = {"name": "<b>clicks</b>", "state": "RUNNING", "error": "", "batches": [PROGRESS]}
    file.write_text(json.dumps({"ended": False, "queries": [query]}))
    shown = server.get(STREAMS, run_id=task["run_id"])
    assert (shown["active"], shown["streams"][0]["name"]) == (True, "<b>clicks</b>")
    (batch,) = shown["streams"][0]["batches"]
    assert (batch["rows"], batch["input_rate"], batch["state_rows"], batch["watermark_lag"]) == (20, 4, 5, 30)

    change = {"run_id": task["run_id"], "query": 0, "action": "restart"}
    assert server.post(STREAMS, change) == {}
    assert request_file(file, 0, "restart").is_file()
    before = sorted(file.parent.iterdir())
    for wrong in (
        {"query": 1},
        {"query": -1},
        {"action": "pause"},
        {"action": "../stop"},
        {"action": "stop", "query": "x"},
    ):
        assert server.answer("POST", STREAMS, {**change, **wrong}).status_code == 400
    # No cookie and no form can do it: the token is in a header.
    for headers in ({"Authorization": ""}, {"Authorization": "Bearer wrong"}):
        answer = requests.post(server.host + STREAMS, json=change, headers=headers, timeout=30)
        assert answer.status_code in (401, 403)
    assert sorted(file.parent.iterdir()) == before
    file.write_text(json.dumps({"ended": True, "queries": [query]}))
    assert server.answer("POST", STREAMS, change).status_code == 400
    server.post("/api/2.2/jobs/runs/cancel", {"run_id": run["run_id"]})
    server.ended(run["run_id"])


def running_task(server: Server, run_id: int) -> dict[str, Any]:
    return dict(until(lambda: found if (found := server.run(run_id))["tasks"][0]["start_time"] else None))
