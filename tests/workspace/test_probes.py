"""Fields and folders that clients rely on from their first request."""

from __future__ import annotations

import io
from typing import Any

import pytest

from tests.workspace.server import USER, Server

sdk = pytest.importorskip("databricks.sdk")


def test_the_root_has_the_standard_folders(client: Any) -> None:
    assert {each.path for each in client.workspace.list("/")} >= {"/Shared", "/Users", "/Repos"}
    assert client.workspace.get_status(f"/Users/{USER}").object_type.value == "DIRECTORY"


def test_objects_have_times_and_a_lasting_id(client: Any) -> None:
    path = f"/Users/{USER}/notebook"
    client.workspace.upload(path, io.BytesIO(b"print(1)"), language=sdk.service.workspace.Language.PYTHON)
    before = client.workspace.get_status(path)
    assert before.created_at and before.modified_at >= before.created_at
    assert before.resource_id == str(before.object_id)
    client.workspace.upload(
        path, io.BytesIO(b"print(2)"), language=sdk.service.workspace.Language.PYTHON, overwrite=True
    )
    after = client.workspace.get_status(path)
    assert (after.object_id, after.path) == (before.object_id, path)
    listed = {each.path: each for each in client.workspace.list(f"/Users/{USER}")}
    assert listed[path] == after
    assert client.workspace.get_status(f"/Workspace{path}").object_id == after.object_id


def test_the_root_of_dbfs_is_listed_on_a_fresh_target(client: Any) -> None:
    assert {each.path for each in client.dbfs.list("/")} >= {"/FileStore", "/tmp", "/user"}


@pytest.mark.parametrize("target", ["file", "folder"])
def test_a_move_onto_what_exists_is_refused(server: Server, target: str) -> None:
    server.post("/api/2.0/dbfs/put", {"path": f"/move/{target}/a", "contents": "YQ=="})
    server.post("/api/2.0/dbfs/put", {"path": f"/onto/{target}/b", "contents": "Yg=="})
    there = f"/onto/{target}/b" if target == "file" else f"/onto/{target}"
    body = {"source_path": f"/move/{target}/a", "destination_path": there}
    answer = server.answer("POST", "/api/2.0/dbfs/move", body)
    assert (answer.status_code, answer.json()["error_code"]) == (400, "RESOURCE_ALREADY_EXISTS")
    assert server.get(f"/api/2.0/dbfs/get-status?path=/move/{target}/a")["file_size"] == 1
