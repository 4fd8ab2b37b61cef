"""Limits of requests on a running server: paths, names of files, sizes, numbers, abandoned uploads."""

from __future__ import annotations

import base64
import http.client
import json
import os
import random
import resource
import stat
import time
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import pytest
import requests

from lakeward.databricks_shims.local_workspace.body import parse_body
from lakeward.session import Settings
from lakeward.workspace.http.route_table import ROUTES
from tests.spellings import Trap, spellings
from tests.workspace.server import Server

_VOLUME = {"catalog_name": "main", "schema_name": "default"}

MB = 2**20
PATHS = ("/dbfs/", "/fs/", "/workspace", "/unity-catalog/", "/secrets/", "/repos")


def refused(answer: requests.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["error_code"]


def test_no_spelling_leads_a_running_server_out_of_the_roots(server: Server) -> None:
    """Try spellings over HTTP on all routes; tests/databricks_shims tries more of them without a server."""
    trap = Trap(Settings.here(server.root, environ={"USER": "ada"}))
    link = http.client.HTTPConnection(urlsplit(server.host).netloc, timeout=120)
    headers = {"Authorization": f"Bearer {server.token}"}
    routes = [route for route in ROUTES if any(part in route.path for part in PATHS)]
    fields = ("path", "source_path", "destination_path", "catalog_name", "schema_name", "name", "new_name")
    chance, tried = random.Random(5), []
    for route in routes:
        for spelling in chance.sample(spellings(2000, seed=6), 8):
            name = quote(spelling.encode("utf-8", "surrogateescape"), safe=chance.choice(("", "/", "/:")))
            path = "/".join(name if part in ("{}", "*") else part for part in route.path.split("/"))
            if route.method in ("GET", "HEAD", "DELETE") or route.upload:
                path += "?" + "&".join(f"{field}={name}" for field in fields) + "&recursive=true&force=true"
                body = "x" if route.upload else None
            else:
                body = json.dumps({**dict.fromkeys(fields, spelling), "recursive": True, "overwrite": True})
            link.request(route.method, path, body, headers)
            answer = link.getresponse()
            data = answer.read()
            assert answer.status in (200, 400, 404, 409, 501), (route, spelling, data)
            assert not trap.reached(data), (route, spelling, data)
            tried.append(spelling)
    trap.check(tried)
    link.close()
    assert len(tried) > 400


def test_a_name_that_is_not_utf_8_is_listed(server: Server) -> None:
    for root, name in (("dbfs", b"l\xe4tin"), ("workspace", b"\xff.py"), ("volumes/main/default/v", b"\x80")):
        folder = os.fsencode(server.state / root / "names")
        os.makedirs(folder, exist_ok=True)
        Path(os.fsdecode(os.path.join(folder, name))).write_text("x")
    listed = server.get("/api/2.0/dbfs/list?path=/names")["files"]
    assert [each["path"] for each in listed] == ["/names/l\ufffdtin"]
    listed = server.get("/api/2.0/workspace/list?path=/names")["objects"]
    assert [each["path"] for each in listed] == ["/names/\ufffd.py"]
    listed = server.get("/api/2.0/fs/directories/Volumes/main/default/v/names")["contents"]
    assert [each["name"] for each in listed] == ["\ufffd"]


@pytest.mark.parametrize("name", ["/x\udc80", "/x\0y", "/" + "n" * 256, "/" + "d/" * 2100])
@pytest.mark.parametrize("route", ["/api/2.0/dbfs/mkdirs", "/api/2.0/workspace/mkdirs"])
def test_a_name_that_no_file_may_have_is_refused(server: Server, route: str, name: str) -> None:
    answer = server.answer("POST", route, data=json.dumps({"path": name}))
    assert answer.status_code == 400
    assert answer.json()["error_code"] in ("INVALID_PARAMETER_VALUE", "MALFORMED_REQUEST")


def test_a_link_to_nothing_or_out_of_the_root_is_in_no_listing(server: Server) -> None:
    folder = server.state / "dbfs" / "links"
    folder.mkdir(parents=True)
    (folder / "file").write_text("x")
    (folder / "nowhere").symlink_to(folder / "none")
    (folder / "out").symlink_to("/etc")
    (folder / "inside").symlink_to(folder / "file")
    listed = server.get("/api/2.0/dbfs/list?path=/links")["files"]
    assert [each["path"] for each in listed] == ["/links/file", "/links/inside"]
    assert refused(server.answer("GET", "/api/2.0/dbfs/list?path=/links/out")) == (
        400,
        "INVALID_PARAMETER_VALUE",
    )


def test_roots_are_not_removed(server: Server) -> None:
    for path in ("/", "/Volumes", "//", "dbfs:/", "/a/.."):
        answer = server.answer("POST", "/api/2.0/dbfs/delete", {"path": path, "recursive": True})
        assert answer.status_code == 400, path
    server.post("/api/2.1/unity-catalog/volumes", {**_VOLUME, "name": "kept", "volume_type": "MANAGED"})
    server.post("/api/2.0/dbfs/put", {"path": "/Volumes/main/default/kept/f", "contents": "eA=="})
    for path in ("/Volumes/main", "/Volumes/main/default", "/Volumes/main/default/kept"):
        move = {"source_path": path, "destination_path": "/a"}
        for route, body in (("delete", {"path": path, "recursive": True}), ("move", move)):
            assert server.answer("POST", f"/api/2.0/dbfs/{route}", body).status_code == 400, (route, path)
        assert server.answer("DELETE", f"/api/2.0/fs/directories{path}").status_code == 400
    assert server.get("/api/2.0/dbfs/read?path=/Volumes/main/default/kept/f")["data"] == "eA=="
    for path in ("/", "/Workspace", "/Workspace/"):
        answer = server.answer("POST", "/api/2.0/workspace/delete", {"path": path, "recursive": True})
        assert answer.status_code == 400, path
    assert server.connection()["token"] == server.token


@pytest.mark.parametrize(
    ("path", "status"), [("/Volumes/f", 400), ("/Volumes/main/f", 400), ("/Volumes/main/nowhere/v/f", 404)]
)
def test_files_of_volumes_need_a_volume(server: Server, path: str, status: int) -> None:
    server.post("/api/2.0/dbfs/put", {"path": "/source", "contents": "eA==", "overwrite": True})
    for route, body in (
        ("put", {"path": path, "contents": "eA=="}),
        ("create", {"path": path}),
        ("mkdirs", {"path": path}),
        ("move", {"source_path": "/source", "destination_path": path}),
    ):
        assert server.answer("POST", f"/api/2.0/dbfs/{route}", body).status_code == status, route
    assert not (server.state / path.lower().lstrip("/")).exists()


def test_what_is_not_a_regular_file_blocks_no_request(server: Server) -> None:
    """Opening a named pipe waits for its other end, and would occupy the threads of all requests."""
    for root in ("dbfs", "workspace"):
        os.mkfifo(server.state / root / "pipe.py")
    assert server.answer("GET", "/api/2.0/dbfs/read?path=/pipe.py").status_code == 400
    for query in ("path=/pipe.py", "path=/pipe.py&format=HTML", "path=/pipe.py&direct_download=true"):
        assert server.answer("GET", f"/api/2.0/workspace/export?{query}").status_code == 400
    assert "/pipe.py" in str(server.get("/api/2.0/workspace/list?path=/"))
    server.post("/api/2.0/workspace/delete", {"path": "/pipe.py"})


def test_patterns_and_filters_of_requests_take_linear_time(server: Server) -> None:
    (server.state / "warehouse/main/default" / ("a" * 200) / "_delta_log").mkdir(parents=True)
    blanks = "level = 'INFO'" + " " * 40_000 + "level = 'INFO'"
    pipeline = server.post("/api/2.0/pipelines", {"name": "filters"})["pipeline_id"]
    before = cpu_seconds(server)
    pattern = {"catalog_name": "main", "schema_name": "default", "table_name_pattern": "%a" * 60 + "b"}
    assert not server.get("/api/2.1/unity-catalog/tables", **pattern).get("tables")
    server.answer("GET", f"/api/2.0/pipelines/{pipeline}/events", params={"filter": blanks})
    # Some milliseconds; a quadratic search of the filter takes a minute. Processor time, not that of a clock.
    assert cpu_seconds(server) - before < 5


@pytest.mark.parametrize(
    "path", ["/connection.json", "/CONNECTION.JSON", "/Workspace/Connection.json", "/x/../connection.json"]
)
def test_the_connection_file_is_no_file_of_the_workspace(server: Server, path: str) -> None:
    for method, route, query in (
        ("GET", "workspace/export", f"?path={path}"),
        ("GET", "workspace/get-status", f"?path={path}"),
        ("POST", f"workspace-files/import-file{path}", "?overwrite=true"),
    ):
        assert server.answer(method, f"/api/2.0/{route}{query}").status_code in (400, 404)
    for route in ("workspace/delete", "workspace/import"):
        assert server.answer("POST", f"/api/2.0/{route}", {"path": path, "overwrite": True}).status_code in (
            400,
            404,
        )
    assert server.connection()["token"] == server.token


def test_dbfs_reads_a_megabyte_at_most(server: Server) -> None:
    file = server.state / "dbfs" / "large"
    file.parent.mkdir(exist_ok=True)
    with file.open("wb") as stream:
        stream.truncate(400 * MB)
    path = "/api/2.0/dbfs/read?path=/large"
    assert server.get(path, length=MB)["bytes_read"] == MB
    assert server.get(path)["bytes_read"] == MB // 2
    before = memory(server)
    for length in (MB + 1, 400 * MB, 2**62):
        assert refused(server.answer("GET", f"{path}&length={length}")) == (400, "MAX_READ_SIZE_EXCEEDED")
    assert refused(server.answer("GET", f"{path}&length=-1")) == (400, "INVALID_PARAMETER_VALUE")
    assert refused(server.answer("GET", "/api/2.0/dbfs/read?path=/")) == (400, "INVALID_PARAMETER_VALUE")
    assert memory(server) - before < 50 * MB


def cpu_seconds(server: Server) -> float:
    """Processor time that the server has used; 0 where the system does not show it."""
    stat = Path(f"/proc/{server.process.pid}/stat")
    if not stat.exists():
        return 0.0
    fields = stat.read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory(server: Server) -> int:
    """Bytes that the server has had at most."""
    status = Path(f"/proc/{server.process.pid}/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    peak = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
    return int(peak.split()[1]) * 1024


def test_dbfs_takes_blocks_of_a_megabyte_at_most(server: Server) -> None:
    handle = server.post("/api/2.0/dbfs/create", {"path": "/blocks"})["handle"]
    largest = base64.b64encode(b"x" * MB).decode()
    server.post("/api/2.0/dbfs/add-block", {"handle": handle, "data": largest})
    more = base64.b64encode(b"x" * (MB + 1)).decode()
    for route, body in (
        ("add-block", {"handle": handle, "data": more}),
        ("put", {"path": "/p", "contents": more}),
    ):
        assert refused(server.answer("POST", f"/api/2.0/dbfs/{route}", body)) == (
            400,
            "MAX_BLOCK_SIZE_EXCEEDED",
        )
    server.post("/api/2.0/dbfs/close", {"handle": handle})
    assert server.get("/api/2.0/dbfs/get-status?path=/blocks")["file_size"] == MB
    assert not (server.state / "dbfs" / "p").exists()


def test_an_upload_that_is_never_closed_is_removed(server: Server) -> None:
    handle = server.post("/api/2.0/dbfs/create", {"path": "/never"})["handle"]
    uploads = server.state / "uploads"
    assert stat.S_IMODE(uploads.stat().st_mode) == 0o700
    past = time.time() - 601
    os.utime(uploads / f"{handle}.blocks", (past, past))
    body = {"handle": handle, "data": ""}
    assert refused(server.answer("POST", "/api/2.0/dbfs/add-block", body)) == (404, "RESOURCE_DOES_NOT_EXIST")
    assert not list(uploads.glob(f"{handle}.*"))


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ('{"tags": ' + '{"a":' * 70 + "1" + "}" * 71, "64 levels"),
        ('{"tags": ' + "[" * 100_000, "64 levels"),
        ('{"timeout_seconds": 1e999}', "timeout_seconds"),
        ('{"timeout_seconds": NaN}', "timeout_seconds"),
        ('{"max_concurrent_runs": 9223372036854775808}', "max_concurrent_runs"),
        ('{"name": "\\ud800"}', "surrogate"),
        ('{"tasks": "all"}', "tasks: expected a list of objects, found a string"),
        ('{"tasks": ["a"]}', "tasks: expected a list of objects, found a list with a string"),
        ('{"schedule": "0 0 12 * * ?"}', "schedule: expected an object"),
        ('{"tasks": [{"task_key": "a", "depends_on": ["b"]}]}', "tasks.depends_on"),
        ('{"tags": ["a"]}', "tags"),
    ],
)
def test_a_malformed_body_is_refused_with_its_field(server: Server, body: str, named: str) -> None:
    answer = server.answer("POST", "/api/2.2/jobs/create", data=body)
    assert refused(answer) == (400, "MALFORMED_REQUEST")
    assert named in answer.json()["message"]


