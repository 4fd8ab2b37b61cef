"""Lists that change while databricks-sdk reads them page by page."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest

from tests.workspace.server import Server
from tests.workspace.test_catalog_objects import write_table

sdk = pytest.importorskip("databricks.sdk")
from databricks.sdk.service import dashboards  # noqa: E402

NAMES = [f"n{number}" for number in range(7)]


def make_table(_: Any, server: Server, name: str) -> None:
    write_table(server.state / "warehouse" / "main" / "default", name)


def make_run(_: Any, server: Server, name: str) -> None:
    """Make a run that is skipped at once."""
    job = server.post("/api/2.2/jobs/create", {"name": name, "max_concurrent_runs": 0})
    server.post("/api/2.2/jobs/run-now", job)
    server.post("/api/2.2/jobs/delete", job)


# Kind -> how one is made, how all are listed in pages of two, how one is deleted, its name.
Case = tuple[
    Callable[[Any, Server, str], Any],
    Callable[[Any], Iterable[Any]],
    Callable[[Any, Any], Any],
    Callable[[Any], str],
]
LISTS: dict[str, Case] = {
    "jobs": (
        lambda client, _, name: client.jobs.create(name=name),
        lambda client: client.jobs.list(limit=2),
        lambda client, each: client.jobs.delete(each.job_id),
        lambda each: each.settings.name,
    ),
    "runs": (
        make_run,
        lambda client: client.jobs.list_runs(limit=2),
        lambda client, each: client.jobs.delete_run(each.run_id),
        lambda each: each.run_name,
    ),
    "pipelines": (
        lambda client, _, name: client.pipelines.create(name=name),
        lambda client: client.pipelines.list_pipelines(max_results=2),
        lambda client, each: client.pipelines.delete(each.pipeline_id),
        lambda each: each.name,
    ),
    "clusters": (
        lambda client, _, name: client.clusters.create(
            spark_version="17.3.x-scala2.13", num_workers=1, cluster_name=name
        ),
        lambda client: client.clusters.list(page_size=2),
        lambda client, each: each.cluster_name in NAMES and client.clusters.permanent_delete(each.cluster_id),
        lambda each: each.cluster_name,
    ),
    "tables": (
        make_table,
        lambda client: client.tables.list("main", "default", max_results=2),
        lambda client, each: client.tables.delete(each.full_name),
        lambda each: each.name,
    ),
    "schemas": (
        lambda client, _, name: client.schemas.create(name, "main"),
        lambda client: client.schemas.list("main", max_results=2),
        lambda client, each: (
            each.name in ("default", "information_schema") or client.schemas.delete(each.full_name)
        ),
        lambda each: each.name,
    ),
    "dashboards": (
        lambda client, _, name: client.lakeview.create(dashboards.Dashboard(display_name=name)),
        lambda client: client.lakeview.list(page_size=2),
        lambda client, each: client.lakeview.trash(each.dashboard_id),
        lambda each: each.display_name,
    ),
}


@pytest.mark.parametrize("kind", LISTS)
def test_what_is_listed_can_be_deleted_at_once(client: Any, server: Server, kind: str) -> None:
    """Pages by offset alone skipped as many items as were deleted meanwhile."""
    make, all_of, delete, name_of = LISTS[kind]
    client.workspace.mkdirs("/Users/ada@example.com")
    for name in NAMES:
        make(client, server, name)
    seen = []
    for each in all_of(client):
        seen.append(name_of(each))
        delete(client, each)
    assert sorted(set(seen) & set(NAMES)) == NAMES and len(seen) == len(set(seen))
    assert not {name_of(each) for each in all_of(client)} & set(NAMES)


def test_what_is_created_meanwhile_shifts_no_page(client: Any) -> None:
    for name in NAMES:
        client.jobs.create(name=name)
    seen = []
    for each in client.jobs.list(limit=2):
        seen.append(each.settings.name)
        client.jobs.create(name="later")
    assert seen == NAMES[::-1]


def test_a_page_is_found_after_its_first_item_was_deleted(server: Server) -> None:
    first = server.get("/api/2.2/jobs/list", limit=2)
    following = server.get("/api/2.2/jobs/list", limit=1, page_token=first["next_page_token"])
    [gone] = following["jobs"]
    server.post("/api/2.2/jobs/delete", {"job_id": gone["job_id"]})
    again = server.get("/api/2.2/jobs/list", limit=2, page_token=first["next_page_token"])
    assert again["jobs"] and gone["job_id"] not in [each["job_id"] for each in again["jobs"]]


@pytest.mark.parametrize("token", ["1.", "1.xyz", "1.0123456789ab.", "-1", "1" * 16])
def test_other_page_tokens_are_refused(server: Server, token: str) -> None:
    answer = server.answer("GET", "/api/2.2/jobs/list", params={"page_token": token})
    assert answer.status_code == 400


def test_events_that_occur_meanwhile_shift_no_page(client: Any, server: Server) -> None:
    cluster = client.clusters.create(spark_version="17.3.x-scala2.13", num_workers=1).cluster_id
    for _ in range(4):
        client.clusters.pin(cluster)
    path, body = "/api/2.0/clusters/events", {"cluster_id": cluster, "page_size": 2}
    wanted = server.post(path, {"cluster_id": cluster})["events"]
    seen, token = [], None
    while token != "":
        page = server.post(path, {**body, **({"page_token": token} if token else {})})
        seen += page["events"]
        token = page.get("next_page_token", "")
        client.clusters.unpin(cluster)
    assert seen == wanted and len(seen) == 7
    client.clusters.permanent_delete(cluster)
