"""Dashboards through databricks-sdk: drafts, published versions, the trash."""

from __future__ import annotations

from typing import Any

import pytest

from tests.workspace.server import USER, Server

sdk = pytest.importorskip("databricks.sdk")
from databricks.sdk.service import dashboards  # noqa: E402

CLIENT = "sdk/dashboards"
PATH = "/api/2.0/lakeview/dashboards"
CONTENT = '{"pages": [{"name": "first", "displayName": "First"}]}'


def test_a_draft_is_created_changed_published_and_moved_to_the_trash(client: Any) -> None:
    draft = dashboards.Dashboard(display_name="Quality", serialized_dashboard=CONTENT, warehouse_id="w")
    made = client.lakeview.create(draft)
    assert (made.path, made.parent_path) == (f"/Users/{USER}/Quality.lvdash.json", f"/Users/{USER}")
    assert made.lifecycle_state == dashboards.LifecycleState.ACTIVE
    assert client.lakeview.get(made.dashboard_id) == made
    listed = list(client.lakeview.list(page_size=1))
    assert [(each.dashboard_id, each.display_name) for each in listed] == [(made.dashboard_id, "Quality")]
    # As the SDK documents: lists have neither the content nor the path.
    assert (listed[0].serialized_dashboard, listed[0].path, listed[0].etag) == (None, None, None)

    with pytest.raises(sdk.errors.NotFound):
        client.lakeview.get_published(made.dashboard_id)
    published = client.lakeview.publish(made.dashboard_id, embed_credentials=True)
    assert (published.display_name, published.embed_credentials, published.warehouse_id) == (
        "Quality",
        True,
        "w",
    )
    changed = client.lakeview.update(made.dashboard_id, dashboards.Dashboard(display_name="Checks"))
    assert (changed.path, changed.serialized_dashboard) == (f"/Users/{USER}/Checks.lvdash.json", CONTENT)
    assert changed.etag != made.etag
    # The published version changes only when the draft is published again.
    assert client.lakeview.get_published(made.dashboard_id) == published
    client.lakeview.unpublish(made.dashboard_id)
    with pytest.raises(sdk.errors.NotFound):
        client.lakeview.get_published(made.dashboard_id)

    client.lakeview.trash(made.dashboard_id)
    assert client.lakeview.get(made.dashboard_id).lifecycle_state == dashboards.LifecycleState.TRASHED
    assert list(client.lakeview.list()) == []
    assert [each.dashboard_id for each in client.lakeview.list(show_trashed=True)] == [made.dashboard_id]
    with pytest.raises(sdk.errors.BadRequest):
        client.lakeview.publish(made.dashboard_id)


def test_a_change_of_an_older_version_is_refused(client: Any) -> None:
    made = client.lakeview.create(dashboards.Dashboard(display_name="Versions"))
    client.lakeview.update(made.dashboard_id, dashboards.Dashboard(warehouse_id="a", etag=made.etag))
    with pytest.raises(sdk.errors.ResourceConflict):
        client.lakeview.update(made.dashboard_id, dashboards.Dashboard(warehouse_id="b", etag=made.etag))
    assert client.lakeview.get(made.dashboard_id).warehouse_id == "a"


def test_a_folder_has_one_dashboard_of_a_name(client: Any) -> None:
    client.workspace.mkdirs("/Shared/boards")
    draft = dashboards.Dashboard(display_name="One", parent_path="/Workspace/Shared/boards")
    one = client.lakeview.create(draft)
    assert one.path == "/Shared/boards/One.lvdash.json"
    with pytest.raises(sdk.errors.ResourceAlreadyExists):
        client.lakeview.create(draft)
    other = client.lakeview.create(dashboards.Dashboard(display_name="Other", parent_path="/Shared/boards"))
    with pytest.raises(sdk.errors.ResourceAlreadyExists):
        client.lakeview.update(other.dashboard_id, dashboards.Dashboard(display_name="One"))
    client.lakeview.trash(one.dashboard_id)
    assert client.lakeview.create(draft).path == one.path


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({}, 400),
        ({"display_name": " "}, 400),
        ({"display_name": "a/b"}, 400),
        ({"display_name": 5}, 400),
        ({"display_name": "x" * 201}, 400),
        ({"display_name": "x", "serialized_dashboard": "[]"}, 400),
        ({"display_name": "x", "serialized_dashboard": "{"}, 400),
        ({"display_name": "x", "serialized_dashboard": {}}, 400),
        ({"display_name": "x", "parent_path": "/Users/missing"}, 404),
        ({"display_name": "x", "parent_path": "relative"}, 400),
    ],
)
def test_what_is_no_dashboard_is_refused_and_not_kept(server: Server, body: Any, status: int) -> None:
    before = server.get(PATH, show_trashed="true")
    answer = server.answer("POST", PATH, body)
    assert answer.status_code == status and answer.json()["message"]
    assert server.get(PATH, show_trashed="true") == before


