"""Artifacts of every kind of Python project are built for a deployment, by their command or without one."""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path

import pytest
from tests.trees import write_files

from lakeward.bundle import artifacts_of, findings, load
from lakeward.errors import BundleError
from lakeward.jobs import build_wheels, tasks_of
from lakeward.jobs.packages import packages_of_pipeline, packages_of_task

# A build backend of the project's own: nothing is installed for it.
BACKEND = """\
import zipfile
NAME = "tool-7-py3-none-any.whl"
def build_wheel(folder, config_settings=None, metadata_directory=None):
    with zipfile.ZipFile(f"{folder}/{NAME}", "w") as wheel:
        wheel.writestr("tool.py", "BACKEND = True")
        wheel.writestr("tool-7.dist-info/METADATA", "Metadata-Version: 2.1\\nName: tool\\nVersion: 7\\n")
        wheel.writestr("tool-7.dist-info/WHEEL", "Wheel-Version: 1.0\\nTag: py3-none-any\\n")
        wheel.writestr("tool-7.dist-info/RECORD", "")
    return NAME
"""
BUILD = '[build-system]\nrequires = []\nbuild-backend = "own"\nbackend-path = ["backend"]\n'
PROJECTS = {
    "project": {"pyproject.toml": f'[project]\nname = "tool"\nversion = "7"\n{BUILD}'},
    "poetry": {
        "pyproject.toml": '[tool.poetry]\nname = "tool"\n[tool.poetry.scripts]\ngo = "tool:main"\n' + BUILD
    },
    "setup.py": {
        "setup.py": "import setuptools\n"
        'setuptools.setup(name="tool", entry_points={"console_scripts": ["go = tool:main"]})\n',
        "pyproject.toml": BUILD,
    },
    "setup.cfg": {
        "setup.cfg": "[metadata]\nname = tool\n[options.entry_points]\nconsole_scripts =\n  go = tool:main\n",
        "pyproject.toml": BUILD,
    },
}
COMMANDS = {
    "none": None,
    "poetry build": "poetry build",
    "own": "mkdir -p dist && cp ../made.whl dist/tool-8-py3-none-any.whl",
}


def artifact(tmp_path: Path, project: str, command: str | None, folder: str = "lib") -> Path:
    files = {f"{folder}/{name}": text for name, text in PROJECTS[project].items()}
    build = f", build: {command!r}" if command else ""
    section = f"artifacts: {{own_key: {{type: whl, path: {folder}{build}}}}}\n"
    files |= {"databricks.yml": f"bundle: {{name: b}}\n{section}", f"{folder}/backend/own.py": BACKEND}
    write_files(tmp_path, files)
    with zipfile.ZipFile(tmp_path / "made.whl", "w") as wheel:
        wheel.writestr("tool.py", "COMMAND = True")
    return tmp_path