def test_names_of_the_users_are_not_looked_into(server: Server) -> None:
    tags: dict[str, Any] = {"tasks": "all", "schedule": "daily", "path": "x"}
    job = server.post("/api/2.2/jobs/create", {"name": "tagged", "tags": tags})
    assert server.get("/api/2.2/jobs/get", job_id=job["job_id"])["settings"]["tags"] == tags


def test_errors_of_the_disk_name_no_folder_of_this_machine(server: Server) -> None:
    server.post("/api/2.0/dbfs/mkdirs", {"path": "/mnt/a/b"})
    body = {"source_path": "/mnt/a", "destination_path": "/mnt/a/b/c"}
    answer = server.answer("POST", "/api/2.0/dbfs/move", body)
    assert refused(answer) == (400, "IO_ERROR")
    assert "dbfs:/mnt/a" in answer.text and str(server.root) not in answer.text


def test_a_file_of_blocks_replaces_nothing_and_lands_nowhere_else(server: Server) -> None:
    """Between create and close of a handle, a file, a folder or no volume can come to its path."""
    server.post("/api/2.1/unity-catalog/volumes", {**_VOLUME, "name": "brief", "volume_type": "MANAGED"})
    paths = ("/late/file", "/late/folder", "/Volumes/main/default/brief/f", "/late/over")
    handles = {
        path: server.post("/api/2.0/dbfs/create", {"path": path, "overwrite": path == "/late/over"})["handle"]
        for path in paths
    }
    for handle in handles.values():
        server.post("/api/2.0/dbfs/add-block", {"handle": handle, "data": "bmV3"})
    for path in ("/late/file", "/late/over"):
        server.post("/api/2.0/dbfs/put", {"path": path, "contents": "b2xk"})
    server.post("/api/2.0/dbfs/mkdirs", {"path": "/late/folder"})
    server.answer("DELETE", "/api/2.1/unity-catalog/volumes/main.default.brief")
    codes = [
        server.answer("POST", "/api/2.0/dbfs/close", {"handle": handle}).status_code
        for handle in handles.values()
    ]
    assert codes == [400, 400, 404, 200]
    assert server.get("/api/2.0/dbfs/read?path=/late/file")["data"] == "b2xk"
    assert server.get("/api/2.0/dbfs/read?path=/late/over")["data"] == "bmV3"
    assert server.get("/api/2.0/dbfs/list?path=/late/folder") == {"files": []}
    assert not (server.state / "volumes/main/default/brief").exists()


