"""Workspace paths of notebooks and files are found in the repository by their tail, alike everywhere."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from tests.trees import write_files

from lakeward.bundle import findings, load, load_jobs
from lakeward.check import check
from lakeward.errors import LakewardError
from lakeward.jobs import PipelineSelection, RunOptions, run, sources
from lakeward.notebooks import find_run_notebook, parse_run_line
from lakeward.session import Settings, find_platform_file

NOTEBOOK = "# Databricks notebook source\nprint(1)\n"
ROOTS = (
    "/Workspace/Users/x@y/repo",
    "/Workspace/Repos/x@y/repo",
    "/Workspace/Shared/repo",
    "/Repos/x@y/repo",
    "/Users/x@y/repo",
    "/Shared/repo",
    "//Users/x@y/repo",
    "//Workspace/Shared/repo",
)

Resolve = Callable[[Path, str], Any]


def _by_notebook_task(root: Path, path: str) -> None:
    _dry_run(root, f"notebook_task: {{notebook_path: {path}}}")


def _by_python_task(root: Path, path: str) -> None:
    _dry_run(root, f"spark_python_task: {{python_file: {path}}}")


def _by_sql_task(root: Path, path: str) -> None:
    file = f"{path.removesuffix('.py')}.sql" if path.endswith(".py") else path
    _dry_run(root, f"sql_task: {{warehouse_id: w, file: {{path: {file}}}}}")


def _dry_run(root: Path, task: str) -> None:
    (root / "orchestration").mkdir(exist_ok=True)
    file = root / "orchestration" / "job.yml"
    file.write_text(f"name: j\ntasks:\n- task_key: t\n  {task}\n")
    settings = Settings.here(root, environ={})
    bundle = load_jobs(file, user="ann")
    options = RunOptions(selection=PipelineSelection(dry_run=True), provision=lambda *_: None)
    done = run(bundle, "job", settings=settings, options=options)
    assert [each.error for each in done.tasks] == [None], done


def _by_library(kind: str, field: str) -> Resolve:
    def resolve(root: Path, path: str) -> None:
        (found,) = sources(root, "p", {"libraries": [{kind: {field: path}}]})
        assert found == root / "etl" / "load.py"

    return resolve


def _by_folder_glob(root: Path, path: str) -> None:
    folder = path.rpartition("/")[0]
    assert sources(root, "p", {"libraries": [{"glob": {"include": f"{folder}/**"}}]}) == (root / "etl",)
    assert sources(root, "p", {"libraries": [{"glob": {"include": f"{folder}/l*.py"}}]}) == (
        root / "etl" / "load.py",
    )


def _by_run(root: Path, path: str) -> None:
    settings = Settings.here(root, environ={})
    assert (
        find_run_notebook(parse_run_line(path), root / "other", root, (), settings=settings)
        == root / "etl" / "load.py"
    )


def _by_validate(root: Path, path: str) -> None:
    bundle = _bundle(root, path)
    wrong = [each for each in findings(bundle) if each.rule == "workspace-path"]
    if wrong:
        raise LakewardError("NOT_FOUND", "\n".join(map(str, wrong)))


def _by_check(root: Path, path: str) -> None:
    _bundle(root, path)
    (root / "caller.py").write_text(f"# Databricks notebook source\n# MAGIC %run {path}\n")
    report = check(root, environ={})
    wrong = [each for each in report.findings if each.verdict == "refused"]
    if wrong:
        assert {each.place.file for each in wrong} == {"databricks.yml", "caller.py"}
        raise LakewardError("NOT_FOUND", "\n".join(each.cure for each in wrong))


def _bundle(root: Path, path: str) -> Any:
    text = f"""
        bundle: {{name: b}}
        resources:
          jobs:
            j:
              tasks:
              - {{task_key: n, notebook_task: {{notebook_path: {path}}}}}
              - {{task_key: p, spark_python_task: {{python_file: {path}}}, environment_key: e}}
              - {{task_key: s, sql_task: {{warehouse_id: w, file: {{path: {path.removesuffix(".py")}}}}}}}
              environments: [{{environment_key: e, spec: {{environment_version: "2"}}}}]
          pipelines:
            p:
              {{name: p, catalog: main, schema: s, serverless: true,
               libraries: [{{notebook: {{path: {path}}}}}]}}
    """
    (root / "databricks.yml").write_text(dedent(text))
    return load(root, user="ann", environ={})


ENTRIES: dict[str, Resolve] = {
    "notebook_task": _by_notebook_task,
    "spark_python_task": _by_python_task,
    "sql_task": _by_sql_task,
    "notebook library": _by_library("notebook", "path"),
    "file library": _by_library("file", "path"),
    "glob library": _by_library("glob", "include"),
    "folder glob": _by_folder_glob,
    "%run": _by_run,
    "validate": _by_validate,
    "check": _by_check,
}


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "repo"
    write_files(
        root,
        {
            "etl/load.py": NOTEBOOK,
            "etl/load.sql": "SELECT 1",
            ".git/HEAD": "",
            "other/x.py": "",
            "pyproject.toml": "",
        },
    )
    return root


@pytest.mark.parametrize("entry", ENTRIES)
@pytest.mark.parametrize("extension", ["", ".py"])
@pytest.mark.parametrize("start", ROOTS)
def test_every_entry_finds_every_spelling(repository: Path, entry: str, extension: str, start: str) -> None:
    ENTRIES[entry](repository, f"{start}/etl/load{extension}")


@pytest.mark.parametrize("entry", [each for each in ENTRIES if each != "folder glob"])
def test_every_entry_refuses_what_is_in_no_place(repository: Path, entry: str) -> None:
    with pytest.raises((LakewardError, AssertionError), match=r"--mount"):
        ENTRIES[entry](repository, "/Workspace/live/etl/absent")


@pytest.mark.parametrize("entry", [each for each in ENTRIES if each != "folder glob"])
def test_every_entry_names_the_candidates_of_an_ambiguous_path(repository: Path, entry: str) -> None:
    copies = [f"{folder}/copy/load{extension}" for folder in "ab" for extension in (".py", ".sql")]
    write_files(repository, dict.fromkeys(copies, NOTEBOOK))
    with pytest.raises((LakewardError, AssertionError), match=r"a/copy/load\.(\w+), b/copy/load\.\1"):
        ENTRIES[entry](repository, "/Workspace/live/copy/load")


@pytest.mark.parametrize("prefix", ["/Workspace/live", "/Repos/live", "/Users/x@y"])
@pytest.mark.parametrize("entry", [each for each in ENTRIES if each != "folder glob"])
def test_a_mount_wins_over_the_tail(tmp_path: Path, repository: Path, prefix: str, entry: str) -> None:
    write_files(repository, {"a/etl/load.py": NOTEBOOK, "b/etl/load.py": NOTEBOOK})
    (repository / "pyproject.toml").write_text(f'[tool.lakeward.mounts]\n"{prefix}" = "."\n')
    ENTRIES[entry](repository, f"{prefix}/etl/load")
    (repository / "pyproject.toml").write_text(f'[tool.lakeward.mounts]\n"{prefix}" = "a"\n')
    found = find_platform_file(
        f"{prefix}/etl/load", repository, settings=Settings.here(repository, environ={})
    )
    assert found == repository / "a" / "etl" / "load.py"


def test_the_longest_tail_wins(repository: Path) -> None:
    write_files(repository, {"x/load.py": NOTEBOOK, "src/repo/etl/load.py": NOTEBOOK, "etl/y.ipynb": ""})
    here = Settings.here(repository, environ={})

    def found(path: str) -> str:
        return str(find_platform_file(path, repository, settings=here).relative_to(repository))  # type: ignore[union-attr]

    assert found("/Repos/x@y/repo/etl/load") == "src/repo/etl/load.py"
    assert found("/Repos/x@y/other/etl/load") == "etl/load.py"
    assert found("/Repos/x@y/other/x/load") == "x/load.py"
    assert found("/Repos/x@y/other/etl/y") == "etl/y.ipynb"


def test_installed_packages_and_hidden_folders_are_not_searched(repository: Path) -> None:
    write_files(repository, {".venv/lib/deep/only.py": "", "node_modules/only.py": ""})
    assert find_platform_file("/Repos/x/deep/only", repository) is None


def test_a_deployed_copy_is_not_looked_for_in_the_repository(repository: Path) -> None:
    deployed = repository / ".lakeward" / "local" / "files"
    write_files(deployed, {"other.py": NOTEBOOK})
    assert find_platform_file("/Workspace/x/etl/load", deployed) is None
