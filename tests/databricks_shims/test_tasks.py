"""What a task of a job finds around it; no Spark."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from lakeward import jobs
from lakeward.bundle import load
from lakeward.jobs import JobRun
from lakeward.session import Settings
from lakeward.session.runtimes.profiles import DEFAULT_PROFILE

BUNDLE = """
bundle: {name: b}
targets: {dev: {}}
resources:
  jobs:
    j:
      tasks:
        - {task_key: land, spark_python_task: {python_file: src/land.py}}
        - task_key: check
          depends_on: [{task_key: land}]
          spark_python_task: {python_file: src/check.py, parameters: ["{{job.run_id}}"]}
"""
LAND = """
import os
from helper import without_free_names

without_free_names()
assert os.path.basename(os.getcwd()) == "src"
dbutils.fs.put("/Volumes/main/default/landing/f", "x")
dbutils.jobs.taskValues.set("count", 3)
display("landed")
dbutils.notebook.exit("enough")
raise AssertionError("never here")
"""
HELPER = """
def without_free_names():
    try:
        dbutils
    except NameError:
        return
    raise AssertionError("the platform gives dbutils to the file alone")
"""
CHECK = """
import json, os, sys
from databricks.sdk.runtime import dbutils as imported
from pyspark.dbutils import DBUtils

assert imported is dbutils
assert __builtins__.sum([1, 2]) == 3
assert DBUtils(spark).fs.head("/Volumes/main/default/landing/f") == "x"
assert dbutils.jobs.taskValues.get("land", "count", debugValue=0) == 3
context = json.loads(dbutils.notebook.entry_point.getDbutils().notebook().getContext().toJson())
assert context["currentRunId"]["id"] == sys.argv[1], context
assert context["tags"]["taskKey"] == "check"
assert os.environ["DATABRICKS_RUNTIME_VERSION"] == "DEFAULT_PROFILE"
"""


def nothing_made(*_: Any) -> None:
    """These tasks need neither schemas nor a Spark session."""


@pytest.fixture
def run(tmp_path: Path) -> JobRun:
    check = CHECK.replace("DEFAULT_PROFILE", DEFAULT_PROFILE)
    sources = {"land": LAND, "helper": HELPER, "check": check}
    files = {"databricks.yml": BUNDLE, **{f"src/{name}.py": text for name, text in sources.items()}}
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(dedent(text))
    settings = Settings.here(tmp_path, environ={}, target="dev")
    (settings.volumes / "main/default/landing").mkdir(parents=True)
    return jobs.run(
        load(tmp_path, user="ann", environ={}),
        "j",
        settings=settings,
        options=jobs.RunOptions(provision=nothing_made),
    )


def test_a_file_has_the_platforms_names_modules_and_working_directory(
    run: JobRun, capsys: pytest.CaptureFixture[str]
) -> None:
    assert [(task.state, task.error) for task in run.tasks] == [("SUCCESS", None)] * 2
    assert Path.cwd().name != "src"
    assert "DATABRICKS_RUNTIME_VERSION" not in os.environ
    assert "helper" not in sys.modules
