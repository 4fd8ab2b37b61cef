"""The requests that the Databricks CLI makes for a bundle, in their order: validate, deploy, run, destroy.

Written from the CLI's recorded request logs; where `databricks` is on PATH and LAKEWARD_TEST_CLI=1, the last
test has the CLI itself do the same.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import uuid
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
import requests

from tests.workspace.server import USER, Server, until

CLIENT = "bundle"

ROOT = f"/Workspace/Users/{USER}/.bundle/story/dev"
WS = "/api/2.0/workspace"
UC = "/api/2.1/unity-catalog"


class Cli:
    """Asks as the CLI does, and remembers nothing but what it was answered."""

    def __init__(self, server: Server) -> None:
        self.host = server.host
        self.session = requests.Session()
        self.session.headers.update(
            {"Authorization": f"Bearer {server.token}", "User-Agent": "bundle-replay/1.0"}
        )

    def ask(self, method: str, path: str, body: Any = None, *, status: int = 200, **options: Any) -> Any:
        answer = self.session.request(method, self.host + path, json=body, timeout=120, **options)
        assert answer.status_code == status, f"{method} {path}: {answer.text}"
        kind = answer.headers.get("content-type", "")
        return answer.json() if kind.startswith("application/json") else answer.content

    def every_command(self) -> None:
        facts = requests.get(f"{self.host}/.well-known/databricks-config", timeout=60).json()
        assert facts["workspace_id"].isdecimal()
        answer = self.session.get(f"{self.host}/api/2.0/preview/scim/v2/Me", timeout=60)
        assert answer.json()["userName"] == USER
        assert answer.headers["X-Databricks-Org-Id"].isdecimal()

    def status(self, path: str, *, status: int = 200) -> Any:
        return self.ask("GET", f"{WS}/get-status?path={quote(path)}&return_export_info=true", status=status)

    def export(self, path: str) -> bytes:
        return bytes(self.ask("GET", f"{WS}/export?path={quote(path)}&direct_download=true"))

    def mkdirs(self, path: str) -> None:
        self.ask("POST", f"{WS}/mkdirs", {"path": path})

    def delete(self, path: str, *, recursive: bool = False, status: int = 200) -> None:
        self.ask("POST", f"{WS}/delete", {"path": path, "recursive": recursive}, status=status)

    def put(self, path: str, data: bytes, *, overwrite: bool = True, status: int = 200) -> Any:
        name = quote(path.removeprefix("/"), safe="")
        route = f"/api/2.0/workspace-files/import-file/{name}?overwrite={str(overwrite).lower()}"
        return self.ask("POST", route, data=data, status=status)


@pytest.fixture(scope="module")
def cli(server: Server) -> Cli:
    made = Cli(server)
    made.every_command()
    return made


@pytest.fixture(scope="module")
def deployed(cli: Cli) -> dict[str, Any]:
    """A bundle with a job, a pipeline, a scope, a schema and a volume, after its first deployment."""
    state = f"{ROOT}/state"
    cli.status(f"{state}/resources.json", status=404)
    cli.status(f"{state}/terraform.tfstate", status=404)
    lock = {"ID": str(uuid.uuid4()), "User": USER}
    cli.put(f"{state}/deploy.lock", json.dumps(lock).encode(), overwrite=False, status=404)
    cli.mkdirs(state)
    cli.put(f"{state}/deploy.lock", json.dumps(lock).encode(), overwrite=False)
    assert cli.put(f"{state}/deploy.lock", b"{}", overwrite=False, status=409)["error_code"]
    assert json.loads(cli.export(f"{state}/deploy.lock")) == lock
    cli.delete(f"{ROOT}/artifacts/.internal", recursive=True, status=404)
    cli.mkdirs(f"{ROOT}/artifacts/.internal")
    cli.put(f"{ROOT}/artifacts/.internal/story-0.1-py3-none-any.whl", b"PK\x05\x06" + bytes(18))
    cli.mkdirs(f"{ROOT}/files/src")
    cli.put(f"{ROOT}/files/src/task.py", b"import sys\nprint('deployed', sys.argv[1:])\n")
    cli.put(f"{ROOT}/files/src/old.py", b"")
    cli.delete(f"{ROOT}/files/src/old.py")
    cli.put(f"{state}/deployment.json", b'{"seq": 1}')
    folder = cli.status(ROOT)
    acl = [{"user_name": USER, "permission_level": "CAN_MANAGE"}]
    reply = cli.ask(
        "PUT", f"/api/2.0/permissions/directories/{folder['object_id']}", {"access_control_list": acl}
    )
    assert reply["access_control_list"][0]["all_permissions"][0]["permission_level"] == "CAN_MANAGE"
    ids = _resources(cli)
    cli.put(f"{state}/resources.json", json.dumps(ids).encode())
    cli.put(f"{state}/metadata.json", b"{}")
    cli.status(f"{state}/deploy.lock")
    cli.export(f"{state}/deploy.lock")
    cli.delete(f"{state}/deploy.lock")
    logs = ["{}", "{}"]
    assert cli.ask("POST", "/telemetry-ext", {"protoLogs": logs}) == {"errors": [], "numProtoSuccess": 2}
    return ids


def _resources(cli: Cli) -> dict[str, Any]:
    cli.ask("POST", f"{UC}/schemas", {"catalog_name": "main", "name": "dev_story"})
    assert cli.ask("GET", f"{UC}/schemas/main.dev_story")["full_name"] == "main.dev_story"
    volume = {"catalog_name": "main", "schema_name": "dev_story", "name": "in", "volume_type": "MANAGED"}
    assert cli.ask("POST", f"{UC}/volumes", volume)["storage_location"]
    assert cli.ask("GET", f"{UC}/volumes/main.dev_story.in")["volume_type"] == "MANAGED"
    change = {"changes": [{"principal": "analysts", "add": ["SELECT", "USE_SCHEMA"]}]}
    cli.ask("PATCH", f"{UC}/permissions/schema/main.dev_story", change)
    granted = cli.ask("GET", f"{UC}/permissions/schema/main.dev_story")["privilege_assignments"]
    assert granted == [{"principal": "analysts", "privileges": ["SELECT", "USE_SCHEMA"]}]
    scope = "story_dev"
    cli.ask("POST", "/api/2.0/secrets/scopes/create", {"scope": scope, "scope_backend_type": "DATABRICKS"})
    assert scope in [each["name"] for each in cli.ask("GET", "/api/2.0/secrets/scopes/list")["scopes"]]
    acls = cli.ask("GET", f"/api/2.0/secrets/acls/list?scope={scope}")["items"]
    assert acls == [{"principal": USER, "permission": "MANAGE"}]
    put = {"scope": scope, "principal": "analysts", "permission": "READ"}
    cli.ask("POST", "/api/2.0/secrets/acls/put", put)
    cli.ask("POST", "/api/2.0/secrets/acls/delete", {"scope": scope, "principal": "analysts"})
    spec = {
        "name": "[dev] bronze",
        "catalog": "main",
        "schema": "dev_story",
        "channel": "CURRENT",
        "edition": "ADVANCED",
        "libraries": [{"glob": {"include": f"{ROOT}/files/src/pipelines/**"}}],
        "deployment": {"kind": "BUNDLE", "metadata_file_path": f"{ROOT}/state/metadata.json"},
    }
    pipeline_id = cli.ask("POST", "/api/2.0/pipelines", spec)["pipeline_id"]
    read = cli.ask("GET", f"/api/2.0/pipelines/{pipeline_id}")
    assert (read["state"], read["spec"]) == ("IDLE", {**spec, "id": pipeline_id})
    job = {
        "name": "[dev] daily",
        "format": "MULTI_TASK",
        "edit_mode": "UI_LOCKED",
        "max_concurrent_runs": 4,
        "queue": {"enabled": True},
        "tasks": [
            {
                "task_key": "only",
                "spark_python_task": {"python_file": f"{ROOT}/files/src/task.py", "parameters": ["a"]},
            }
        ],
    }
    job_id = cli.ask("POST", "/api/2.2/jobs/create", job)["job_id"]
    for kind, key in (("jobs", job_id), ("pipelines", pipeline_id)):
        wrong = {"access_control_list": [{"group_name": "g", "permission_level": "CAN_VIEW"}]}
        cli.ask("PUT", f"/api/2.0/permissions/{kind}/{key}", wrong, status=400)
        owner = {"user_name": USER, "permission_level": "IS_OWNER"}
        right = {"access_control_list": [*wrong["access_control_list"], owner]}
        cli.ask("PUT", f"/api/2.0/permissions/{kind}/{key}", right)
        assert cli.ask("GET", f"/api/2.0/permissions/{kind}/{key}")["object_id"] == f"/{kind}/{key}"
    return {"job": job_id, "job_settings": job, "pipeline": pipeline_id, "pipeline_spec": spec}


def test_validate_makes_the_folder_of_files(cli: Cli) -> None:
    path = "/Workspace/Users/other/.bundle/b/dev/files"
    cli.status(path, status=404)
    cli.mkdirs(path)
    assert cli.status(path)["object_type"] == "DIRECTORY"
    folder = cli.status("/Workspace/Users/other")["object_id"]
    assert cli.ask("GET", f"/api/2.0/permissions/directories/{folder}")["object_type"] == "directory"


def test_a_second_plan_finds_everything_as_it_was_sent(cli: Cli, deployed: dict[str, Any]) -> None:
    assert json.loads(cli.export(f"{ROOT}/state/resources.json")) == deployed
    job = cli.ask("GET", f"/api/2.2/jobs/get?job_id={deployed['job']}")
    sent = deployed["job_settings"]
    assert {name: job["settings"][name] for name in sent} == sent
    assert (job["creator_user_name"], job["run_as_user_name"]) == (USER, USER)
    read = cli.ask("GET", f"/api/2.0/pipelines/{deployed['pipeline']}")
    assert read["spec"] == {**deployed["pipeline_spec"], "id": deployed["pipeline"]}


def test_a_changed_resource_is_changed_in_place(cli: Cli, deployed: dict[str, Any]) -> None:
    cli.ask(
        "POST", "/api/2.2/jobs/reset", {"job_id": deployed["job"], "new_settings": deployed["job_settings"]}
    )
    cli.ask("PUT", f"/api/2.0/pipelines/{deployed['pipeline']}", deployed["pipeline_spec"])
    cli.ask("PATCH", f"{UC}/schemas/main.dev_story", {"comment": "changed"})
    cli.ask("PATCH", f"{UC}/volumes/main.dev_story.in", {"comment": "changed"})


def test_run_starts_the_job_and_polls_until_it_has_ended(cli: Cli, deployed: dict[str, Any]) -> None:
    active = cli.ask("GET", f"/api/2.2/jobs/runs/list?job_id={deployed['job']}&active_only=true")
    assert not active["runs"]
    run_id = cli.ask("POST", "/api/2.2/jobs/run-now", {"job_id": deployed["job"]})["run_id"]
    path = f"/api/2.2/jobs/runs/get?run_id={run_id}"
    run = until(
        lambda: r if (r := cli.ask("GET", path))["state"]["life_cycle_state"] == "TERMINATED" else None
    )
    assert run["state"]["result_state"] == "SUCCESS"
    assert run["run_page_url"].startswith(cli.host)
    output = cli.ask("GET", f"/api/2.2/jobs/runs/get-output?run_id={run['tasks'][0]['run_id']}")
    assert (output["logs"], output["logs_truncated"]) == ("deployed ['a']\n", False)


def test_run_of_a_pipeline_shows_its_events(cli: Cli, deployed: dict[str, Any]) -> None:
    pipeline = f"/api/2.0/pipelines/{deployed['pipeline']}"
    update = cli.ask("POST", f"{pipeline}/updates", {"full_refresh": False, "validate_only": False})[
        "update_id"
    ]

    def over() -> Any:
        state = cli.ask("GET", f"{pipeline}/updates/{update}")["update"]["state"]
        return state if state in ("COMPLETED", "FAILED", "CANCELED") else None

    # Its folder of sources was never deployed.
    assert until(over) == "FAILED"
    wanted = quote(f"update_id = '{update}' AND timestamp > '2020-01-01T00:00:00.000Z'")
    events = cli.ask("GET", f"{pipeline}/events?filter={wanted}&max_results=100")["events"]
    assert all("origin" in event for event in events)
    errors = cli.ask("GET", f"{pipeline}/events?filter={quote(chr(32).join(['level=', repr('ERROR')]))}")[
        "events"
    ]
    assert "src/pipelines" in errors[0]["error"]["exceptions"][0]["message"]


def test_destroy_leaves_nothing(cli: Cli, server: Server) -> None:
    root = "/Workspace/Users/gone/.bundle/b/dev"
    cli.mkdirs(f"{root}/state")
    cli.put(f"{root}/state/deploy.lock", b"{}", overwrite=False)
    job_id = cli.ask("POST", "/api/2.2/jobs/create", {"name": "gone"})["job_id"]
    pipeline_id = cli.ask("POST", "/api/2.0/pipelines", {"name": "gone"})["pipeline_id"]
    cli.ask("POST", f"{UC}/schemas", {"catalog_name": "main", "name": "gone"})
    volume = {"catalog_name": "main", "schema_name": "gone", "name": "v", "volume_type": "MANAGED"}
    cli.ask("POST", f"{UC}/volumes", volume)
    cli.ask("POST", "/api/2.0/secrets/scopes/create", {"scope": "gone"})
    cli.ask("POST", "/api/2.2/jobs/delete", {"job_id": job_id})
    cli.ask("DELETE", f"/api/2.0/pipelines/{pipeline_id}?cascade=false")
    cli.ask("DELETE", f"{UC}/volumes/main.gone.v")
    cli.ask("DELETE", f"{UC}/schemas/main.gone?force=true")
    cli.ask("POST", "/api/2.0/secrets/scopes/delete", {"scope": "gone"})
    cli.delete(root, recursive=True)
    cli.status(root, status=404)
    cli.ask("GET", f"/api/2.2/jobs/get?job_id={job_id}", status=400)
    cli.ask("GET", f"/api/2.0/pipelines/{pipeline_id}", status=404)
    cli.ask("GET", f"{UC}/schemas/main.gone", status=404)
    assert not (server.state / "workspace" / "Users" / "gone" / ".bundle" / "b" / "dev").exists()


@pytest.mark.slow
def test_the_cli_itself_does_the_same(server: Server, tmp_path: Path) -> None:
    program = shutil.which("databricks")
    if os.environ.get("LAKEWARD_TEST_CLI") != "1" or program is None:
        pytest.skip("the Databricks CLI is used where it is on PATH and LAKEWARD_TEST_CLI=1")
    (tmp_path / "task.py").write_text("print('deployed')\n")
    task = {"task_key": "only", "spark_python_task": {"python_file": "task.py"}, "environment_key": "e"}
    environment = {"environment_key": "e", "spec": {"environment_version": "4"}}
    job = {"name": "by-cli", "tasks": [task], "environments": [environment]}
    bundle = {
        "bundle": {"name": "by-cli"},
        "targets": {"dev": {"mode": "development", "default": True}},
        "resources": {"jobs": {"daily": job}},
    }
    (tmp_path / "databricks.yml").write_text(json.dumps(bundle))
    environ = {
        **os.environ,
        "HOME": str(tmp_path),
        "DATABRICKS_HOST": server.host,
        "DATABRICKS_TOKEN": server.token,
        "DATABRICKS_CONFIG_FILE": os.devnull,
        "DATABRICKS_CACHE_DIR": str(tmp_path / "cache"),
    }
    for arguments in (["validate"], ["deploy"], ["run", "daily"], ["destroy", "--auto-approve"]):
        command = [program, "bundle", *arguments]
        subprocess.run(command, cwd=tmp_path, env=environ, check=True, timeout=300)
