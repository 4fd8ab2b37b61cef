"""`dbt_task`: its commands, project, profile and variables, with a dbt that prints what it is given."""

from __future__ import annotations

import json
import os
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.trees import write_files

from lakeward.errors import ConfigurationError
from lakeward.jobs import JobRun
from lakeward.run_files import dbt_artifacts_file
from lakeward.session import Settings
from lakeward.workspace_connection import Connection, connection_variables, write_connection_file

DBT = """
import json, os, pathlib, sys

def cli():
    variables = {name: value for name, value in os.environ.items() if name.startswith("DBT_")}
    profiles = pathlib.Path(os.environ["DBT_PROFILES_DIR"], "profiles.yml")
    seen = {"argv": sys.argv, "files": sorted(os.listdir()), "variables": variables,
            "profile": profiles.read_text() if profiles.is_file() else None}
    print("SEEN " + json.dumps(seen))
    os.makedirs("target", exist_ok=True)
    pathlib.Path("target", "manifest.json").write_text("{}")
    sys.exit(3 if "fail" in sys.argv else 0)
"""
PROJECT = {
    "project/dbt_project.yml": "name: shop\nprofile: shop_profile\n",
    "project/models/a.sql": "select 1",
    "project/target/old.json": "{}",
}
TOKEN = "dapi-of-the-workspace"


