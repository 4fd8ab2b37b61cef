"""The legacy databricks-cli 0.18 as beginners are taught it, from PyPI in an environment of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.processes import outcome
from tests.workspace.server import Server

pytestmark = pytest.mark.slow

CLIENT = "legacy"


class Cli:
    """The command, logged in by `configure --token` as people do it."""

    def __init__(self, program: Path, home: Path, server: Server) -> None:
        self.program, self.home, self.server = program, home, server
        self("configure", "--host", server.host, "--token", typed=f"{server.token}\n")

    def __call__(self, *arguments: str, typed: str | None = None, fails: bool = False) -> str:
        environ = {"HOME": str(self.home), "PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"}
        # It forgets the port of its host, so the way to the port is said in another manner.
        environ["http_proxy"] = self.server.host
        done = outcome([str(self.program), *arguments], input=typed, env=environ, timeout=120)
        assert (done.returncode != 0) == fails, done.stdout + done.stderr
        return done.stdout + done.stderr * fails

    def json(self, *arguments: str) -> Any:
        return json.loads(self(*arguments))


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("legacy")
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    install = [str(folder / "bin" / "pip"), "install", "-q", "databricks-cli==0.18.0", "setuptools<81"]
    done = outcome(install)
    if done.returncode:
        pytest.skip(f"databricks-cli 0.18 cannot be installed here: {done.stderr.strip()[-300:]}")
    return folder / "bin" / "databricks"


@pytest.fixture(scope="module")
def cli(program: Path, server: Server, tmp_path_factory: pytest.TempPathFactory) -> Cli:
    return Cli(program, tmp_path_factory.mktemp("home"), server)


def test_secrets_as_in_every_course(cli: Cli) -> None:
    cli("secrets", "create-scope", "--scope", "course")
    assert "course" in cli("secrets", "list-scopes")
    cli("secrets", "put", "--scope", "course", "--key", "password", "--string-value", "s3cret")
    listed = cli("secrets", "list", "--scope", "course")
    assert "password" in listed and "s3cret" not in listed
    cli("secrets", "put-acl", "--scope", "course", "--principal", "bob", "--permission", "READ")
    assert "bob" in cli("secrets", "list-acls", "--scope", "course")
    assert "READ" in cli("secrets", "get-acl", "--scope", "course", "--principal", "bob")
    cli("secrets", "delete-acl", "--scope", "course", "--principal", "bob")
    cli("secrets", "delete", "--scope", "course", "--key", "password")
    assert "RESOURCE_ALREADY_EXISTS" in cli("secrets", "create-scope", "--scope", "course", fails=True)
    cli("secrets", "delete-scope", "--scope", "course")
    assert "course" not in cli("secrets", "list-scopes")


def test_files_are_copied_both_ways(cli: Cli, tmp_path: Path) -> None:
    source, back = tmp_path / "a.bin", tmp_path / "b.bin"
    source.write_bytes(os.urandom(100_000) + b"\r\n--boundary\r\n\r\n")
    cli("fs", "mkdirs", "dbfs:/course")
    cli("fs", "cp", str(source), "dbfs:/course/a.bin")
    assert cli("fs", "ls", "dbfs:/course").strip() == "a.bin"
    cli("fs", "cp", "dbfs:/course/a.bin", str(back))
    assert back.read_bytes() == source.read_bytes()
    cli("fs", "mv", "dbfs:/course/a.bin", "dbfs:/course/c.bin")
    assert "RESOURCE_ALREADY_EXISTS" in cli("fs", "cp", str(source), "dbfs:/course/c.bin", fails=True)
    cli("fs", "rm", "-r", "dbfs:/course")


def test_a_notebook_goes_into_the_workspace_and_out_of_it(cli: Cli, tmp_path: Path) -> None:
    source, back = tmp_path / "nb.py", tmp_path / "back.py"
    source.write_text("# Databricks notebook source\nprint('hello')\n")
    cli("workspace", "mkdirs", "/Users/ada")
    cli("workspace", "import", "-l", "PYTHON", str(source), "/Users/ada/nb")
    assert cli("workspace", "ls", "/Users/ada").strip() == "nb"
    assert "NOTEBOOK" in cli("workspace", "ls", "-l", "/Users/ada")
    cli("workspace", "export", "/Users/ada/nb", str(back))
    assert back.read_text() == source.read_text()
    cli("workspace", "delete", "/Users/ada/nb")
    # A source without the mark is a notebook, too, and gets it.
    source.write_text("select 1\n")
    cli("workspace", "import", "-l", "SQL", str(source), "/Users/ada/query")
    assert "NOTEBOOK" in cli("workspace", "ls", "-l", "/Users/ada")
    cli("workspace", "export", "-o", "/Users/ada/query", str(back))
    assert back.read_text() == "-- Databricks notebook source\nselect 1\n"
    cli("workspace", "delete", "/Users/ada/query")
    assert cli("workspace", "ls", "/Users/ada").strip() == ""


@pytest.mark.parametrize("version", ["2.0", "2.1"])
def test_a_job_is_created_and_run(cli: Cli, server: Server, version: str) -> None:
    cli("jobs", "configure", "--version", version)
    path = server.file("/Workspace/Users/ada/legacy.py", "print('run by the legacy client')")
    job = {
        "name": f"legacy {version}",
        "spark_python_task": {"python_file": path},
        "new_cluster": {"num_workers": 1},
    }
    job_id = str(cli.json("jobs", "create", "--json", json.dumps(job))["job_id"])
    assert job_id in cli("jobs", "list")
    assert cli.json("jobs", "get", "--job-id", job_id)["settings"]["name"] == f"legacy {version}"
    run_id = cli.json("jobs", "run-now", "--job-id", job_id)["run_id"]
    run = server.ended(run_id)
    assert run["state"]["result_state"] == "SUCCESS"
    assert str(run_id) in cli("runs", "list", "--job-id", job_id)
    assert cli.json("runs", "get", "--run-id", str(run_id))["state"]["result_state"] == "SUCCESS"
    output = cli.json("runs", "get-output", "--run-id", str(run_id))
    assert output["logs"] == "run by the legacy client\n"
    job["name"] = "other"
    cli("jobs", "reset", "--job-id", job_id, "--json", json.dumps(job))
    cli("runs", "cancel", "--run-id", str(run_id))
    submitted = {key: job[key] for key in ("spark_python_task", "new_cluster")} | {"run_name": "once"}
    server.ended(cli.json("runs", "submit", "--json", json.dumps(submitted))["run_id"])
    cli("jobs", "delete", "--job-id", job_id)
    assert "does not exist" in cli("jobs", "get", "--job-id", job_id, fails=True)


def test_tokens_are_made_listed_and_revoked(cli: Cli) -> None:
    made = cli.json("tokens", "create", "--comment", "course", "--lifetime-seconds", "86400")
    assert "course" in cli("tokens", "list")
    cli("tokens", "revoke", "--token-id", made["token_info"]["token_id"])
    assert "course" not in cli("tokens", "list")


def test_a_pipeline_is_known_by_its_id(cli: Cli, tmp_path: Path) -> None:
    settings = tmp_path / "settings.json"
    settings.write_text(json.dumps({"name": "legacy", "libraries": [{"file": {"path": "/Workspace/x.py"}}]}))
    cli("pipelines", "create", "--settings", str(settings))
    (listed,) = cli.json("pipelines", "list")
    assert cli.json("pipelines", "get", "--pipeline-id", listed["pipeline_id"])["name"] == "legacy"
    cli("pipelines", "delete", "--pipeline-id", listed["pipeline_id"])


def test_unity_catalog_is_read(cli: Cli, server: Server) -> None:
    server.post("/api/2.1/unity-catalog/schemas", {"name": "legacy", "catalog_name": "main"})
    names = [each["name"] for each in cli.json("unity-catalog", "catalogs", "list")["catalogs"]]
    assert names == ["main", "workspace"]
    listed = cli.json("unity-catalog", "schemas", "list", "--catalog-name", "main")["schemas"]
    assert "legacy" in [each["name"] for each in listed]