def test_folders_that_no_client_can_name_are_in_no_list_of_the_catalog(server: Server) -> None:
    """Code makes folders of any name; one of them must not end the list for all others."""
    server.post("/api/2.1/unity-catalog/volumes", {**_VOLUME, "name": "named", "volume_type": "MANAGED"})
    for name in ("with blank", ".hidden", "a.b", "tab\t"):
        (server.state / "volumes/main/default" / name).mkdir(parents=True)
        (server.state / "warehouse/main" / name).mkdir(parents=True)
        (server.state / "warehouse" / name / "default").mkdir(parents=True)
    uc = "/api/2.1/unity-catalog"
    volumes = server.get(f"{uc}/volumes", **_VOLUME)["volumes"]
    assert "named" in {each["name"] for each in volumes}
    lists = (
        volumes,
        server.get(f"{uc}/schemas?catalog_name=main")["schemas"],
        server.get(f"{uc}/catalogs")["catalogs"],
    )
    for found in lists:
        assert not {"with blank", ".hidden", "a.b", "tab\t"} & {each["name"] for each in found}


@pytest.mark.parametrize("value", ["1", "[]", "{}", '""', '"a,b"'])
def test_a_body_of_many_values_takes_little_memory(server: Server, value: str) -> None:
    before = memory(server)
    body = '{"a": [' + f"{value}," * (20 * MB // (len(value) + 1)) + "0]}"
    answer = server.answer("POST", "/api/2.0/sql/statements", data=body)
    assert refused(answer) == (400, "MALFORMED_REQUEST")
    assert "500,000 values" in answer.json()["message"]
    # The body itself is in memory some times; its values took twenty times its size.
    assert memory(server) - before < 300 * MB


@pytest.mark.parametrize("text", ["[{," * 300_000, '\\"' * 300_000, "\\" * 300_000])
def test_signs_in_a_long_text_are_no_values(text: str) -> None:
    assert parse_body(json.dumps({"statement": text}).encode()) == {"statement": text}


def test_a_form_of_many_parts_is_refused(server: Server) -> None:
    answer = server.answer("POST", "/api/2.0/dbfs/put", data=b"--\r\n" + b"--" * MB)
    assert refused(answer) == (400, "MALFORMED_REQUEST")


def test_a_volume_is_created_whole_and_once_in_any_case_of_letters(server: Server) -> None:
    create = "/api/2.1/unity-catalog/volumes"
    server.post(create, {**_VOLUME, "name": "cases", "volume_type": "MANAGED"})
    body = {**_VOLUME, "name": "Cases", "volume_type": "MANAGED"}
    assert refused(server.answer("POST", create, body)) == (409, "RESOURCE_ALREADY_EXISTS")
    # The file of its description has a longer name than the disk takes.
    assert server.answer("POST", create, {**body, "name": "n" * 255}).status_code == 400
    names = [each["name"] for each in server.get(create, **_VOLUME)["volumes"]]
    assert "cases" in names and not {"Cases", "n" * 255} & set(names)


def test_a_named_pipe_as_a_log_blocks_no_run_statement_or_context(server: Server) -> None:
    """Opening it to write waits for a reader: a run never ended, and no context could be created."""
    code = """
import os, pathlib
(log,) = pathlib.Path(%r).glob("server/runs/*/*/")
os.mkfifo(log / "task-only.log")
print("to the pipe", flush=True)
"""
    run_id = server.run_now(server.job(only=code % str(server.state)))
    assert server.ended(run_id)["state"]["result_state"] == "SUCCESS"
    (pipe,) = (server.state / "server" / "runs").glob("*/*/task-only.log")
    assert pipe.is_fifo()
    for name in ("commands.log", "warehouse.log"):
        (server.state / "server" / name).unlink(missing_ok=True)
        os.mkfifo(server.state / "server" / name)
    context = {"clusterId": "lakeward-local", "language": "python"}
    for _ in range(2):
        assert server.answer("POST", "/api/1.2/contexts/create", context).status_code == 400
    warehouse = server.get("/api/2.0/sql/warehouses")["warehouses"][0]["id"]
    order = {"statement": "select 1", "warehouse_id": warehouse, "wait_timeout": "30s"}
    answer = server.answer("POST", "/api/2.0/sql/statements", order)
    assert answer.status_code == 400 or answer.json()["status"]["state"] == "FAILED", answer.text
    for name in ("commands.log", "warehouse.log"):
        (server.state / "server" / name).unlink()
