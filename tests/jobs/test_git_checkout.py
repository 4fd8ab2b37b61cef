"""Tasks with files from Git: kinds of tasks × spellings of the source × checkouts.

Sources: `source` and `git_source` of the Jobs API; databricks/cli#404 for the paths of a bundle.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from tests.jobs.conftest import provision_nothing
from tests.trees import write_files

from lakeward import jobs
from lakeward.bundle import Bundle, load, missing_files, undeployed_bodies, workspace_paths
from lakeward.errors import ConfigurationError
from lakeward.jobs import JobRun, PipelineSelection, RunOptions
from lakeward.session import Settings

URL = "https://github.com/acme/flows"
GIT_SOURCE = f"{{git_url: '{URL}', git_provider: gitHub}}"
RAN = "import os, pathlib\npathlib.Path(os.environ['OUT']).write_text('ran')\n"
FILES = {
    "code/a.py": RAN,
    "code/n.py": f"# Databricks notebook source\n{RAN}",
    "code/q.sql": "SELECT 1",
}
TASKS = {
    "file": "spark_python_task: {{python_file: code/a.py{source}}}",
    "notebook": "notebook_task: {{notebook_path: code/n{source}}}",
    "sql": "sql_task: {{warehouse_id: w, file: {{path: code/q.sql{source}}}}}",
}
SOURCES = {"by default": "", "said": ", source: GIT"}
ORIGINS = {
    "https": f"{URL}.git",
    "ssh": "git@github.com:acme/flows.git",
    "a fork": "https://github.com/someone/flows",
    "a token": "https://user:t0k3n@github.com/acme/flows/",
    "no remote": "",
}


def git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True)


def checkout(folder: Path, origin: str) -> None:
    git(folder, "init", "-q")
    if origin:
        git(folder, "remote", "add", "origin", origin)


def bundle_of(
    folder: Path, task: str, *, git_source: str = f"{{git_url: '{URL}', git_provider: gitHub}}"
) -> Bundle:
    source = f"      git_source: {git_source}\n" if git_source else ""
    text = (
        "bundle: {name: b}\ntargets: {dev: {}}\nresources:\n  jobs:\n    j:\n"
        f"{source}      tasks:\n        - {{task_key: a, {task}}}\n"
    )
    write_files(folder, {"databricks.yml": text})
    return load(folder, user="ann", environ={})


def run(bundle: Bundle, tmp_path: Path, *, dry: bool = True) -> JobRun:
    options = RunOptions(selection=PipelineSelection(dry_run=dry), provision=provision_nothing)
    settings = Settings.here(tmp_path / "state", environ={}, target="dev")
    return jobs.run(bundle, "j", settings=settings, options=options)


@pytest.mark.parametrize("origin", ORIGINS)
@pytest.mark.parametrize("place", [".", "deployment/bundle"])
@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("kind", TASKS)
def test_files_are_those_of_the_checkout(
    tmp_path: Path, kind: str, source: str, place: str, origin: str
) -> None:
    """Paths are relative to the repository, wherever the bundle is in it."""
    top = tmp_path / "flows"
    write_files(top, FILES)
    checkout(top, ORIGINS[origin])
    bundle = bundle_of(top / place, TASKS[kind].format(source=SOURCES[source]))
    assert run(bundle, tmp_path).state == "COMPLETED"
    assert [*missing_files(bundle), *workspace_paths(bundle)] == []
    (job,) = undeployed_bodies(bundle)["jobs"].values()
    assert "/Workspace" not in str(job["tasks"])


@pytest.mark.spark
@pytest.mark.parametrize("kind", ["file", "notebook"])
def test_the_code_of_the_checkout_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    monkeypatch.setenv("OUT", str(tmp_path / "out"))
    top = tmp_path / "flows"
    write_files(top, FILES)
    checkout(top, URL)
    assert run(bundle_of(top / "b", TASKS[kind].format(source="")), tmp_path, dry=False).state == "COMPLETED"
    assert (tmp_path / "out").read_text() == "ran"


@pytest.mark.parametrize("kind", TASKS)
def test_a_download_without_git_is_the_repository(tmp_path: Path, kind: str) -> None:
    top = write_files(tmp_path / "flows-main", FILES)
    assert run(bundle_of(top, TASKS[kind].format(source="")), tmp_path).state == "COMPLETED"


@pytest.mark.parametrize("kind", TASKS)
def test_another_repository_is_refused_without_its_credentials(tmp_path: Path, kind: str) -> None:
    top = write_files(tmp_path / "other", FILES)
    checkout(top, "https://ann:t0k3n@github.com/acme/other.git")
    with pytest.raises(ConfigurationError, match=re.escape(f"git clone {URL}")) as raised:
        run(bundle_of(top, TASKS[kind].format(source="")), tmp_path)
    assert raised.value.condition == "TASK_NOT_SUPPORTED"
    assert "t0k3n" not in str(raised.value)


@pytest.mark.parametrize("kind", TASKS)
def test_git_without_a_repository_is_refused(tmp_path: Path, kind: str) -> None:
    bundle = bundle_of(
        write_files(tmp_path / "b", FILES), TASKS[kind].format(source=", source: GIT"), git_source=""
    )
    with pytest.raises(ConfigurationError, match="git_source") as raised:
        run(bundle, tmp_path)
    assert raised.value.condition == "TASK_INVALID"


@pytest.mark.parametrize("kind", TASKS)
def test_files_of_the_workspace_are_those_of_the_bundle(tmp_path: Path, kind: str) -> None:
    """`source: WORKSPACE` decides also in a job with a `git_source`."""
    top = tmp_path / "flows"
    write_files(top / "b", FILES)
    checkout(top, URL)
    bundle = bundle_of(top / "b", TASKS[kind].format(source=", source: WORKSPACE"))
    assert run(bundle, tmp_path).state == "COMPLETED"
    (job,) = undeployed_bodies(bundle)["jobs"].values()
    assert "/Workspace" in str(job["tasks"])


def test_the_task_of_a_loop_takes_its_file_from_git(tmp_path: Path) -> None:
    top = write_files(tmp_path / "flows", FILES)
    checkout(top, URL)
    loop = "for_each_task: {inputs: '[1]', task: {task_key: b, " + TASKS["file"].format(source="") + "}}"
    assert run(bundle_of(top / "deep" / "b", loop), tmp_path).state == "COMPLETED"
