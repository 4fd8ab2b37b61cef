"""Clusters through databricks-sdk, and through both versions of the API."""

from __future__ import annotations

from typing import Any

import pytest

from tests.workspace.server import Server

sdk = pytest.importorskip("databricks.sdk")
from databricks.sdk.service import compute  # noqa: E402

CLIENT = "http/clusters"
LOCAL = "lakeward-local"
VERSION = "17.3.x-scala2.13"


def refused(server: Server, path: str, body: Any = None, method: str = "POST") -> tuple[int, str]:
    answer = server.answer(method, path, body)
    return answer.status_code, answer.json()["error_code"]


def test_the_sdk_selects_a_runtime_and_a_node_type(client: Any) -> None:
    assert client.clusters.select_spark_version(long_term_support=True).endswith("-scala2.12")
    assert client.clusters.select_spark_version(latest=True, scala="2.13").endswith("-scala2.13")
    assert client.clusters.select_spark_version(spark_version="3.5.2") == "16.4.x-scala2.12"
    node = client.clusters.select_node_type(local_disk=True, min_memory_gb=16)
    nodes = {each.node_type_id: each for each in client.clusters.list_node_types().node_types}
    assert nodes[node].memory_mb >= 16 * 1024
    assert nodes["lakeward-local"].num_cores >= 1
    assert client.clusters.list_zones().default_zone == "local"


def test_one_cluster_is_running_from_the_start(client: Any) -> None:
    client.clusters.ensure_cluster_is_running(LOCAL)
    cluster = client.clusters.get(LOCAL)
    assert cluster.state == compute.State.RUNNING
    assert cluster.creator_user_name == "ada@example.com"
    kinds = [each.type for each in client.clusters.events(LOCAL, event_types=[compute.EventType.STARTING])]
    assert kinds == [compute.EventType.STARTING]


def test_the_sdk_waits_for_a_cluster_that_it_creates(client: Any) -> None:
    made = client.clusters.create_and_wait(
        spark_version=VERSION, cluster_name="mine", node_type_id="i3.xlarge", num_workers=1
    )
    assert (made.state, made.num_workers) == (compute.State.RUNNING, 1)
    ended = client.clusters.delete_and_wait(made.cluster_id)
    assert ended.state == compute.State.TERMINATED
    client.clusters.ensure_cluster_is_running(made.cluster_id)
    client.clusters.permanent_delete(made.cluster_id)
    with pytest.raises(sdk.errors.ResourceDoesNotExist, match=f"Cluster {made.cluster_id} does not exist"):
        client.clusters.get(made.cluster_id)


