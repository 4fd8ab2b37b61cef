"""Resources and mutators in Python, executed by the real package databricks-bundles of this environment."""

from __future__ import annotations

import json
import os
import sys
import venv
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.trees import write_files

from lakeward.bundle import Bundle, findings, load
from lakeward.check import check
from lakeward.cli.main import main
from lakeward.errors import BundleError

pytestmark = pytest.mark.process

ENVIRON = {"PATH": os.environ["PATH"]}
VENV = f"venv_path: {sys.prefix}"
LOAD = 'resources: ["more.made:load_resources"]'
MUTATE = 'mutators: ["more.changes:extend"]'
MADE = """\
from databricks.bundles.core import Bundle, Resources
from databricks.bundles.jobs import Job
from databricks.bundles.pipelines import Pipeline


def load_resources(bundle: Bundle) -> Resources:
    print("stdout of the code is not that of the command")
    resources = Resources()
    etl = {
        "name": "etl",
        "catalog": "${var.catalog}",
        "schema": bundle.target,
        "libraries": [{"file": {"path": "src/p.py"}}],
    }
    resources.add_pipeline("etl", Pipeline.from_dict(etl))
    task = {
        "task_key": "t",
        "existing_cluster_id": "c",
        "spark_python_task": {"python_file": "src/p.py", "parameters": ["${resources.schemas.s.name}"]},
    }
    run = {"task_key": "p", "pipeline_task": {"pipeline_id": "${resources.pipelines.etl.id}"}}
    again = {"task_key": "t", "max_retries": 2}
    job = {"name": "made", "tasks": [task, run, again], "tags": {"own": "x"}}
    resources.add_job("made", Job.from_dict(job))
    return resources
"""
CHANGES = """\
from dataclasses import replace

from databricks.bundles.core import Bundle, job_mutator
from databricks.bundles.jobs import Job


@job_mutator
def extend(bundle: Bundle, job: Job) -> Job:
    tag = {"mutated": bundle.variables["catalog"]}
    return replace(job, timeout_seconds=60, tags={**job.tags, **tag})
"""
ROOT = """\
bundle: {{name: b}}
variables: {{catalog: {{default: main}}}}
{section}
resources:
  schemas: {{s: {{catalog_name: main, name: s}}}}
  jobs:
    written:
      name: written
      tasks:
        - {{task_key: w, existing_cluster_id: c, spark_python_task: {{python_file: src/p.py}}}}
targets: {{dev: {{mode: development, permissions: [{{level: CAN_VIEW, group_name: all}}]}}}}
"""
FILES = {"src/p.py": "", "more/__init__.py": "", "more/made.py": MADE, "more/changes.py": CHANGES}
SECTIONS = {
    "python": f"python: {{{VENV}, {LOAD}, {MUTATE}}}",
    "experimental.python": f"experimental: {{python: {{{VENV}, {LOAD}, {MUTATE}}}}}",
    "both equal": f"python: &p {{{VENV}, {LOAD}, {MUTATE}}}\nexperimental: {{python: *p}}",
}

Make = Callable[..., Bundle]


def made_of(folder: Path, section: str, **files: str) -> Bundle:
    write_files(folder, {"databricks.yml": ROOT.format(section=section), **FILES, **files})
    return load(folder, None, {}, user="ann", environ=ENVIRON)


