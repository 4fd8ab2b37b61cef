"""`update_mask` has one meaning in every route that takes one: AIP-161, which the API's pages cite."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from lakeward.workspace.identifiers import WAREHOUSE_ID
from tests.workspace.server import Server

ALERT = {
    "display_name": "late orders",
    "query_text": "SELECT 7 AS n",
    "warehouse_id": WAREHOUSE_ID,
    "evaluation": {
        "source": {"name": "n"},
        "comparison_operator": "GREATER_THAN",
        "threshold": {"value": {"double_value": 5}},
    },
    "schedule": {"quartz_cron_schedule": "0 0 8 * * ?", "timezone_id": "UTC"},
}
CLUSTER = {
    "spark_version": "17.3.x-scala2.13",
    "autoscale": {"min_workers": 2, "max_workers": 4},
    "aws_attributes": {"availability": "SPOT", "zone_id": "a"},
    "custom_tags": {"team": "x"},
}


class Updated:
    """The four resources whose update takes a mask: each method returns the status of the update."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.alert_id = server.post("/api/2.0/alerts", ALERT)["id"]
        self.query_id = server.post("/api/2.0/sql/queries", {"query": {"display_name": "q"}})["id"]
        self.cluster_id = server.post("/api/2.1/clusters/create", CLUSTER)["cluster_id"]
        self.token_id = server.post("/api/2.0/token/create", {"comment": "c"})["token_info"]["token_id"]

    def update(self, resource: str, mask: str, fields: dict[str, Any]) -> int:
        if resource == "alert":
            path = f"/api/2.0/alerts/{self.alert_id}?update_mask={mask}"
            return int(self.server.answer("PATCH", path, fields).status_code)
        if resource == "cluster":
            body = {"cluster_id": self.cluster_id, "cluster": fields, "update_mask": mask}
            return int(self.server.answer("POST", "/api/2.1/clusters/update", body).status_code)
        path = f"/api/2.0/token/{self.token_id}"
        if resource == "query":
            path = f"/api/2.0/sql/queries/{self.query_id}"
        return int(self.server.answer("PATCH", path, {resource: fields, "update_mask": mask}).status_code)

    def found(self, resource: str) -> Any:
        if resource == "cluster":
            return self.server.get("/api/2.1/clusters/get", cluster_id=self.cluster_id)
        return self.server.get(f"/api/2.0/alerts/{self.alert_id}")


@pytest.fixture(scope="module")
def updated(server: Server) -> Iterator[Updated]:
    made = Updated(server)
    yield made
    server.post("/api/2.1/clusters/permanent-delete", {"cluster_id": made.cluster_id})


@pytest.mark.parametrize(
    ("resource", "fields", "name"),
    [
        ("alert", ALERT, "query_text"),
        ("cluster", CLUSTER, "custom_tags"),
        ("query", {"query_text": "SELECT 1"}, "query_text"),
        ("token", {"comment": "new"}, "comment"),
    ],
)
def test_a_mask_is_names_of_fields_or_a_star_alone(
    updated: Updated, resource: str, fields: dict[str, Any], name: str
) -> None:
    statuses = {
        mask: updated.update(resource, mask, fields)
        for mask in (name, f"{name},{name}", "*", "", "no_field", f"{name}, {name}", f"{name},*", f"{name}.x")
    }
    assert list(statuses.values()) == [200] * 3 + [400] * 5, statuses


@pytest.mark.parametrize(
    ("resource", "fields", "mask", "expected"),
    [
        (
            "alert",
            {"evaluation": {"threshold": {"value": {"double_value": 9.0}}}},
            "evaluation.threshold",
            {"evaluation": {**ALERT["evaluation"], "threshold": {"value": {"double_value": 9.0}}}},  # type: ignore[dict-item]
        ),
        ("alert", {}, "schedule.pause_status", {"schedule": ALERT["schedule"]}),
        (
            "cluster",
            {"autoscale": {"max_workers": 8}},
            "autoscale.max_workers",
            {"autoscale": {"min_workers": 2, "max_workers": 8}},
        ),
        ("cluster", {}, "aws_attributes.zone_id", {"aws_attributes": {"availability": "SPOT"}}),
    ],
)
def test_a_dotted_name_sets_that_field_alone(
    updated: Updated, resource: str, fields: dict[str, Any], mask: str, expected: dict[str, Any]
) -> None:
    assert updated.update(resource, "*", ALERT if resource == "alert" else CLUSTER) == 200
    assert updated.update(resource, mask, fields) == 200
    found = updated.found(resource)
    if resource == "alert":
        found["evaluation"].pop("state")
    assert {name: found[name] for name in expected} == expected


@pytest.mark.parametrize(
    ("resource", "fields", "mask"),
    [
        ("alert", {"parameters": []}, "parameters.name"),
        ("alert", {"evaluation": {}}, "evaluation.source"),
        ("alert", {"evaluation": {}}, "evaluation.no_field"),
        ("cluster", {"custom_tags": {"team": "y"}}, "custom_tags.team"),
        ("cluster", {"autoscale": {"max_workers": 1}}, "autoscale.max_workers"),
        ("cluster", {"cluster_log_conf": {"dbfs": "x"}}, "cluster_log_conf.dbfs.destination"),
    ],
)
def test_elements_of_collections_and_wrong_results_are_refused(
    updated: Updated, resource: str, fields: dict[str, Any], mask: str
) -> None:
    before = updated.found(resource)
    assert updated.update(resource, mask, fields) == 400
    assert updated.found(resource) == before