@pytest.mark.parametrize("version", ["2.0", "2.1"])
def test_a_cluster_goes_through_its_states(server: Server, version: str) -> None:
    path = f"/api/{version}/clusters"
    settings = {
        "spark_version": VERSION,
        "cluster_name": version,
        "num_workers": 0,
        "custom_tags": {"k": "v"},
    }
    cluster_id = server.post(f"{path}/create", settings)["cluster_id"]
    known = {"cluster_id": cluster_id}

    def cluster() -> Any:
        return server.get(f"{path}/get", **known)

    assert (cluster()["state"], cluster()["custom_tags"]) == ("RUNNING", {"k": "v"})
    assert refused(server, f"{path}/start", known) == (400, "INVALID_STATE")
    server.post(f"{path}/restart", known)
    server.post(f"{path}/resize", {**known, "num_workers": 3})
    assert cluster()["num_workers"] == 3
    server.post(f"{path}/edit", {**known, "spark_version": VERSION, "cluster_name": "other"})
    assert (cluster()["cluster_name"], cluster().get("custom_tags")) == ("other", None)
    change = {"cluster": {"autotermination_minutes": 20}, "update_mask": "autotermination_minutes"}
    server.post(f"{path}/update", {**known, **change})
    assert (cluster()["cluster_name"], cluster()["autotermination_minutes"]) == ("other", 20)
    server.post(f"{path}/pin", known)
    assert server.get(f"{path}/list")["clusters"][0]["cluster_id"] == cluster_id
    assert refused(server, f"{path}/permanent-delete", known) == (400, "INVALID_STATE")
    server.post(f"{path}/unpin", known)
    server.post(f"{path}/delete", known)
    assert cluster()["termination_reason"]["code"] == "USER_REQUEST"
    for call in ("restart", "resize"):
        assert refused(server, f"{path}/{call}", known) == (400, "INVALID_STATE")
    server.post(f"{path}/change-owner", {**known, "owner_username": "grace@example.com"})
    assert cluster()["creator_user_name"] == "grace@example.com"
    server.post(f"{path}/start", known)
    assert cluster()["state"] == "RUNNING"
    kinds = [each["type"] for each in server.post(f"{path}/events", {**known, "order": "ASC"})["events"]]
    assert kinds[:3] == ["CREATING", "STARTING", "RUNNING"] and kinds[-1] == "RUNNING"
    first = server.post(f"{path}/events", {**known, "limit": 2})
    following = server.post(f"{path}/events", first["next_page"])
    assert len(first["events"]) == 2 and first["events"] != following["events"]
    server.post(f"{path}/permanent-delete", known)
    assert refused(server, f"{path}/get?cluster_id={cluster_id}", method="GET") == (
        400,
        "INVALID_PARAMETER_VALUE",
    )
    for name in ("spark-versions", "list-node-types", "list-zones"):
        assert server.get(f"{path}/{name}")


def test_lists_are_filtered_and_come_in_pages(server: Server) -> None:
    made = [
        server.post("/api/2.1/clusters/create", {"spark_version": VERSION, "cluster_name": f"n{n}"})
        for n in range(3)
    ]
    server.post("/api/2.1/clusters/delete", made[0])
    states = {"filter_by.cluster_states": "TERMINATED"}
    found = server.get("/api/2.1/clusters/list", **states)["clusters"]
    assert [each["cluster_id"] for each in found] == [made[0]["cluster_id"]]
    page = server.get("/api/2.1/clusters/list", page_size=2)
    rest = server.get("/api/2.1/clusters/list", page_size=2, page_token=page["next_page_token"])
    assert len(page["clusters"]) == 2 and page["clusters"] != rest["clusters"]


BAD: list[tuple[str, Any]] = [
    ("create", {}),
    ("create", {"spark_version": "no"}),
    ("create", {"spark_version": 17}),
    ("create", {"spark_version": VERSION, "num_workers": "1"}),
    ("create", {"spark_version": VERSION, "num_workers": -1}),
    ("create", {"spark_version": VERSION, "node_type_id": "a/../b"}),
    ("create", {"spark_version": VERSION, "spark_conf": {"a": 1}}),
    ("get", {}),
    ("edit", {"cluster_id": LOCAL, "spark_version": VERSION}),
    ("update", {"cluster_id": LOCAL, "cluster": {}, "update_mask": "state"}),
    ("update", {"cluster_id": LOCAL, "cluster": [], "update_mask": "cluster_name"}),
    ("events", {"cluster_id": [LOCAL]}),
    ("events", {"cluster_id": LOCAL, "order": "UP"}),
    ("events", {"cluster_id": LOCAL, "limit": -1}),
    ("events", {"cluster_id": LOCAL, "page_token": "x"}),
    ("permanent-delete", {"cluster_id": LOCAL}),
    ("change-owner", {"cluster_id": LOCAL, "owner_username": "x"}),
]


@pytest.mark.parametrize(("call", "body"), BAD)
def test_wrong_requests_are_refused(server: Server, call: str, body: Any) -> None:
    method = "GET" if call == "get" else "POST"
    status, code = refused(server, f"/api/2.1/clusters/{call}", body, method)
    assert status == 400 and code in ("INVALID_PARAMETER_VALUE", "INVALID_STATE", "MALFORMED_REQUEST")
