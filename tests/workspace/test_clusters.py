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


def test_the_local_cluster_answers_to_ids_of_the_platform_where_code_runs_on_them(client: Any) -> None:
    elsewhere = "0123-456789-abcdefgh"
    client.clusters.ensure_cluster_is_running(elsewhere)
    found = client.clusters.get(elsewhere)
    assert (found.cluster_id, found.state) == (elsewhere, compute.State.RUNNING)
    language = compute.Language.PYTHON
    context = client.command_execution.create_and_wait(cluster_id=elsewhere, language=language)
    client.command_execution.destroy(cluster_id=elsewhere, context_id=context.id)
    assert list(client.libraries.cluster_status(elsewhere)) == []
    assert elsewhere not in [each.cluster_id for each in client.clusters.list()]
    for change in (client.clusters.delete, client.clusters.restart, client.clusters.pin):
        with pytest.raises(sdk.errors.DatabricksError, match=f"Cluster {elsewhere} does not exist"):
            change(elsewhere)
    for other in ("none", "0123-456789-abc", "0123-456789-1a6e0000"):
        with pytest.raises(sdk.errors.DatabricksError, match=f"Cluster {other} does not exist"):
            client.clusters.get(other)


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
    ("create", {"spark_version": VERSION, "autoscale": {"min_workers": 5, "max_workers": 1}}),
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


# What is sent, after a fixed size and after a range -> the size that the cluster has.
SIZES = [
    ("resize", {"num_workers": 3}, (3, None)),
    (
        "resize",
        {"autoscale": {"min_workers": 1, "max_workers": 2}},
        (None, {"min_workers": 1, "max_workers": 2}),
    ),
    ("update", {"update_mask": "num_workers", "cluster": {"num_workers": 3}}, (3, None)),
    (
        "update",
        {"update_mask": "autoscale", "cluster": {"autoscale": {"min_workers": 1, "max_workers": 2}}},
        (None, {"min_workers": 1, "max_workers": 2}),
    ),
    ("update", {"update_mask": "cluster_name", "cluster": {"cluster_name": "x"}}, None),
]


@pytest.mark.parametrize("before", [{"num_workers": 1}, {"autoscale": {"min_workers": 3, "max_workers": 4}}])
@pytest.mark.parametrize(("request_name", "body", "size"), SIZES)
def test_a_cluster_has_a_fixed_size_or_a_range(
    server: Server, before: dict[str, Any], request_name: str, body: dict[str, Any], size: Any
) -> None:
    path = "/api/2.1/clusters"
    known = server.post(f"{path}/create", {"spark_version": VERSION, **before})
    server.post(f"{path}/{request_name}", {**known, **body})
    found = server.get(f"{path}/get", **known)
    expected = size or (before.get("num_workers"), before.get("autoscale"))
    assert (found.get("num_workers"), found.get("autoscale")) == expected
    server.post(f"{path}/permanent-delete", known)


def test_an_update_changes_a_field_within_a_field(client: Any) -> None:
    attributes = compute.AwsAttributes(zone_id="a", availability=compute.AwsAvailability.SPOT)
    made = client.clusters.create(spark_version=VERSION, num_workers=1, aws_attributes=attributes).result()
    other = compute.AwsAttributes(availability=compute.AwsAvailability.ON_DEMAND)
    change = compute.UpdateClusterResource(aws_attributes=other)
    updated = client.clusters.update(made.cluster_id, "aws_attributes.availability", cluster=change).result()
    assert updated.aws_attributes == compute.AwsAttributes(zone_id="a", availability=other.availability)
    client.clusters.permanent_delete(made.cluster_id)


def test_clusters_are_sorted_by_name(client: Any) -> None:
    made = [
        client.clusters.create(spark_version=VERSION, num_workers=1, cluster_name=name).cluster_id
        for name in ("b", "c", "A")
    ]
    fields, directions = compute.ListClustersSortByField, compute.ListClustersSortByDirection
    for direction, names in ((directions.ASC, ["A", "b", "c"]), (directions.DESC, ["c", "b", "A"])):
        order = compute.ListClustersSortBy(direction=direction, field=fields.CLUSTER_NAME)
        found = [each.cluster_name for each in client.clusters.list(sort_by=order)]
        assert [name for name in found if name in names] == names
    for cluster_id in made:
        client.clusters.permanent_delete(cluster_id)


def test_a_cluster_has_a_policy_that_exists(client: Any) -> None:
    policy = client.cluster_policies.create(name="of clusters", definition="{}").policy_id
    version = "17.3.x-scala2.13"
    made = client.clusters.create(spark_version=version, num_workers=1, policy_id=policy).result()
    assert made.policy_id == policy
    changes = (
        lambda: client.clusters.create(spark_version=version, num_workers=1, policy_id="none"),
        lambda: client.clusters.edit(made.cluster_id, version, num_workers=1, policy_id="none"),
        lambda: client.clusters.update(
            made.cluster_id, "policy_id", cluster=compute.UpdateClusterResource(policy_id="none")
        ),
    )
    for change in changes:
        with pytest.raises(sdk.errors.InvalidParameterValue, match="Cluster policy none does not exist"):
            change()
    assert client.clusters.get(made.cluster_id).policy_id == policy
    client.clusters.permanent_delete(made.cluster_id)
    client.cluster_policies.delete(policy)
