"""A deployment gives resources the workspace's ids of those that they refer to, in any order of the file."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from lakeward.bundle import deploy, destroy, load
from lakeward.cli.workspace_client import WorkspaceApi
from tests.workspace.server import Server

# Each runs the next; the text has an id inside of a longer one.
JOBS = {
    "first": "{run_job_task: {job_id: '${resources.jobs.second.id}'}, task_key: t}",
    "second": "{run_job_task: {job_id: '${resources.jobs.third.job_id}'}, task_key: t}",
    "third": "{spark_python_task: {python_file: /a.py}, task_key: t, existing_cluster_id: c}",
}
FORMS = {"${resources.jobs.third.id}": "third", "${resources.pipelines.p.id}": "p"}


def deployed(server: Server, folder: Path, order: tuple[str, ...], text: str = "") -> Any:
    settings = "name: {0}, description: 'see {1}'"
    jobs = "".join(
        f"    {key}: {{{settings.format(key, text or key)}, tasks: [{JOBS[key]}]}}\n" for key in order
    )
    pipeline = "  pipelines: {p: {name: p, libraries: [{file: {path: /p.py}}]}}\n"
    (folder / "databricks.yml").write_text(f"bundle: {{name: b}}\nresources:\n{pipeline}  jobs:\n{jobs}")
    bundle = load(folder, environ={})
    api = WorkspaceApi(server.host, server.connection()["token"])
    deploy(bundle, api, {}, user=api.user)
    again = deploy(bundle, api, {}, user=api.user)
    assert (again.created, again.updated) == ((), ())
    found = {each["settings"]["name"]: each for each in server.get("/api/2.2/jobs/list")["jobs"]}
    found = {name: server.get("/api/2.2/jobs/get", job_id=each["job_id"]) for name, each in found.items()}
    pipelines = server.get("/api/2.0/pipelines")["statuses"]
    destroy(bundle, api)
    return found, {each["name"]: each["pipeline_id"] for each in pipelines}


@pytest.mark.parametrize("order", list(permutations(JOBS)), ids=",".join)
def test_jobs_that_run_jobs_name_them_by_their_ids(
    server: Server, tmp_path: Path, order: tuple[str, ...]
) -> None:
    jobs, _ = deployed(server, tmp_path, order)
    for outer, inner in (("first", "second"), ("second", "third")):
        (task,) = jobs[outer]["settings"]["tasks"]
        assert task["run_job_task"]["job_id"] == jobs[inner]["job_id"]


@pytest.mark.parametrize("reference", FORMS)
def test_an_id_inside_of_a_text_is_the_workspaces_own(server: Server, tmp_path: Path, reference: str) -> None:
    jobs, pipelines = deployed(server, tmp_path, ("first", "second", "third"), f"#job/{reference}/x")
    own = pipelines["p"] if FORMS[reference] == "p" else jobs["third"]["job_id"]
    assert jobs["first"]["settings"]["description"] == f"see #job/{own}/x"


LOOKUPS = {
    "job": ("/api/2.2/jobs/create", "run_job_task"),
    "pipeline": ("/api/2.0/pipelines", "pipeline_task"),
}


@pytest.mark.parametrize("name", ["shared", "it's 100 % shared"])
@pytest.mark.parametrize("kind", LOOKUPS)
def test_a_lookup_finds_what_another_bundle_deployed(
    server: Server, tmp_path: Path, kind: str, name: str
) -> None:
    api = WorkspaceApi(server.host, server.connection()["token"])
    path, task = LOOKUPS[kind]
    shared = server.post(path, {"name": f"{kind} {name}"})[f"{kind}_id"]
    (tmp_path / "databricks.yml").write_text(
        f'bundle: {{name: finder}}\nvariables: {{shared: {{lookup: {{{kind}: "{kind} {name}"}}}}}}\n'
        "resources: {jobs: {j: {name: finder, tasks: "
        f"[{{task_key: t, {task}: {{{kind}_id: '${{var.shared}}'}}}}]}}}}}}\n"
    )
    bundle = load(tmp_path, environ={})
    deploy(bundle, api, {}, user=api.user)
    (found,) = server.get("/api/2.2/jobs/list", name="finder", expand_tasks="true")["jobs"]
    destroy(bundle, api)
    (used,) = found["settings"]["tasks"]
    assert used[task][f"{kind}_id"] == shared
