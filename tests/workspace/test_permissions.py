"""Access control lists: of objects that exist, with one entry for each principal."""

from __future__ import annotations

import io
from typing import Any

import pytest

from lakeward.workspace.api.permission_kinds import KINDS
from lakeward.workspace.identifiers import LOCAL_CLUSTER, WAREHOUSE_ID
from tests.workspace.server import USER, Server

sdk = pytest.importorskip("databricks.sdk")
from databricks.sdk.service import iam, workspace  # noqa: E402

CLIENT = "http/permissions"
PATH = "/api/2.0/permissions"
LEVEL = iam.PermissionLevel


UNKNOWN = [
    (kind, key)
    for kind in KINDS
    for key in ("4711", "none", *(() if kind == "clusters" else (LOCAL_CLUSTER,)))
]


@pytest.mark.parametrize(("kind", "key"), UNKNOWN)
def test_an_unknown_object_has_no_list(server: Server, kind: str, key: str) -> None:
    entry = {"user_name": "bob", "permission_level": KINDS[kind].levels[0]}
    body = {"access_control_list": [entry]}
    for method, tail in (("GET", ""), ("GET", "/permissionLevels"), ("PUT", ""), ("PATCH", "")):
        answer = server.answer(method, f"{PATH}/{kind}/{key}{tail}", None if method == "GET" else body)
        assert (answer.status_code, answer.json()["error_code"]) == (404, "RESOURCE_DOES_NOT_EXIST")
        assert answer.json()["message"].endswith(f" {key} does not exist.")


def test_objects_of_the_workspace_have_lists_of_their_kind_alone(client: Any) -> None:
    home = f"/Users/{USER}"
    client.workspace.mkdirs(f"{home}/folder.py")
    client.workspace.upload(f"{home}/note", io.BytesIO(b"1"), language=workspace.Language.PYTHON)
    client.workspace.upload(f"{home}/plain.py", io.BytesIO(b"1"), format=workspace.ImportFormat.AUTO)
    kinds = {"folder.py": "directories", "note": "notebooks", "plain.py": "files"}
    for name, kind in kinds.items():
        key = str(client.workspace.get_status(f"{home}/{name}").object_id)
        assert client.permissions.get(kind, key).object_id == f"/{kind}/{key}"
        for other in {*kinds.values()} - {kind}:
            with pytest.raises(sdk.errors.NotFound):
                client.permissions.get(other, key)


@pytest.mark.parametrize("kind", ["warehouses", "sql/warehouses"])
def test_a_warehouse_has_one_list_under_both_names(server: Server, kind: str) -> None:
    path, other = f"{PATH}/{kind}/{WAREHOUSE_ID}", f"{PATH}/warehouses/{WAREHOUSE_ID}"
    entries = [{"user_name": name, "permission_level": "CAN_USE"} for name in ("bob", "eve")]
    for method, given in (("PUT", entries[:1]), ("PATCH", entries[1:])):
        assert server.answer(method, path, {"access_control_list": given}).status_code == 200
    listed = server.get(other)["access_control_list"]
    assert [each["user_name"] for each in listed] == ["bob", "eve"] and server.get(path) == server.get(other)
    assert server.get(f"{path}/permissionLevels") == server.get(f"{other}/permissionLevels")
    assert server.answer("GET", f"{PATH}/{kind}/none").status_code == 404


def test_the_tokens_of_the_workspace_have_a_list(client: Any) -> None:
    entry = iam.AccessControlRequest(group_name="users", permission_level=LEVEL.CAN_USE)
    listed = client.permissions.set("authorization", "tokens", access_control_list=[entry])
    assert [each.group_name for each in listed.access_control_list] == ["users"]


@pytest.mark.parametrize("turned", [False, True])
def test_a_principal_has_one_entry_with_its_strongest_level(client: Any, turned: bool) -> None:
    job_id = str(client.jobs.create(name="twice").job_id)
    given = [
        iam.AccessControlRequest(user_name=name, permission_level=level)
        for name, level in (
            ("bob", LEVEL.CAN_VIEW),
            ("bob", LEVEL.CAN_MANAGE_RUN),
            (USER, LEVEL.IS_OWNER),
            (USER, LEVEL.CAN_MANAGE),
        )
    ]
    for change in (client.permissions.set, client.permissions.update):
        listed = change("jobs", job_id, access_control_list=given[::-1] if turned else given)
        assert {
            each.user_name: [level.permission_level for level in each.all_permissions]
            for each in listed.access_control_list
        } == {"bob": [LEVEL.CAN_MANAGE_RUN], USER: [LEVEL.IS_OWNER]}
        assert len(listed.access_control_list) == 2


@pytest.mark.parametrize("method", ["PUT", "PATCH"])
def test_the_permissions_of_a_submitted_run_are_those_of_its_job(server: Server, method: str) -> None:
    """dbt sets them for each Python model."""
    file = server.file("/Workspace/code/submitted.py", "print(1)")
    task = {"task_key": "a", "spark_python_task": {"python_file": file}}
    run_id = server.post("/api/2.1/jobs/runs/submit", {"tasks": [task]})["run_id"]
    job_id = server.get("/api/2.1/jobs/runs/get", run_id=run_id)["job_id"]
    assert job_id == run_id
    owner = {"user_name": USER, "permission_level": "IS_OWNER"}
    entries = [*([owner] if method == "PUT" else []), {"user_name": "bob", "permission_level": "CAN_VIEW"}]
    assert server.get(f"{PATH}/jobs/{job_id}")["access_control_list"][0]["user_name"] == USER
    answer = server.answer(method, f"{PATH}/jobs/{job_id}", {"access_control_list": entries})
    assert answer.status_code == 200, answer.text
    listed = server.get(f"{PATH}/jobs/{job_id}")["access_control_list"]
    assert [each["user_name"] for each in listed] == [USER, "bob"]
    assert server.answer("GET", f"/api/2.1/jobs/get?job_id={job_id}").status_code == 400
    server.ended(run_id)
