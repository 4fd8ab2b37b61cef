"""Wrong and hostile requests, with nothing but an HTTP client."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import pytest
import requests

from lakeward.workspace.state.store import Store
from lakeward.workspace.state.tokens import Tokens
from tests.workspace.server import USER, Server, until

CLIENT = "http"


def refused(answer: requests.Response) -> tuple[int, str, str]:
    body = answer.json()
    return answer.status_code, body["error_code"], body["message"]


def test_without_a_token_nothing_is_answered_but_who_this_is(server: Server) -> None:
    facts = requests.get(f"{server.host}/.well-known/databricks-config", timeout=60)
    known = {"oidc_endpoint": f"{server.host}/oidc", "workspace_id": "1000000000000001"}
    assert facts.json() == {**known, "account_id": "00000000-0000-0000-0000-000000000000"}
    for header in ("", "Bearer", "Basic !!", "Negotiate x"):
        headers = {"Authorization": header} if header else {}
        answer = requests.get(f"{server.host}/api/2.0/token/list", headers=headers, timeout=60)
        assert refused(answer)[:2] == (401, "UNAUTHENTICATED")


@pytest.mark.parametrize(
    ("method", "path", "others"),
    [
        ("POST", "/api/2.0/sql/history/queries", ", which has GET of this path"),
        ("PATCH", "/api/2.0/lakeview/dashboards", ", which has GET, POST of this path"),
        ("GET", "/api/2.0/vector-search/indexes", ""),
    ],
)
def test_what_is_not_served_is_named_with_its_server(
    server: Server, method: str, path: str, others: str
) -> None:
    """Clients pass the message on: without the name of the server it would look like one of Databricks."""
    message = f"{method} {path} is not served here, by the local workspace of lakeward{others}."
    answer = refused(server.answer(method, path))
    assert answer == (501, "NOT_IMPLEMENTED", f"{message} Its routes are listed in docs/workspace.md.")


def test_permissions_of_an_unknown_warehouse_are_not_found(server: Server) -> None:
    answer = server.answer("GET", "/api/2.0/permissions/warehouses/none")
    assert refused(answer) == (404, "RESOURCE_DOES_NOT_EXIST", "SQL warehouse none does not exist.")


def test_an_abort_of_an_upload_needs_no_token(server: Server) -> None:
    link = server.post("/api/2.0/fs/create-abort-upload-url")["abort_upload_url"]["url"]
    assert requests.delete(link, timeout=60).status_code == 200


def test_a_wrong_and_an_expired_token_are_refused(server: Server) -> None:
    path = "/api/2.2/jobs/list"
    assert refused(server.answer("GET", path, token="dapi" + "0" * 64)) == (
        403,
        "PERMISSION_DENIED",
        "Invalid access token.",
    )
    made = server.post("/api/2.0/token/create", {"comment": "short", "lifetime_seconds": 86_400})
    store = Store(server.state / "server" / "workspace.db")
    token_id = made["token_info"]["token_id"]
    store.change("token", token_id, lambda body: body.update(expiry_time=1))
    store.close()
    # The server keeps tokens in memory: another one makes it look again.
    server.post("/api/2.0/token/create", {})
    assert "has expired" in refused(server.answer("GET", path, token=made["token_value"]))[2]


def test_a_password_of_the_user_token_is_a_token(server: Server) -> None:
    answer = requests.get(f"{server.host}/api/2.2/jobs/list", auth=("token", server.token), timeout=60)
    assert answer.json() == {"jobs": [], "has_more": False} or answer.json()["jobs"]
    assert requests.get(f"{server.host}/api/2.2/jobs/list", auth=("me", "x"), timeout=60).status_code == 401


def test_tokens_are_kept_as_hashes_and_files_are_for_their_owner(server: Server) -> None:
    kept = b"".join(file.read_bytes() for file in (server.state / "server").glob("workspace.db*"))
    assert server.token.encode() not in kept
    for file in ("workspace/connection.json", "server/workspace.db"):
        assert stat.S_IMODE((server.state / file).stat().st_mode) == 0o600
    assert stat.S_IMODE((server.state / "server").stat().st_mode) == 0o700


def test_a_token_is_compared_by_its_hash_alone(tmp_path: Path) -> None:
    store = Store(tmp_path / "db")
    tokens = Tokens(store)
    value, info = tokens.create("ada", "", 86_400)
    assert (tokens.owner_of(value) or {})["token_id"] == info["token_id"]
    assert tokens.owner_of(info["digest"]) is None
    tokens.revoke(info["token_id"])
    assert tokens.owner_of(value) is None
    store.close()


def test_a_body_that_is_no_json_object_is_malformed(server: Server) -> None:
    for data in ("{", "[1]", '"x"', "\xff"):
        answer = server.answer("POST", "/api/2.2/jobs/create", data=data.encode("latin-1"))
        assert refused(answer)[:2] == (400, "MALFORMED_REQUEST"), data
    answer = server.answer("POST", "/api/2.2/jobs/create", {"tasks": "all"})
    assert refused(answer)[:2] == (400, "MALFORMED_REQUEST")


@pytest.mark.parametrize(
    ("method", "path", "body", "message"),
    [
        ("GET", "/api/2.2/jobs/get?job_id=5", None, "Job 5 does not exist."),
        ("GET", "/api/2.2/jobs/get?job_id=x", None, "x is not the id of a job."),
        ("GET", "/api/2.2/jobs/get", None, "The parameter job_id is missing."),
        ("POST", "/api/2.2/jobs/run-now", {"job_id": 5}, "Job 5 does not exist."),
        ("GET", "/api/2.2/jobs/runs/get?run_id=5", None, "Run 5 does not exist."),
        ("GET", "/api/2.2/jobs/list?page_token=x", None, "The page token 'x' is not one of this server's."),
        ("GET", "/api/2.2/jobs/list?limit=-1", None, "limit cannot be '-1'."),
        ("POST", "/api/2.2/jobs/create", {"tasks": [{}]}, "Missing required field: settings.tasks.task_key"),
        (
            "POST",
            "/api/2.2/jobs/create",
            {"tasks": [{"task_key": "a", "depends_on": [{"task_key": "b"}]}]},
            "Invalid dependency graph, task 'a' depends on 'b', which does not exist.",
        ),
        (
            "POST",
            "/api/2.2/jobs/create",
            {"tasks": [{"task_key": "a"}, {"task_key": "a"}]},
            "Duplicate task_key 'a' in tasks.",
        ),
    ],
)
def test_a_request_that_cannot_be_executed_says_why(
    server: Server, method: str, path: str, body: Any, message: str
) -> None:
    assert refused(server.answer(method, path, body)) == (400, "INVALID_PARAMETER_VALUE", message)


@pytest.mark.parametrize(
    ("body", "status", "reason"),
    [
        ({"path": "/none/a", "content": ""}, 404, "The parent folder of (/none/a) does not exist."),
        ({"path": "/a", "language": "COBOL"}, 400, "'COBOL' is not a language of notebooks"),
        ({"path": "/a", "format": "DBC"}, 501, "DBC is not taken here"),
        ({"path": "/a", "content": "a"}, 400, "base64"),
        ({"path": "a", "content": ""}, 400, "must be absolute"),
    ],
)
def test_what_is_no_notebook_is_not_imported(
    server: Server, body: dict[str, str], status: int, reason: str
) -> None:
    code, _, message = refused(server.answer("POST", "/api/2.0/workspace/import", body))
    assert code == status and reason in message


@pytest.mark.parametrize(
    ("layout", "refusal"),
    [
        ("DBC", (501, "NOT_IMPLEMENTED")),
        ("R_MARKDOWN", (501, "NOT_IMPLEMENTED")),
        ("PDF", (400, "INVALID_PARAMETER_VALUE")),
    ],
)
def test_other_formats_are_not_exported(server: Server, layout: str, refusal: tuple[int, str]) -> None:
    answer = server.answer("GET", "/api/2.0/workspace/export", params={"path": "/Shared", "format": layout})
    assert refused(answer)[:2] == refusal


def test_an_unknown_route_is_501_with_a_line_in_the_log(server: Server) -> None:
    status, code, message = refused(server.answer("DELETE", "/api/2.0/moon/landing"))
    assert (status, code) == (501, "NOT_IMPLEMENTED")
    assert "DELETE /api/2.0/moon/landing" in message
    (line,) = [each for each in server.requests() if each["path"] == "/api/2.0/moon/landing"]
    assert (line["status"], line["route"], line["user"]) == (501, None, USER)


def test_another_host_name_is_refused(server: Server) -> None:
    answer = server.answer("GET", "/", headers={"Host": "evil.example.com"})
    assert refused(answer)[:2] == (403, "PERMISSION_DENIED")


@pytest.mark.slow
def test_a_body_that_is_too_large_is_refused_before_it_is_read(server: Server) -> None:
    headers = {"Content-Length": str(2**40)}
    for path in ("/api/2.2/jobs/create", "/api/2.0/workspace-files/import-file/x"):
        request = requests.Request(
            "POST", server.host + path, headers={"Authorization": f"Bearer {server.token}", **headers}
        ).prepare()
        request.headers.update(headers)
        with requests.Session() as session:
            assert refused(session.send(request, timeout=60))[:2] == (413, "REQUEST_TOO_LARGE")
    over = b"{" + b" " * (32 * 2**20) + b"}"
    answer = server.answer("POST", "/api/2.2/jobs/create", data=iter([over]))
    assert refused(answer)[0] == 413


@pytest.mark.parametrize(
    "path",
    [
        # Reading and looking only: were a check broken, nothing could be lost.
        "/api/2.0/workspace/export?path=/../secrets/x",
        "/api/2.0/workspace/export?path=/Workspace/../../../x",
        "/api/2.0/workspace/get-status?path=/..",
        "/api/2.0/workspace/get-status?path=/connection.json",
        "/api/2.0/workspace/export?path=/Workspace/connection.json",
        "/api/2.0/workspace/export?path=/Workspace/./a/../connection.json",
        "/api/2.0/fs/files/Volumes/..%2F..%2Fserver%2Fworkspace.db",
        "/api/2.0/fs/files/Volumes/c/s/v/..%2F..%2F..%2F..%2Fserver%2Fworkspace.db",
        "/api/2.0/dbfs/read?path=/../server/workspace.db",
        "/api/2.0/secrets/list?scope=../server",
        "/api/2.1/unity-catalog/schemas/..%2F..%2Fserver.x",
    ],
)
def test_no_path_leads_out(server: Server, path: str) -> None:
    answer = server.answer("GET", path)
    assert answer.status_code in (400, 404, 501), answer.text
    assert b"SQLite" not in answer.content


def test_the_log_holds_no_secret_and_no_token(server: Server) -> None:
    server.post("/api/2.0/secrets/scopes/create", {"scope": "quiet"})
    server.post("/api/2.0/secrets/put", {"scope": "quiet", "key": "k", "string_value": "never-logged"})
    server.get("/api/2.0/secrets/get", scope="quiet", key="k")
    for file in (server.state / "server").rglob("*"):
        if file.is_file():
            data = file.read_bytes()
            assert b"never-logged" not in data and server.token.encode() not in data, file
    last = server.requests()[-1]
    assert (last["path"], last["status"]) == ("/api/2.0/secrets/get", 200)
    assert {"time", "method", "ms", "agent"} <= set(last)


def test_a_secret_has_128_kilobytes_at_most(server: Server) -> None:
    server.post("/api/2.0/secrets/scopes/create", {"scope": "large"})
    body = {"scope": "large", "key": "k", "string_value": "x" * (128 * 1024 + 1)}
    assert refused(server.answer("POST", "/api/2.0/secrets/put", body))[1] == "MAX_SECRET_SIZE_EXCEEDED"


@pytest.mark.slow
def test_a_job_of_version_2_0_becomes_one_task(server: Server) -> None:
    path = server.file("/Workspace/old.py", "import sys; print(sys.argv[1:])")
    body = {
        "name": "old style",
        "spark_python_task": {"python_file": path, "parameters": ["a"]},
        "new_cluster": {"num_workers": 1},
    }
    job_id = server.post("/api/2.0/jobs/create", body)["job_id"]
    settings = server.get("/api/2.0/jobs/get", job_id=job_id)["settings"]
    assert [task["task_key"] for task in settings["tasks"]] == ["old_style"]
    run_id = server.post("/api/2.0/jobs/run-now", {"job_id": job_id, "python_params": ["b"]})["run_id"]
    run = server.ended(run_id)
    assert (run["state"]["result_state"], server.log_of(run)) == ("SUCCESS", "['b']\n")


def test_the_same_idempotency_token_is_the_same_run(server: Server) -> None:
    job_id = server.job(only="pass")
    first = server.run_now(job_id, idempotency_token="t")
    assert server.run_now(job_id, idempotency_token="t") == first
    server.ended(first)


@pytest.mark.slow
def test_runs_beyond_the_limit_wait_or_are_skipped(server: Server) -> None:
    job_id = server.job(only="import time; time.sleep(60)")
    first, second = server.run_now(job_id), server.run_now(job_id)
    assert server.run(second)["state"]["life_cycle_state"] == "SKIPPED"
    server.post("/api/2.2/jobs/update", {"job_id": job_id, "new_settings": {"queue": {"enabled": True}}})
    third, fourth = server.run_now(job_id), server.run_now(job_id)
    assert server.run(third)["state"]["life_cycle_state"] == "QUEUED"
    server.post("/api/2.2/jobs/runs/cancel", {"run_id": fourth})
    assert server.run(fourth)["state"]["result_state"] == "CANCELED"
    server.post("/api/2.2/jobs/runs/cancel", {"run_id": first})
    until(lambda: server.run(third)["state"]["life_cycle_state"] == "RUNNING")
    server.post("/api/2.2/jobs/runs/cancel-all", {"job_id": job_id})
    assert server.ended(third)["state"]["result_state"] == "CANCELED"


def test_an_active_run_is_not_deleted(server: Server) -> None:
    run_id = server.run_now(server.job(only="import time\ntime.sleep(60)\n"))
    answer = server.answer("POST", "/api/2.2/jobs/runs/delete", {"run_id": run_id})
    assert (answer.status_code, answer.json()["error_code"]) == (400, "INVALID_STATE")
    server.post("/api/2.2/jobs/runs/cancel", {"run_id": run_id})
    server.ended(run_id)
    server.post("/api/2.2/jobs/runs/delete", {"run_id": run_id})
    assert server.answer("GET", f"/api/2.2/jobs/runs/get?run_id={run_id}").status_code == 400


def test_the_page_loads_nothing_from_elsewhere(server: Server) -> None:
    answer = requests.get(server.host, timeout=60)
    assert answer.headers["content-type"].startswith("text/html")
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert "http://" not in answer.text.replace("http://www.w3.org/2000/svg", "")


def test_answers_say_which_workspace_they_are_from(server: Server) -> None:
    answer = server.answer("GET", "/api/2.0/preview/scim/v2/Me")
    assert answer.headers["X-Databricks-Org-Id"] == "1000000000000001"
    assert json.loads(answer.content)["userName"] == USER


@pytest.mark.slow
@pytest.mark.parametrize("version", ["2.0", "2.1", "2.2"])
def test_older_versions_of_the_jobs_api_lead_to_the_same_jobs(server: Server, version: str) -> None:
    jobs = f"/api/{version}/jobs"
    task = {"task_key": "a", "spark_python_task": {"python_file": "/Workspace/none.py"}}
    settings = {"name": "of old", "tasks": [task]}
    job_id = server.post(f"{jobs}/create", settings)["job_id"]
    server.post(f"{jobs}/update", {"job_id": job_id, "new_settings": {"name": "updated"}})
    server.post(f"{jobs}/reset", {"job_id": job_id, "new_settings": {**settings, "name": "reset"}})
    assert job_id in [job["job_id"] for job in server.get(f"{jobs}/list", name="reset")["jobs"]]
    run_id = server.post(f"{jobs}/run-now", {"job_id": job_id})["run_id"]
    server.post(f"{jobs}/runs/cancel", {"run_id": run_id})
    server.ended(run_id)
    server.post(f"{jobs}/runs/repair", {"run_id": run_id, "rerun_tasks": ["a"]})
    server.post(f"{jobs}/runs/cancel-all", {"job_id": job_id})
    server.ended(run_id)
    assert run_id in [run["run_id"] for run in server.get(f"{jobs}/runs/list", job_id=job_id)["runs"]]
    assert server.get(f"{jobs}/runs/get", run_id=run_id)["run_id"] == run_id
    assert server.get(f"{jobs}/runs/get-output", run_id=run_id)["logs"] is not None
    submitted = server.post(f"{jobs}/runs/submit", {"tasks": settings["tasks"]})["run_id"]
    server.ended(submitted)
    server.post(f"{jobs}/runs/delete", {"run_id": run_id})
    server.post(f"{jobs}/delete", {"job_id": job_id})


def test_a_pipeline_that_never_ran_has_no_graph(server: Server) -> None:
    pipeline = server.post("/api/2.0/pipelines", {"name": "undrawn"})["pipeline_id"]
    assert server.get(f"/api/2.0/lakeward/graph/{pipeline}") == {"datasets": []}


def test_a_log_is_followed_from_where_one_stood(server: Server) -> None:
    run = server.ended(server.run_now(server.job(only="print('one')\nprint('two')")))
    task = run["tasks"][0]["run_id"]
    first = server.get("/api/2.0/lakeward/logs", run_id=task)
    assert (first["text"], first["active"]) == ("one\ntwo\n", False)
    assert server.get("/api/2.0/lakeward/logs", run_id=task, offset=4)["text"] == "two\n"
