"""Clients that change one object at the same time lose no change that was answered with 200."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import pytest
import requests

from lakeward.databricks_shims.local_workspace import ApiError, ApiRequest, exclusively, respond
from lakeward.dbutils import Environment
from lakeward.session import Settings
from lakeward.workspace.http.file_response import file_response
from lakeward.workspace.http.route_table import TABLE
from tests.workspace.server import Server

CLIENTS = 12
CHANGES = 60


def at_once(change: Callable[[int], int]) -> None:
    """Make all changes, from several clients."""
    with ThreadPoolExecutor(CLIENTS) as clients:
        assert set(clients.map(change, range(CHANGES))) == {200}


def test_a_handler_that_is_exclusive_runs_alone() -> None:
    """Without chance: the first handler is inside while the second one is called."""
    inside, leave, order = threading.Event(), threading.Event(), []  # type: ignore[var-annotated]

    @exclusively
    def first(_: Any) -> None:
        inside.set()
        assert leave.wait(60)
        order.append("first")

    @exclusively
    def second(_: Any) -> None:
        order.append("second")

    with ThreadPoolExecutor(2) as clients:
        one = clients.submit(first, None)
        assert inside.wait(60)
        other = clients.submit(second, None)
        leave.set()
        one.result(60), other.result(60)
    assert order == ["first", "second"]


def test_the_list_of_a_secret_scope(server: Server) -> None:
    server.post("/api/2.0/secrets/scopes/create", {"scope": "shared"})

    def change(number: int) -> int:
        body = {"scope": "shared", "principal": f"p{number}", "permission": "READ"}
        return server.answer("POST", "/api/2.0/secrets/acls/put", body).status_code

    at_once(change)
    items = server.get("/api/2.0/secrets/acls/list", scope="shared")["items"]
    assert len(items) == CHANGES + 1


def test_the_list_of_a_job(server: Server) -> None:
    path = f"/api/2.0/permissions/jobs/{server.job(only='pass')}"

    def change(number: int) -> int:
        entry = {"user_name": f"u{number}", "permission_level": "CAN_VIEW"}
        return server.answer("PATCH", path, {"access_control_list": [entry]}).status_code

    at_once(change)
    assert len(server.get(path)["access_control_list"]) == CHANGES + 1


def test_the_members_of_a_group(server: Server) -> None:
    groups = "/api/2.0/preview/scim/v2/Groups"
    group = server.post(groups, {"displayName": "shared"})["id"]
    users = [
        server.post("/api/2.0/preview/scim/v2/Users", {"userName": f"u{number}@example.com"})["id"]
        for number in range(CHANGES)
    ]

    def change(number: int) -> int:
        operation = {"op": "add", "value": {"members": [{"value": users[number]}]}}
        return server.answer("PATCH", f"{groups}/{group}", {"Operations": [operation]}).status_code

    at_once(change)
    assert len(server.get(f"{groups}/{group}")["members"]) == CHANGES


def test_a_scope_that_is_made_and_removed_is_there_or_not(server: Server) -> None:
    """No request meets a half-made or half-removed scope."""
    requests = (
        ("scopes/create", {"scope": "blinking"}),
        ("put", {"scope": "blinking", "key": "k", "string_value": "value"}),
        ("acls/put", {"scope": "blinking", "principal": "p", "permission": "READ"}),
        ("scopes/delete", {"scope": "blinking"}),
    )

    def change(number: int) -> str:
        path, body = requests[number % len(requests)]
        return str(server.answer("POST", f"/api/2.0/secrets/{path}", body).json().get("error_code"))

    with ThreadPoolExecutor(CLIENTS) as clients:
        codes = set(clients.map(change, range(4 * CHANGES)))
    assert codes <= {"None", "RESOURCE_ALREADY_EXISTS", "RESOURCE_DOES_NOT_EXIST"}


def test_a_run_is_repaired_once_at_a_time(server: Server) -> None:
    """The check is repeated on the run as it is when the repair is recorded."""
    from lakeward.workspace.api import run_submission

    with pytest.raises(ApiError, match="active"):
        run_submission._refuse_active({"state": {"life_cycle_state": "RUNNING"}})
    run_id = server.run_now(server.job(only="raise SystemExit(1)"))
    server.ended(run_id)
    body = {"run_id": run_id, "rerun_tasks": ["only"]}

    def repair(_: int) -> int:
        return server.answer("POST", "/api/2.2/jobs/runs/repair", body).status_code

    with ThreadPoolExecutor(CLIENTS) as clients:
        codes = list(clients.map(repair, range(CLIENTS)))
    assert codes.count(200) >= 1
    server.ended(run_id)
    shown = server.get("/api/2.2/jobs/runs/get", run_id=run_id, include_history="true")
    assert len(shown["repair_history"]) == 1 + codes.count(200)


OBJECTS: dict[str, tuple[str, dict[str, Any]]] = {
    "catalog": ("/api/2.1/unity-catalog/catalogs", {"name": "once"}),
    "schema": ("/api/2.1/unity-catalog/schemas", {"catalog_name": "main", "name": "once"}),
    "volume": (
        "/api/2.1/unity-catalog/volumes",
        {"catalog_name": "main", "schema_name": "default", "name": "once", "volume_type": "MANAGED"},
    ),
    "pipeline": ("/api/2.0/pipelines", {"name": "once"}),
    "policy": ("/api/2.0/policies/clusters/create", {"name": "once"}),
    "user": ("/api/2.0/preview/scim/v2/Users", {"userName": "once@example.com"}),
    "scope": ("/api/2.0/secrets/scopes/create", {"scope": "once"}),
    "repository": (
        "/api/2.0/repos",
        {"url": "https://example.com/a.git", "provider": "gitHub", "path": "/Repos/ada/once"},
    ),
}


@pytest.mark.parametrize("kind", OBJECTS)
def test_an_object_is_created_once(server: Server, kind: str) -> None:
    path, body = OBJECTS[kind]
    with ThreadPoolExecutor(CLIENTS) as clients:
        codes = list(clients.map(lambda _: server.answer("POST", path, body).status_code, range(CLIENTS)))
    assert codes.count(200) == 1
    assert set(codes) <= {200, 400, 409}


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/api/2.0/pipelines"),
        ("POST", "/api/2.0/pipelines/1/updates"),
        ("PUT", "/api/2.0/permissions/jobs/1"),
        ("PATCH", "/api/2.0/permissions/jobs/1"),
        ("POST", "/api/2.0/repos"),
        ("POST", "/api/2.0/secrets/scopes/create"),
        ("POST", "/api/2.0/secrets/scopes/delete"),
        ("POST", "/api/2.0/secrets/put"),
        ("POST", "/api/2.0/secrets/acls/put"),
        ("POST", "/api/2.0/secrets/acls/delete"),
        ("POST", "/api/2.0/preview/scim/v2/Users"),
        ("PATCH", "/api/2.0/preview/scim/v2/Groups/1"),
        ("POST", "/api/2.0/policies/clusters/create"),
        ("PATCH", "/api/2.1/unity-catalog/connections/1"),
    ],
)
def test_routes_that_check_before_they_write_are_exclusive(method: str, path: str) -> None:
    """The windows are too short for a test from outside: two updates of one pipeline, two equal names."""
    found = TABLE.find(method, path)
    assert found is not None
    code = getattr(found[0].handler, "__code__", None)
    assert code is not None and code.co_name == "run"


CREATIONS: dict[str, tuple[str, str, dict[str, Any], int]] = {
    "import-file": ("POST", "/api/2.0/workspace-files/import-file/Shared/lock{}?overwrite=false", {}, 409),
    "import": ("POST", "/api/2.0/workspace/import", {"path": "/Shared/i{}", "format": "AUTO"}, 400),
    "dbfs": ("POST", "/api/2.0/dbfs/put", {"path": "/lock{}", "contents": ""}, 400),
    "volume": ("PUT", "/api/2.0/fs/files/Volumes/main/default/locks/f{}?overwrite=false", {}, 409),
}


@pytest.mark.parametrize("name", CREATIONS)
def test_one_of_many_clients_creates_a_file(server: Server, name: str) -> None:
    """Deployments of a bundle exclude each other by a file that only one of them can create."""
    method, path, body, refused = CREATIONS[name]
    volume = {"catalog_name": "main", "schema_name": "default", "name": "locks", "volume_type": "MANAGED"}
    server.answer("POST", "/api/2.1/unity-catalog/volumes", volume)
    for turn in range(40):
        sent = {key: value.format(turn) for key, value in body.items()}

        def create(_: int, turn: int = turn, sent: dict[str, Any] = sent) -> int:
            url, token = server.host + path.format(turn), {"Authorization": f"Bearer {server.token}"}
            given = {"json": sent} if sent else {"data": b"x"}
            return requests.request(method, url, headers=token, timeout=60, **given).status_code  # type: ignore[arg-type]

        with ThreadPoolExecutor(CLIENTS) as clients:
            codes = sorted(clients.map(create, range(CLIENTS)))
        assert codes == [200] + [refused] * (CLIENTS - 1)


@pytest.mark.parametrize("content", [b"late", None])
def test_a_file_that_appears_while_another_is_written_is_kept(tmp_path: Path, content: bytes | None) -> None:
    """Without chance: the file comes after the handler has looked, and before the new content is complete."""
    place, received = tmp_path / "file", tmp_path / "received"
    place.write_bytes(b"first")
    received.write_bytes(b"late")
    call = ApiRequest(Environment(), received=received)
    with pytest.raises(ApiError, match="taken"):
        call.keep(place, content, conflict=ApiError(409, "ALREADY_EXISTS", "taken"))
    assert place.read_bytes() == b"first"
    assert {each.name for each in tmp_path.iterdir()} <= {"file", "received"}


def test_comment_and_owner_of_a_volume(server: Server) -> None:
    """Both are in one file."""
    volumes = "/api/2.1/unity-catalog/volumes"
    name = {"catalog_name": "main", "schema_name": "default", "name": "shared"}
    server.post(volumes, {**name, "volume_type": "MANAGED"})
    path = f"{volumes}/main.default.shared"

    def change(number: int) -> int:
        body = {"comment": f"c{number}"} if number % 2 else {"owner": f"o{number}"}
        return server.answer("PATCH", path, body).status_code

    for first in range(0, 40, 2):
        with ThreadPoolExecutor(2) as clients:
            assert set(clients.map(change, (first, first + 1))) == {200}
        found = server.get(path)
        assert (found["owner"], found["comment"]) == (f"o{first}", f"c{first + 1}")


def test_a_download_is_of_one_version_of_a_file(server: Server) -> None:
    """Its length was sent before its path was opened: a replacement in between broke the response."""
    volume = {"catalog_name": "main", "schema_name": "default", "name": "versions", "volume_type": "MANAGED"}
    server.post("/api/2.1/unity-catalog/volumes", volume)
    place = server.state / "volumes/main/default/versions/file"
    place.write_bytes(b"0")
    ended = threading.Event()

    def replace() -> None:
        number = 0
        while not ended.is_set():
            number += 1
            place.with_name("next").write_bytes(b"%d" % (number % 10) * (1, 300_000, 20, 90_000)[number % 4])
            place.with_name("next").replace(place)

    writer = threading.Thread(target=replace)
    writer.start()
    try:
        for _ in range(150):
            answer = server.answer("GET", "/api/2.0/fs/files/Volumes/main/default/versions/file")
            assert answer.status_code == 200 and len(set(answer.content)) == 1
            assert len(answer.content) == int(answer.headers["content-length"])
    finally:
        ended.set()
        writer.join()


def test_a_file_that_is_gone_when_it_is_sent_is_not_found(tmp_path: Path) -> None:
    headers = {"X-Databricks-Org-Id": "1", "Content-Length": "5"}
    os.mkfifo(tmp_path / "pipe")
    for name in ("missing", "pipe"):
        answer = file_response(tmp_path / name, 200, headers)
        assert answer.status_code == 404 and json.loads(answer.body)["error_code"] == "NOT_FOUND"


LISTS = {
    "volumes/main/default/v/changing": "/api/2.0/fs/directories/Volumes/main/default/v/changing",
    "dbfs/changing": "/api/2.0/dbfs/list?path=/changing",
    "workspace/Shared/changing": "/api/2.0/workspace/list?path=/Shared/changing",
}


@pytest.mark.parametrize("folder", LISTS)
def test_a_file_that_is_removed_meanwhile_is_left_out_of_a_list(
    tmp_path: Path, folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without chance: one file is removed when the list describes the one before it."""
    settings = Settings.here(tmp_path, environ={"USER": "ada"})
    place = settings.state / folder
    place.mkdir(parents=True)
    for name in ("a.txt", "b.txt", "c.txt"):
        (place / name).write_text("")
    stat = Path.stat

    def removing(path: Path, **options: Any) -> os.stat_result:
        if path.name == "b.txt" and options.get("follow_symlinks", True):
            (place / "b.txt").unlink(missing_ok=True)
        return stat(path, **options)

    monkeypatch.setattr(Path, "stat", removing)
    path, _, query = LISTS[folder].partition("?")
    environment = Environment(settings=lambda: settings)
    status, answer = respond(environment, "GET", path, dict(parse_qsl(query)), b"")
    assert status == 200
    (found,) = answer.values()
    assert [Path(each["path"]).name for each in found] == ["a.txt", "c.txt"]
