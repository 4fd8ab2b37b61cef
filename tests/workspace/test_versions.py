"""A route that is served in several versions of the API answers alike in each of them."""

from __future__ import annotations

import base64
import json
import re
import urllib.parse
from collections.abc import Callable
from functools import cached_property
from typing import Any

import pytest

from lakeward.workspace.http.route_table import ROUTES
from tests.workspace.server import Server

CLIENT = "http/versions"
CLUSTER = {"spark_version": "17.3.x-scala2.13", "cluster_name": "versions"}
CODE = {"python_file": "/Workspace/versions.py"}
TASK = {"task_key": "only", "spark_python_task": CODE}
OUTCOME = {
    "cells": [
        {"source": "print('é')", "outputs": [{"output_type": "stream", "name": "stdout", "text": "é\n"}]},
        {"source": "# text"},
        {"source": "1", "outputs": [{"output_type": "display_data", "data": {"text/plain": "1"}}]},
        {"source": "x", "outputs": [{"output_type": "error", "traceback": ["NameError: x"]}]},
    ]
}


def versions() -> dict[tuple[str, str], list[str]]:
    """Return the versions of each route that has more than one, by method and path."""
    found: dict[tuple[str, str], list[str]] = {}
    for route in ROUTES:
        parts = re.fullmatch(r"/api/(2\.\d)/(.*)", route.path)
        if parts:
            found.setdefault((route.method, parts[2]), []).append(parts[1])
    return {key: sorted(each) for key, each in found.items() if len(each) > 1}


VERSIONS = versions()


class Fixtures:
    """What requests name: jobs, runs and clusters, each made for one request."""

    def __init__(self, server: Server) -> None:
        self.server = server
        server.file("/Workspace/versions.py", "print(1)")
        self.run = server.ended(self.submitted())
        assert self.run["state"]["result_state"] == "SUCCESS", self.run["state"]

    def submitted(self, **task: Any) -> int:
        body = {"tasks": [{**TASK, **task}]}
        return int(self.server.post("/api/2.2/jobs/runs/submit", body)["run_id"])

    def job(self) -> dict[str, Any]:
        return {"job_id": self.server.post("/api/2.2/jobs/create", {"name": "v", "tasks": [TASK]})["job_id"]}

    def ended(self) -> dict[str, Any]:
        return {"run_id": self.run["run_id"]}

    def failed_run(self) -> dict[str, Any]:
        run = self.submitted(spark_python_task={"python_file": "/Workspace/none.py"})
        self.server.ended(run)
        return {"run_id": run, "rerun_all_failed_tasks": True}

    @cached_property
    def exported(self) -> dict[str, Any]:
        """Return a run whose notebook has an outcome; it needs no Spark, since the notebook is missing."""
        body = {"tasks": [{"task_key": "only", "notebook_task": {"notebook_path": "/Users/ada/none"}}]}
        run = self.server.post("/api/2.2/jobs/runs/submit", body)["run_id"]
        self.server.ended(run)
        folder = self.server.state / "server" / "runs" / str(run) / "0" / "notebooks" / "only"
        folder.mkdir(parents=True)
        (folder / "none.ipynb").write_text(json.dumps(OUTCOME))
        (folder / "none.html").write_text("<html><body>page</body></html>")
        return {"run_id": run}

    def cluster(self, *, running: bool = True) -> dict[str, Any]:
        known = {"cluster_id": self.server.post("/api/2.1/clusters/create", CLUSTER)["cluster_id"]}
        if not running:
            self.server.post("/api/2.1/clusters/delete", known)
        return known