@pytest.fixture(scope="module", params=SECTIONS)
def bundle(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Bundle:
    return made_of(tmp_path_factory.mktemp("bundle"), SECTIONS[request.param])


def test_resources_of_python_are_as_those_of_yaml(bundle: Bundle) -> None:
    """Variables, references, merging, presets and permissions apply; paths are relative to the bundle."""
    job = bundle.jobs["made"]
    assert job["name"] == "[dev ann] made"
    assert job["tags"] == {"own": "x", "dev": "ann", "mutated": "main"}
    assert job["permissions"] == [{"level": "CAN_VIEW", "group_name": "all"}]
    assert [task["task_key"] for task in job["tasks"]] == ["t", "p"]
    first, second = job["tasks"]
    assert (first["max_retries"], first["spark_python_task"]["python_file"]) == (2, "src/p.py")
    assert first["spark_python_task"]["parameters"] == ["dev_ann_s"]
    assert second["pipeline_task"]["pipeline_id"] == str(bundle.id_of("pipelines", "etl"))
    pipeline = bundle.pipelines["etl"]
    assert (pipeline["catalog"], pipeline["schema"], pipeline["development"]) == ("main", "dev", True)


def test_mutators_change_resources_of_yaml_and_python_once(bundle: Bundle) -> None:
    for key in ("made", "written"):
        job = bundle.jobs[key]
        assert (job["timeout_seconds"], job["tags"]["mutated"]) == (60, "main")
        assert job["name"] == f"[dev ann] {key}"
        assert len(job["permissions"]) == 1


def test_places_are_those_of_the_code_and_unchanged_parts_keep_theirs(bundle: Bundle) -> None:
    made = bundle.position("resources", "pipelines", "etl", "name")
    assert made is not None and made.file.endswith("made.py") and made.line > 1
    name = bundle.position("resources", "jobs", "written", "name")
    assert name is not None and name.file == "databricks.yml"
    assert [str(each) for each in findings(bundle)] == []


FAILURES = {
    "venv missing": (f"python: {{venv_path: .venv, {LOAD}}}", {}, "PYTHON_ENVIRONMENT_MISSING", ".venv"),
    "both differ": (
        f"python: {{{VENV}, {LOAD}}}\nexperimental: {{python: {{{MUTATE}}}}}",
        {},
        "PYTHON_INVALID",
        "exclude each other",
    ),
    "pydabs": ("experimental: {pydabs: {enabled: true}}", {}, "PYTHON_INVALID", "pydabs"),
    "no function": (f"python: {{{VENV}, resources: [more]}}", {}, "PYTHON_INVALID", "module:name"),
    "module missing": (f"python: {{{VENV}, resources: ['lost:f']}}", {}, "PYTHON_FAILED", "lost"),
    "name missing": (f"python: {{{VENV}, resources: ['more.made:f']}}", {}, "PYTHON_FAILED", "'f'"),
    "raises": (
        f"python: {{{VENV}, {LOAD}}}",
        {"more/made.py": "def load_resources():\n    raise ValueError('no data')\n"},
        "PYTHON_FAILED",
        "no data",
    ),
    "exits": (
        f"python: {{{VENV}, {LOAD}}}",
        {"more/made.py": "import sys\ndef load_resources():\n    sys.exit('stop here')\n"},
        "PYTHON_FAILED",
        "stop here",
    ),
    "mutator undecorated": (
        f"python: {{{VENV}, {MUTATE}}}",
        {"more/changes.py": "def extend(job):\n    return job\n"},
        "PYTHON_FAILED",
        "extend",
    ),
    "same key": (
        f"python: {{{VENV}, {LOAD}}}",
        {"more/made.py": MADE.replace('add_job("made"', 'add_job("written"')},
        "RESOURCE_DUPLICATE",
        "jobs.written",
    ),
    "key of another kind": (
        f"python: {{{VENV}, {LOAD}}}",
        {"more/made.py": MADE.replace('add_job("made"', 'add_job("s"')},
        "RESOURCE_DUPLICATE",
        "`s`",
    ),
    "unknown reference": (
        f"python: {{{VENV}, {LOAD}}}",
        {"more/made.py": MADE.replace("${var.catalog}", "${var.catlog}")},
        "VARIABLE_UNKNOWN",
        "more/made.py",
    ),
}


@pytest.mark.parametrize("case", FAILURES)
def test_a_failure_is_an_error_that_names_its_place_and_cause(tmp_path: Path, case: str) -> None:
    section, files, condition, part = FAILURES[case]
    with pytest.raises(BundleError) as caught:
        made_of(tmp_path, section, **files)
    assert (caught.value.condition, part in str(caught.value)) == (condition, True), str(caught.value)
    assert "databricks.yml:" in str(caught.value) or "more/" in str(caught.value)


def test_without_the_package_the_error_names_package_and_command(tmp_path: Path) -> None:
    venv.create(tmp_path / ".venv", symlinks=True)
    with pytest.raises(BundleError) as caught:
        made_of(tmp_path, f"python: {{venv_path: .venv, {LOAD}}}")
    assert caught.value.condition == "PYTHON_PACKAGE_MISSING"
    assert "databricks-bundles" in caught.value.message
    assert ".venv/bin/pip install databricks-bundles" in str(caught.value.next_step)
    assert "uv sync" not in str(caught.value.next_step)
    (tmp_path / "pyproject.toml").write_text('[dependency-groups]\ndev = ["databricks-bundles==1.8.0"]\n')
    with pytest.raises(BundleError, match="uv sync"):
        load(tmp_path, environ=ENVIRON)


def test_restricted_execution_is_respected(tmp_path: Path) -> None:
    write_files(tmp_path, {"databricks.yml": ROOT.format(section=SECTIONS["python"]), **FILES})
    with pytest.raises(BundleError) as caught:
        load(tmp_path, environ={**ENVIRON, "DATABRICKS_BUNDLE_RESTRICTED_CODE_EXECUTION": "1"})
    assert caught.value.condition == "PYTHON_RESTRICTED"


def test_warnings_of_the_code_are_findings(tmp_path: Path) -> None:
    warned = MADE.replace(
        "    return resources", '    resources.add_diagnostic_warning("be careful")\n    return resources'
    )
    found = findings(made_of(tmp_path, f"python: {{{VENV}, {LOAD}}}", **{"more/made.py": warned}))
    assert [(each.rule, each.severity) for each in found] == [("python", "warning")]
    assert "be careful" in found[0].message


def test_commands_show_resources_of_python_and_check_names_what_it_does_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    files = {"databricks.yml": ROOT.format(section=SECTIONS["python"]), **FILES}
    monkeypatch.chdir(write_files(tmp_path, files))
    assert main(["bundle", "validate", "-o", "json"]) == 0
    assert set(json.loads(capsys.readouterr().out)["resources"]["jobs"]) == {"made", "written"}
    assert main(["bundle", "summary", "-o", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["resources"]["pipelines"]["etl"]["writes"] == "main.dev"
    (unread,) = check(tmp_path).unread
    assert "more.made:load_resources, more.changes:extend" in unread.reason
    assert not (tmp_path / "more/__pycache__").exists()