def test_a_service_principal_needs_a_permission(client: Any, server: Server) -> None:
    made = client.lakeview.create(
        dashboards.Dashboard(display_name="Guarded", parent_path="/Users/../Shared")
    )
    assert made.path == "/Shared/Guarded.lvdash.json"
    body = {"application_id": "robot"}
    token = server.post("/api/2.0/token-management/on-behalf-of/tokens", body)["token_value"]

    def codes() -> list[int]:
        requests = (
            ("GET", "", None),
            ("PATCH", "", {"warehouse_id": "x"}),
            ("POST", "/published", {}),
            ("DELETE", "", None),
        )
        return [
            server.answer(method, f"{PATH}/{made.dashboard_id}{tail}", body, token=token).status_code
            for method, tail, body in requests
        ]

    assert codes() == [403, 403, 403, 403]
    assert server.answer("GET", PATH, token=token).json()["dashboards"] == []
    for level, expected in (("CAN_READ", [200, 403, 403, 403]), ("CAN_EDIT", [200, 200, 200, 403])):
        entry = {"service_principal_name": "robot", "permission_level": level}
        permissions = f"/api/2.0/permissions/dashboards/{made.dashboard_id}"
        assert server.answer("PATCH", permissions, {"access_control_list": [entry]}).status_code == 200
        assert codes() == expected


def test_a_dashboard_is_an_object_of_its_folder(client: Any) -> None:
    client.workspace.mkdirs("/Shared/shown/below")
    draft = dashboards.Dashboard(
        display_name="Seen", serialized_dashboard=CONTENT, parent_path="/Shared/shown"
    )
    made = client.lakeview.create(draft)
    path = "/Shared/shown/Seen.lvdash.json"
    listed = {each.path: each for each in client.workspace.list("/Workspace/Shared/shown/")}
    assert {each.object_type.value for each in listed.values()} == {"DIRECTORY", "DASHBOARD"}
    assert listed[path].resource_id == made.dashboard_id and listed[path].modified_at
    assert client.workspace.get_status(path) == listed[path] == next(iter(client.workspace.list(path)))
    assert path in [each.path for each in client.workspace.list("/Shared", recursive=True)]
    with client.workspace.download(path) as content:
        assert content.read().decode() == CONTENT
    client.lakeview.update(made.dashboard_id, dashboards.Dashboard(display_name="Other"))
    with pytest.raises(sdk.errors.NotFound):
        client.workspace.get_status(path)
    other = "/Workspace/Shared/shown/Other.lvdash.json"
    client.workspace.delete(other)
    assert client.lakeview.get(made.dashboard_id).lifecycle_state == dashboards.LifecycleState.TRASHED
    with pytest.raises(sdk.errors.NotFound):
        client.workspace.delete(other)


def test_a_folder_with_a_dashboard_is_not_empty(client: Any) -> None:
    client.workspace.mkdirs("/Shared/full/below")
    draft = dashboards.Dashboard(display_name="Kept", parent_path="/Shared/full/below")
    made = client.lakeview.create(draft)
    for folder in ("/Shared/full/below", "/Workspace/Shared/full"):
        with pytest.raises(sdk.errors.BadRequest, match="is not empty"):
            client.workspace.delete(folder)
    client.workspace.delete("/Shared/full", recursive=True)
    assert client.lakeview.get(made.dashboard_id).lifecycle_state == dashboards.LifecycleState.TRASHED


def test_a_dashboard_is_shown_to_its_readers(client: Any, server: Server) -> None:
    client.workspace.mkdirs("/Shared/hidden")
    made = client.lakeview.create(dashboards.Dashboard(display_name="H", parent_path="/Shared/hidden"))
    body = {"application_id": "reader"}
    token = server.post("/api/2.0/token-management/on-behalf-of/tokens", body)["token_value"]
    reader = sdk.WorkspaceClient(host=server.host, token=token)
    assert list(reader.workspace.list("/Shared/hidden")) == []
    entry = {"service_principal_name": "reader", "permission_level": "CAN_READ"}
    permissions = f"/api/2.0/permissions/dashboards/{made.dashboard_id}"
    assert server.answer("PATCH", permissions, {"access_control_list": [entry]}).status_code == 200
    assert [each.path for each in reader.workspace.list("/Shared/hidden")] == [made.path]
    with pytest.raises(sdk.errors.PermissionDenied, match="CAN_MANAGE"):
        reader.workspace.delete(made.path)