@pytest.mark.parametrize("command", ["none", "poetry build", "own"])
@pytest.mark.parametrize("project", PROJECTS)
def test_a_project_is_built_by_its_command_or_its_backend(
    tmp_path: Path, project: str, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UV_OFFLINE", "1")
    if command == "poetry build" and shutil.which("poetry"):
        pytest.skip("poetry is installed, and would need more than this project has")
    bundle = load(artifact(tmp_path, project, COMMANDS[command]), environ={})
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    wheel = build_wheels(bundle, scratch)["own_key"]
    with zipfile.ZipFile(wheel) as content:
        text = content.read("tool.py").decode()
    assert (wheel.name.split("-")[1], text) == (
        ("8", "COMMAND = True") if command == "own" else ("7", "BACKEND = True")
    )


@pytest.mark.parametrize("project", PROJECTS)
def test_name_and_entry_points_of_a_project_are_known(tmp_path: Path, project: str) -> None:
    bundle = load(artifact(tmp_path, project, None), environ={})
    found = bundle.distribution("tool")
    assert found.entry_points == ({} if project == "project" else {"go": "tool:main"})


def test_a_bundle_may_be_a_folder_of_the_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UV_OFFLINE", "1")
    spec = "environments: [{environment_key: e, spec: {dependencies: [../../dist/*.whl]}}]"
    files = {
        **PROJECTS["setup.cfg"],
        "backend/own.py": BACKEND,
        "bundle/databricks.yml": "bundle: {name: b}\ninclude: [jobs/*.yml]\n"
        "artifacts: {own_key: {type: whl, path: ..}}\n",
        "bundle/jobs/j.yml": f"resources: {{jobs: {{j: {{{spec}}}}}}}\n",
    }
    bundle = load(write_files(tmp_path, files) / "bundle", environ={})
    assert bundle.distribution("tool").entry_points == {"go": "tool:main"}
    (tmp_path / "scratch").mkdir()
    assert build_wheels(bundle, tmp_path / "scratch")["own_key"].name.startswith("tool-7")


@pytest.mark.parametrize(
    ("command", "files", "part"),
    [
        ("exit 3", {}, "ended with 3"),
        ("true", {}, "no files"),
        (None, {"lib/backend/own.py": "raise ValueError('no compiler')"}, "no compiler"),
        (
            None,
            {"lib/pyproject.toml": BUILD.replace("[]", '["no-such-backend-xyz"]', 1)},
            "no-such-backend-xyz",
        ),
    ],
    ids=["command fails", "command makes nothing", "backend fails", "offline"],
)
def test_an_error_names_the_artifact(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str | None, files: dict[str, str], part: str
) -> None:
    monkeypatch.setenv("UV_OFFLINE", "1")
    folder = write_files(artifact(tmp_path, "setup.py", command), files)
    (tmp_path / "scratch").mkdir()
    with pytest.raises(BundleError) as caught:
        build_wheels(load(folder, environ={}), tmp_path / "scratch")
    assert "own_key" in caught.value.message and part in str(caught.value)


def test_files_without_a_command_are_taken_as_they_are(tmp_path: Path) -> None:
    text = "bundle: {name: b}\nartifacts: {w: {type: whl, files: [{source: made/*.whl}]}}\n"
    write_files(tmp_path, {"databricks.yml": text, "made/a-1-py3-none-any.whl": "x"})
    (tmp_path / "scratch").mkdir()
    assert build_wheels(load(tmp_path, environ={}), tmp_path / "scratch")["w"].name == "a-1-py3-none-any.whl"


def test_a_setup_py_at_the_root_is_an_artifact_without_the_section(tmp_path: Path) -> None:
    write_files(tmp_path, {"databricks.yml": "bundle: {name: b}\n", **PROJECTS["setup.py"]})
    bundle = load(tmp_path, environ={})
    assert [each.key for each in artifacts_of(bundle)] == ["python_artifact"]
    assert bundle.distribution("tool").entry_points == {"go": "tool:main"}


def test_other_artifacts_are_named(tmp_path: Path) -> None:
    text = "bundle: {name: b}\nartifacts: {jar: {build: 'exit 1', files: [{source: a.jar}]}}\n"
    write_files(tmp_path, {"databricks.yml": text})
    bundle = load(tmp_path, environ={})
    (tmp_path / "scratch").mkdir()
    assert build_wheels(bundle, tmp_path / "scratch") == {}
    assert [(each.rule, "jar" in each.message) for each in findings(bundle)] == [("not-built", True)]


@pytest.mark.parametrize("form", ["project", "poetry"])
def test_a_wheel_of_the_bundle_that_another_requires_is_not_queried_of_the_index(
    tmp_path: Path, form: str
) -> None:
    tables = {
        "project": '[project]\nname = "{}"\nversion = "1"\ndependencies = ["{}"]\n',
        "poetry": '[tool.poetry]\nname = "{}"\n[tool.poetry.dependencies]\n{} = "*"\n',
    }
    libraries = "[{whl: one/dist/*.whl}, {whl: two/dist/*.whl}]"
    task = f"{{task_key: t, spark_python_task: {{python_file: a.py}}, libraries: {libraries}}}"
    text = "bundle: {name: b}\nartifacts: {one: {type: whl, path: one}, two: {type: whl, path: two}}\n"
    text += f"resources: {{jobs: {{j: {{tasks: [{task}]}}}}}}\n"
    files = {
        "databricks.yml": text,
        "a.py": "",
        "one/pyproject.toml": tables[form].format("one", "cowsay"),
        "two/pyproject.toml": tables[form].format("two", "one"),
    }
    bundle = load(write_files(tmp_path, files), environ={})
    (only,) = tasks_of("j", bundle.jobs["j"])
    lines, _ = packages_of_task(bundle, bundle.jobs["j"], only)
    assert [line for line in lines if line.startswith("one")] == []
    assert any(line.startswith("cowsay") for line in lines)


@pytest.mark.parametrize(
    ("sources", "installed"),
    [(("a.sql",), False), (("a.sql", "b.py"), True), (("b.ipynb",), True), (("a.sql", "c.md"), False)],
)
@pytest.mark.parametrize("library", ["glob: {include: src/**}", "file: {path: src/*}"])
def test_the_environment_of_a_pipeline_of_sql_alone_is_not_installed(
    tmp_path: Path, library: str, sources: tuple[str, ...], installed: bool
) -> None:
    environment = '{dependencies: ["--editable ."]}'
    pipeline = f"{{libraries: [{{{library}}}], environment: {environment}}}"
    text = f"bundle: {{name: b}}\nresources: {{pipelines: {{p: {pipeline}}}}}\n"
    write_files(tmp_path, {"databricks.yml": text, **{f"src/{name}": "" for name in sources}})
    lines, _ = packages_of_pipeline(load(tmp_path, environ={}), "p")
    assert bool(lines) is installed
