"""A job in a file of its own, without a bundle."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest
from tests.processes import outcome, without_pyspark

from lakeward import jobs
from lakeward.bundle import Bundle, load_jobs, only_job
from lakeward.errors import BundleError
from lakeward.jobs import JobRun
from lakeward.session import Settings

WRITE = "import sys\nfrom pathlib import Path\nPath(sys.argv[1]).write_text(' '.join(sys.argv[2:]))\n"

SETTINGS = {
    "name": "Nightly load",
    "parameters": [{"name": "day", "default": "1"}],
    "tasks": [
        {
            "task_key": "load",
            "spark_python_task": {
                "python_file": "../src/write.py",
                "parameters": ["{{job.parameters.out}}", "day", "{{job.parameters.day}}"],
            },
        }
    ],
    "schedule": {"quartz_cron_expression": "0 0 3 * * ?", "timezone_id": "UTC"},
}
EXPORTED = """
    resources:
      jobs:
        nightly:
          name: Nightly load
          parameters: [{name: day, default: "1"}, {name: out, default: ""}]
          tasks:
            - task_key: load
              spark_python_task:
                python_file: ../src/write.py
                parameters: ["{{job.parameters.out}}", day, "{{job.parameters.day}}"]
        weekly:
          tasks: [{task_key: load, spark_python_task: {python_file: ../src/write.py}}]
"""


@pytest.fixture
def file_of(tmp_path: Path) -> Callable[[str, str], Path]:
    """Write a job file into `jobs/`, with the script that it runs in `src/`."""

    def write(name: str, text: str) -> Path:
        for path, content in {f"jobs/{name}": dedent(text), "src/write.py": WRITE}.items():
            (tmp_path / path).parent.mkdir(exist_ok=True)
            (tmp_path / path).write_text(content)
        return tmp_path / "jobs" / name

    return write


def settings_with(**changes: object) -> str:
    out = [{"name": "day", "default": "1"}, {"name": "out", "default": ""}]
    return json.dumps({**SETTINGS, "parameters": out, **changes}, indent="\t")


def run(bundle: Bundle, key: str, folder: Path, **parameters: str) -> JobRun:
    settings = Settings.here(folder, environ={})
    options = jobs.RunOptions(parameters=parameters, provision=lambda *_: None)
    return jobs.run(bundle, key, settings=settings, options=options)


@pytest.mark.parametrize(
    ("name", "text", "key"),
    [
        ("nightly.json", settings_with(), "nightly"),
        ("Nightly load.job.json", settings_with(), "Nightly_load"),
        (
            "got.json",
            json.dumps({"job_id": 7, "creator_user_name": "a", "settings": json.loads(settings_with())}),
            "got",
        ),
    ],
)
def test_the_settings_of_a_job_run_from_their_file(
    file_of: Callable[[str, str], Path], tmp_path: Path, name: str, text: str, key: str
) -> None:
    bundle = load_jobs(file_of(name, text), user="ann")
    assert only_job(bundle, name, None) == key
    assert run(bundle, key, tmp_path, out=str(tmp_path / "out"), day="5").state == "COMPLETED"
    assert (tmp_path / "out").read_text() == "day 5"


def test_an_exported_file_runs_the_job_that_is_named(
    file_of: Callable[[str, str], Path], tmp_path: Path
) -> None:
    bundle = load_jobs(file_of("jobs.yml", EXPORTED), user="ann")
    assert bundle.target == "local"
    assert run(bundle, "nightly", tmp_path, out=str(tmp_path / "out")).state == "COMPLETED"
    assert (tmp_path / "out").read_text() == "day 1"
    with pytest.raises(BundleError, match=r"2 jobs: nightly, weekly.*jobs\.yml:nightly"):
        only_job(bundle, "jobs.yml", None)
    with pytest.raises(BundleError, match="Did you mean `nightly`"):
        only_job(bundle, "jobs.yml", "nightli")


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("a.yml", "tasks: [unclosed", "a.yml:1:"),
        ("a.json", '{"tasks": ', "a.json:1:"),
        ("a.json", "[]", "has to be a mapping"),
        ("a.yml", "", "it has nothing, and neither `tasks` nor"),
        ("a.yml", "name: x\ntask: []\n", "it has name, task, and neither `tasks` nor"),
        ("a.yml", "name: x\ntasks: load\n", "a.yml:2:8: `tasks` has to be a list"),
        ("a.yml", "resources: {pipelines: {p: {}}}\n", "`resources` has no `jobs`"),
        ("a.yml", "resources: {jobs: {p: }}\n", "jobs.p is nothing"),
        ("a.yml", "name: x\nnotebook_task: {notebook_path: a}\n", "version 2.0 of the Jobs API"),
        ("a.yml", "tasks: [{task_key: a, spark_python_task: {python_file: '${var.x}'}}]", "a.yml:1:"),
    ],
)
def test_a_file_that_is_no_job_says_where_and_why(
    file_of: Callable[[str, str], Path], name: str, text: str, says: str
) -> None:
    with pytest.raises(BundleError) as raised:
        load_jobs(file_of(name, text), user="ann")
    assert says in str(raised.value)


def lakeward(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return outcome(
        [sys.executable, "-m", "lakeward", "run", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": without_pyspark(folder)},
        timeout=60,
    )


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("missing.json",), "The job file missing.json is not there"),
        (("jobs",), "has a databricks.yml"),
        (("jobs/a.json", "-t", "dev"), "only a bundle has targets"),
        (("jobs/a.json:other",), "jobs/a.json has no job `other`"),
        (("jobs/a.json", "--param", "dya=1"), "no parameter `dya`"),
        (("jobs/a.json", "--only", "laod"), "no task `laod`"),
        (("jobs/lost.json",), "there is no"),
    ],
)
def test_a_mistake_is_one_message_with_code_2(
    file_of: Callable[[str, str], Path], tmp_path: Path, arguments: tuple[str, ...], says: str
) -> None:
    file_of("a.json", settings_with())
    file_of("lost.json", settings_with().replace("write.py", "lost.py"))
    ran = lakeward(tmp_path, *arguments)
    assert ran.returncode == 2, ran.stderr
    assert says in ran.stderr
    assert "Traceback" not in ran.stderr
    assert not (tmp_path / ".lakeward").exists()
