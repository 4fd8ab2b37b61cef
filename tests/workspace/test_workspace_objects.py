"""Workspace objects, DBFS, secrets and tokens: content and paths that the platform refuses, and filters."""

from __future__ import annotations

import base64
import io
import json
from typing import Any

import pytest

from tests.workspace.server import Server

sdk = pytest.importorskip("databricks.sdk")
from databricks.sdk.service import workspace  # noqa: E402

CLIENT = "http/objects"
NOT_BASE64 = ("***", "aGVsbG8", "aGVsb G8=x")
PATHS: dict[str, tuple[str, dict[str, Any], str]] = {
    "import": ("/api/2.0/workspace/import", {"path": "/Shared/bad", "format": "AUTO"}, "content"),
    "put": ("/api/2.0/dbfs/put", {"path": "/tmp/bad"}, "contents"),
    "secret": ("/api/2.0/secrets/put", {"scope": "objects", "key": "bad"}, "bytes_value"),
}


@pytest.fixture(scope="module", autouse=True)
def scope(server: Server) -> None:
    server.post("/api/2.0/secrets/scopes/create", {"scope": "objects"})


@pytest.mark.parametrize("text", NOT_BASE64)
@pytest.mark.parametrize("name", PATHS)
def test_content_that_is_not_base64_is_refused(server: Server, name: str, text: str) -> None:
    path, body, field = PATHS[name]
    answer = server.answer("POST", path, {**body, field: text})
    assert (answer.status_code, answer.json()["error_code"]) == (400, "INVALID_PARAMETER_VALUE")
    assert field in answer.json()["message"] and not list(server.state.rglob("bad"))


def test_base64_may_have_line_breaks(server: Server) -> None:
    content = base64.encodebytes(bytes(range(100))).decode()
    server.post("/api/2.0/dbfs/put", {"path": "/tmp/lines", "contents": content, "overwrite": True})
    assert (server.state / "dbfs" / "tmp" / "lines").read_bytes() == bytes(range(100))


@pytest.mark.parametrize("content", [b"no", b"[]", b"{}", json.dumps({"cells": 1}).encode()])
def test_what_is_no_notebook_is_refused(client: Any, server: Server, content: bytes) -> None:
    with pytest.raises(sdk.errors.InvalidParameterValue, match="Jupyter"):
        client.workspace.import_(
            "/Shared/bad_notebook",
            content=base64.b64encode(content).decode(),
            format=workspace.ImportFormat.JUPYTER,
        )
    assert not list(server.state.rglob("bad_notebook*"))


def test_files_and_folders_do_not_replace_each_other(client: Any) -> None:
    client.workspace.mkdirs("/Shared/folder")
    auto = workspace.ImportFormat.AUTO
    client.workspace.upload("/Shared/file.txt", io.BytesIO(b"x"), format=auto)
    with pytest.raises(sdk.errors.ResourceAlreadyExists):
        client.workspace.upload("/Shared/folder", io.BytesIO(b"x"), format=auto, overwrite=True)
    for path in ("/Shared/file.txt", "/Shared/file.txt/below", "/Shared/file.txt/far/below"):
        with pytest.raises(sdk.errors.ResourceAlreadyExists, match=r"file\.txt"):
            client.workspace.mkdirs(path)


@pytest.mark.parametrize("path", ["/Users", "/Workspace/Users", "/Shared/", "/Repos"])
def test_folders_of_the_workspace_stay(client: Any, path: str) -> None:
    with pytest.raises(sdk.errors.BadRequest, match="is protected"):
        client.workspace.delete(path, recursive=True)
    assert client.workspace.get_status("/Users").object_type == workspace.ObjectType.DIRECTORY


def test_a_list_has_notebooks_that_changed_since(client: Any) -> None:
    client.workspace.mkdirs("/Shared/listed")
    source = workspace.ImportFormat.SOURCE
    language = workspace.Language.PYTHON
    client.workspace.upload("/Shared/listed/note", io.BytesIO(b"1"), format=source, language=language)
    client.workspace.upload("/Shared/listed/plain.txt", io.BytesIO(b"1"), format=workspace.ImportFormat.AUTO)
    changed = client.workspace.get_status("/Shared/listed/note").modified_at

    def names(since: int) -> list[str]:
        found = client.workspace.list("/Shared/listed", notebooks_modified_after=since)
        return [each.path.rpartition("/")[2] for each in found]

    assert names(changed - 1) == ["note", "plain.txt"] and names(changed) == ["plain.txt"]


@pytest.mark.parametrize("given", [{}, {"string_value": "a", "bytes_value": "YQ=="}])
def test_a_secret_has_one_value(server: Server, given: dict[str, str]) -> None:
    answer = server.answer("POST", "/api/2.0/secrets/put", {"scope": "objects", "key": "k", **given})
    assert answer.status_code == 400 and "Exactly one" in answer.json()["message"]
    assert server.get("/api/2.0/secrets/list", scope="objects").get("secrets", []) == []


def test_a_scope_is_managed_by_its_creator_or_by_all_users(client: Any) -> None:
    with pytest.raises(sdk.errors.InvalidParameterValue, match="users"):
        client.secrets.create_scope("of_bob", initial_manage_principal="bob")
    assert "of_bob" not in [each.name for each in client.secrets.list_scopes()]
    client.secrets.create_scope("of_all", initial_manage_principal="users")
    assert client.secrets.get_acl("of_all", "users").permission == workspace.AclPermission.MANAGE


def test_an_administrator_manages_tokens_of_all(client: Any, server: Server) -> None:
    made = client.token_management.create_obo_token("robot", comment="c", lifetime_seconds=60)
    token_id = made.token_info.token_id
    path = "/api/2.0/token-management/tokens"
    assert server.get(f"{path}/{token_id}")["token_info"]["comment"] == "c"
    found = server.get(path, created_by_username="robot")["token_infos"]
    assert [each["token_id"] for each in found] == [token_id] and "digest" not in found[0]
    [listed] = client.token_management.list(created_by_id=found[0]["created_by_id"])
    assert listed.created_by_username == "robot"
    assert len(server.get(path)["token_infos"]) > 1
    assert server.answer("GET", path, token=made.token_value).status_code == 403
    mask = {"update_mask": "comment"}
    changed = server.answer("PATCH", f"{path}/{token_id}", {"token": {"comment": "d"}, **mask}).json()
    assert changed == server.get(f"{path}/{token_id}")["token_info"] and changed["comment"] == "d"
    assert server.answer("DELETE", f"{path}/{token_id}").status_code == 200
    assert server.answer("GET", f"{path}/{token_id}").status_code == 404
    assert server.answer("GET", "/api/2.2/jobs/list", token=made.token_value).status_code == 403


def test_a_user_changes_the_comment_of_a_token(client: Any, server: Server) -> None:
    token_id = client.tokens.create(comment="old", lifetime_seconds=60).token_info.token_id
    path, mask = f"/api/2.0/token/{token_id}", {"update_mask": "comment"}
    body = {"token": {"comment": "new"}, **mask}
    assert server.answer("PATCH", path, body).json() == {}
    assert {each.token_id: each.comment for each in client.tokens.list()}[token_id] == "new"
    assert server.answer("PATCH", path, {**body, "update_mask": "scopes"}).status_code == 501
    for wrong in ({}, {"token": {}}, {**body, "update_mask": "expiry_time"}, {**body, "token": "new"}):
        assert server.answer("PATCH", path, wrong).status_code == 400
    robot = client.token_management.create_obo_token("robot", lifetime_seconds=60).token_value
    assert server.answer("PATCH", path, body, token=robot).status_code == 404