@pytest.fixture
def dbt(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put a package `dbt` on the path of the tasks, and a workspace in their environment."""
    folder = tmp_path_factory.mktemp("dbt")
    write_files(folder, {"dbt/__init__.py": "", "dbt/cli/__init__.py": "", "dbt/cli/main.py": DBT})
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")]))
    file = folder / "connection.json"
    write_connection_file(file, Connection("http://127.0.0.1:9", TOKEN))
    for name, value in connection_variables("http://127.0.0.1:9", file).items():
        monkeypatch.setenv(name, value)


def task(**settings: Any) -> str:
    spec = {"project_directory": "project", "commands": ["dbt run"], **settings}
    return "tasks: " + json.dumps([{"task_key": "d", "dbt_task": spec}])


class Printed:
    """What the tasks of a run print."""

    def __init__(self) -> None:
        self.text = ""

    def __call__(self, *arguments: Any) -> None:
        self.text += str(arguments[-1])

    @property
    def seen(self) -> list[Any]:
        return [json.loads(line[5:]) for line in self.text.splitlines() if line.startswith("SEEN ")]


@pytest.fixture
def run_task(run_job: Callable[..., JobRun]) -> Callable[..., tuple[JobRun, Printed]]:
    def run(**settings: Any) -> tuple[JobRun, Printed]:
        printed = Printed()
        return run_job(task(**settings), PROJECT, on_output=printed, isolated=True), printed

    return run


Run = Callable[..., tuple[JobRun, Printed]]


def test_commands_run_in_order_in_a_copy_of_the_project(dbt: None, run_task: Run, tmp_path: Path) -> None:
    done, printed = run_task(commands=["dbt deps", "dbt run --select 'a b' --vars \"{ x: 1 }\""])
    assert done.state == "COMPLETED"
    assert [each["argv"][1:] for each in printed.seen] == [
        ["deps"],
        ["run", "--select", "a b", "--vars", "{ x: 1 }"],
    ]
    first, second = printed.seen
    assert first["files"] == ["dbt_project.yml", "models"]
    assert second["files"] == ["dbt_project.yml", "models", "target"]
    assert sorted(os.listdir(tmp_path / "project/target")) == ["old.json"]


def test_the_first_command_that_fails_is_the_last_one(dbt: None, run_task: Run) -> None:
    done, printed = run_task(commands=["dbt seed", "dbt fail", "dbt run"])
    assert done.state == "FAILED"
    assert [each["argv"][1] for each in printed.seen] == ["seed", "fail"]
    assert done.tasks[0].error is not None
    assert done.tasks[0].error.startswith(
        "[DBT_COMMAND_FAILED] The command `dbt fail` failed with exit code 3."
    )


def test_a_warehouse_has_a_profile_with_catalog_and_schema(dbt: None, run_task: Run) -> None:
    done, printed = run_task(warehouse_id="0123456789abcdef", catalog="main", schema="shop")
    assert done.state == "COMPLETED"
    (seen,) = printed.seen
    assert seen["variables"]["DBT_HTTP_PATH"] == "/sql/1.0/warehouses/0123456789abcdef"
    assert (seen["variables"]["DBT_CATALOG"], seen["variables"]["DBT_SCHEMA"]) == ("main", "shop")
    from ruamel.yaml import YAML

    profile = YAML(typ="safe").load(seen["profile"])["shop_profile"]
    output = profile["outputs"][profile["target"]]
    assert output["type"] == "databricks"
    assert output["catalog"] == "{{ env_var('DBT_CATALOG') }}"
    assert output["token"] == "{{ env_var('DBT_ACCESS_TOKEN') }}"
    assert TOKEN not in seen["profile"]


def test_the_default_schema_is_default(dbt: None, run_task: Run) -> None:
    _, printed = run_task(warehouse_id="0123456789abcdef")
    assert printed.seen[0]["variables"]["DBT_SCHEMA"] == "default"
    assert "catalog" not in printed.seen[0]["profile"]


@pytest.mark.parametrize(
    ("profiles", "ending"), [("dbt_profiles/", "project/dbt_profiles"), (None, "project")]
)
def test_profiles_are_those_of_the_project_without_a_warehouse(
    dbt: None, run_task: Run, profiles: str | None, ending: str
) -> None:
    _, printed = run_task(profiles_directory=profiles)
    found = printed.seen[0]["variables"]["DBT_PROFILES_DIR"].rstrip("/")
    assert found.endswith(ending)


def test_host_and_token_are_those_of_the_workspace_and_the_token_is_redacted(
    dbt: None, run_task: Run
) -> None:
    _, printed = run_task()
    assert printed.seen[0]["variables"]["DBT_HOST"] == "lakeward.localhost"
    assert printed.seen[0]["variables"]["DBT_ACCESS_TOKEN"] == "[REDACTED]"
    assert TOKEN not in printed.text


def test_artifacts_are_kept_for_the_output_of_the_run(dbt: None, run_task: Run, settings: Settings) -> None:
    done, _ = run_task(commands=["dbt fail"])
    with tarfile.open(dbt_artifacts_file(settings.jobs, done.run_id, "d")) as archive:
        assert sorted(archive.getnames()) == ["target", "target/manifest.json"]


@pytest.mark.spark
def test_a_notebook_continues_after_the_import_of_spark_connect(run_job: Callable[..., JobRun]) -> None:
    """As Python models of dbt do; PySpark would end the process where grpc is not installed."""
    cell = (
        "try:\n    import pyspark.sql.connect.dataframe\nexcept ImportError:\n    pass\nprint('after it')\n"
    )
    job = "tasks: [{task_key: n, notebook_task: {notebook_path: note.py}}]"
    printed = Printed()
    files = {"note.py": f"# Databricks notebook source\n{cell}"}
    done = run_job(job, files, on_output=printed, isolated=True)
    assert (done.state, printed.text) == ("COMPLETED", "after it\n")


@pytest.mark.parametrize(
    ("settings_of_task", "condition", "message"),
    [
        ({"commands": []}, "TASK_INVALID", "has 0 commands"),
        ({"commands": ["dbt ls"] * 11}, "TASK_INVALID", "has 11 commands"),
        ({"commands": ["dbt run", "rm -r x"]}, "TASK_INVALID", "`rm -r x`, which is not one of dbt"),
        ({"commands": ["dbtx run"]}, "TASK_INVALID", "`dbtx run`, which is not one of dbt"),
        ({"commands": ["dbt run 'x"]}, "TASK_INVALID", "No closing quotation"),
        ({"project_directory": "nope"}, "FILE_NOT_FOUND", "has no dbt_project.yml"),
        (
            {"warehouse_id": "x", "profiles_directory": "p"},
            "TASK_INVALID",
            "warehouse_id and profiles_directory",
        ),
    ],
)
def test_what_cannot_be_run_is_refused_before_the_run(
    run_task: Run, settings_of_task: Any, condition: str, message: str
) -> None:
    with pytest.raises(ConfigurationError, match=message) as raised:
        run_task(**settings_of_task)
    assert raised.value.condition == condition


def test_an_environment_without_dbt_is_named(run_task: Run) -> None:
    try:
        import dbt.cli  # noqa: F401
    except ImportError:
        done, _ = run_task()
    else:
        pytest.skip("dbt is installed")
    assert done.tasks[0].error is not None
    assert done.tasks[0].error.startswith("[DBT_NOT_INSTALLED] The task `d` runs dbt")