REQUESTS: dict[str, Callable[[Fixtures], dict[str, Any]]] = {
    "jobs/create": lambda _: {"name": "v", "tasks": [TASK]},
    "jobs/get": Fixtures.job,
    "jobs/list": lambda _: {"limit": 1},
    "jobs/update": lambda make: {**make.job(), "new_settings": {"name": "w"}},
    "jobs/reset": lambda make: {**make.job(), "new_settings": {"name": "w", "tasks": [TASK]}},
    "jobs/delete": Fixtures.job,
    "jobs/run-now": Fixtures.job,
    "jobs/runs/submit": lambda _: {"run_name": "v", "tasks": [TASK]},
    "jobs/runs/get": Fixtures.ended,
    "jobs/runs/list": lambda _: {"limit": 1, "completed_only": "true"},
    "jobs/runs/get-output": lambda make: {"run_id": make.run["tasks"][0]["run_id"]},
    "jobs/runs/export": lambda make: make.exported,
    "jobs/runs/cancel": Fixtures.ended,
    "jobs/runs/cancel-all": Fixtures.job,
    "jobs/runs/repair": Fixtures.failed_run,
    "jobs/runs/delete": Fixtures.failed_run,
    "clusters/create": lambda _: CLUSTER,
    "clusters/get": Fixtures.cluster,
    "clusters/list": lambda _: {"page_size": 1},
    "clusters/edit": lambda make: {**make.cluster(), **CLUSTER, "num_workers": 2},
    "clusters/update": lambda make: {
        **make.cluster(),
        "cluster": {"num_workers": 3},
        "update_mask": "num_workers",
    },
    "clusters/resize": lambda make: {**make.cluster(), "num_workers": 2},
    "clusters/start": lambda make: make.cluster(running=False),
    "clusters/restart": Fixtures.cluster,
    "clusters/delete": Fixtures.cluster,
    "clusters/permanent-delete": lambda make: make.cluster(running=False),
    "clusters/pin": Fixtures.cluster,
    "clusters/unpin": Fixtures.cluster,
    "clusters/change-owner": lambda make: {**make.cluster(running=False), "owner_username": "eve@x.io"},
    "clusters/events": Fixtures.cluster,
    "clusters/spark-versions": lambda _: {},
    "clusters/list-node-types": lambda _: {},
    "clusters/list-zones": lambda _: {},
}


@pytest.fixture(scope="module")
def make(server: Server) -> Fixtures:
    return Fixtures(server)


def shape(value: Any) -> Any:
    """Return the names of the fields of an answer, without its values."""
    return {name: shape(each) for name, each in value.items()} if isinstance(value, dict) else type(value)


@pytest.mark.parametrize(("method", "path"), VERSIONS, ids=lambda each: str(each))
def test_each_version_answers_alike(server: Server, make: Fixtures, method: str, path: str) -> None:
    shapes = []
    for version in VERSIONS[method, path]:
        given = REQUESTS[path](make)
        options: Any = {"params": given} if method == "GET" else {"body": given}
        answer = server.answer(method, f"/api/{version}/{path}", **options)
        assert answer.status_code == 200, (version, answer.text)
        shapes.append(shape(answer.json()))
    assert shapes == [shapes[0]] * len(shapes)


def test_jobs_have_all_versions_and_clusters_two() -> None:
    for (_, path), served in VERSIONS.items():
        assert served == (["2.0", "2.1", "2.2"] if path.startswith("jobs/") else ["2.0", "2.1"])
    assert {path for _, path in VERSIONS} == set(REQUESTS)


def test_an_export_has_the_results_of_the_cells(server: Server, make: Fixtures) -> None:
    run = make.exported
    (view,) = server.get("/api/2.2/jobs/runs/export", **run)["views"]
    assert (view["name"], view["type"]) == ("none", "NOTEBOOK")
    assert view["content"].startswith("<html><body>page<script>")
    (model,) = re.findall(r"var __DATABRICKS_NOTEBOOK_MODEL = '(.*)';", view["content"])
    commands = json.loads(urllib.parse.unquote(base64.b64decode(model).decode()))["commands"]
    found = [[(each["type"], each["data"]) for each in command["results"]["data"]] for command in commands]
    assert found == [[("ansi", "é\n")], [], [("text", "1")], [("error", "NameError: x")]]
    assert [each["command"] for each in commands] == [cell["source"] for cell in OUTCOME["cells"]]
    assert server.get("/api/2.2/jobs/runs/export", **run, views_to_export="DASHBOARDS") == {}


@pytest.mark.parametrize(
    ("options", "code"),
    [({}, "INVALID_PARAMETER_VALUE"), ({"views_to_export": "NONE"}, "INVALID_PARAMETER_VALUE")],
)
def test_what_is_no_notebook_is_not_exported(
    server: Server, make: Fixtures, options: dict[str, str], code: str
) -> None:
    answer = server.answer("GET", "/api/2.2/jobs/runs/export", params={**make.ended(), **options})
    assert (answer.status_code, answer.json()["error_code"]) == (400, code)
