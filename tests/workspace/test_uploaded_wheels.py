"""Tasks that run the wheel which was uploaded for them."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from tests.workspace.server import Server

pytestmark = pytest.mark.slow


def wheel(file: Path, package: str, text: str) -> None:
    """A wheel with one entry point, `main`, made by hand."""
    info = f"{package}-1.0.dist-info"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(f"{package}/__init__.py", text)
        archive.writestr(f"{info}/entry_points.txt", f"[console_scripts]\nmain = {package}:main\n")
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")


def test_what_runs_is_the_wheel_that_was_uploaded(server: Server) -> None:
    folder = server.state / "workspace" / "artifacts"
    folder.mkdir()
    name = "story_of_wheels-1.0-py3-none-any.whl"
    wheel(
        folder / name,
        "story_of_wheels",
        "import sys\ndef main():\n    print('from the wheel', sys.argv[1:])\n",
    )
    task = {
        "task_key": "only",
        "environment_key": "default",
        "python_wheel_task": {
            "package_name": "story-of-wheels",
            "entry_point": "main",
            "parameters": ["{{job.id}}", "{{job.run_id}}"],
        },
    }
    spec = {"dependencies": [f"/Workspace/artifacts/{name}", "requests"]}
    settings = {
        "name": "wheel",
        "tasks": [task],
        "environments": [{"environment_key": "default", "spec": spec}],
    }
    job_id = server.post("/api/2.2/jobs/create", settings)["job_id"]
    run_id = server.run_now(job_id)
    run = server.ended(run_id)
    assert server.log_of(run) == f"from the wheel ['{job_id}', '{run_id}']\n"
    assert run["state"]["result_state"] == "SUCCESS"
    (folder / name).write_bytes(b"no zip")
    assert "WHEEL_INVALID" in server.ended(server.run_now(job_id))["state"]["state_message"]
    (folder / name).unlink()
    assert "WHEEL_NOT_FOUND" in server.ended(server.run_now(job_id))["state"]["state_message"]


def test_an_entry_point_that_the_wheel_lacks_fails_its_task(server: Server) -> None:
    file = server.state / "workspace" / "short" / "short_story-1.0-py3-none-any.whl"
    file.parent.mkdir()
    wheel(file, "short_story", "def main(): ...\n")
    named = {"package_name": "short_story", "entry_point": "nain"}
    task = {
        "task_key": "only",
        "python_wheel_task": named,
        "libraries": [{"whl": f"/Workspace/short/{file.name}"}],
    }
    job_id = server.post("/api/2.2/jobs/create", {"name": "wheel", "tasks": [task]})["job_id"]
    state = server.ended(server.run_now(job_id))["state"]
    assert (state["life_cycle_state"], state["result_state"]) == ("TERMINATED", "FAILED")
    assert "short_story has no `nain`" in state["state_message"]
