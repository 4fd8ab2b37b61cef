"""`dbt_output` of a run's output: a link to the archive with the artifacts of a dbt task."""

from __future__ import annotations

import requests

from lakeward.run_files import dbt_artifacts_file
from tests.workspace.server import Server

CLIENT = "http/dbt"


def test_the_artifacts_have_a_signed_link(server: Server) -> None:
    server.file("/Workspace/shop/dbt_project.yml", "name: shop")
    spec = {"project_directory": "/Workspace/shop", "commands": ["dbt nothing"]}
    job_id = server.post("/api/2.2/jobs/create", {"tasks": [{"task_key": "d", "dbt_task": spec}]})["job_id"]
    run = server.ended(server.run_now(job_id))
    task = run["tasks"][0]
    assert task["dbt_task"]["commands"] == ["dbt nothing"]

    def output() -> dict[str, str]:
        found = server.get("/api/2.2/jobs/runs/get-output", run_id=task["run_id"])
        return dict(found["dbt_output"])

    # Without dbt there are no artifacts.
    file = dbt_artifacts_file(server.state / "jobs", str(run["run_id"]), "d")
    file.unlink(missing_ok=True)
    assert output() == {}
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(b"an archive")
    found = output()
    assert found["artifacts_headers"] == {}
    assert requests.get(found["artifacts_link"], timeout=30).content == b"an archive"
    for changed in (found["artifacts_link"] + "0", found["artifacts_link"].replace("/d?", "/e?")):
        assert requests.get(changed, timeout=30).json()["error_code"] == "PERMISSION_DENIED"
