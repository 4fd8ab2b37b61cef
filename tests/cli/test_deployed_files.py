"""`${workspace.file_path}` in a bundle that runs without a deployment: its own folder, for all code."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.processes import outcome
from tests.trees import write_files

FILES = {
    "databricks.yml": """
bundle: {name: shop}
targets: {dev: {mode: development, default: true}}
resources:
  pipelines:
    p:
      name: p
      catalog: main
      schema: s
      configuration: {bundle.sourcePath: "${workspace.file_path}/lib"}
      libraries: [{file: {path: pipe.py}}]
  jobs:
    j:
      name: j
      environments: [{environment_key: e, spec: {environment_version: "4"}}]
      tasks:
        - task_key: script
          environment_key: e
          spark_python_task: {python_file: script.py, parameters: ["${workspace.file_path}/conf/a.txt"]}
        - task_key: note
          depends_on: [{task_key: script}]
          notebook_task: {notebook_path: note.py, base_parameters: {conf: "${workspace.file_path}/conf"}}
        - task_key: pipe
          depends_on: [{task_key: note}]
          pipeline_task: {pipeline_id: "${resources.pipelines.p.id}"}
""",
    "conf/a.txt": "hello",
    "lib/rows_of_test.py": "ROWS = 5\n",
    "script.py": """
import subprocess, sys
from pyspark.sql import SparkSession
spark = SparkSession.builder.getOrCreate()
print("python", open(sys.argv[1]).read())
print("spark", spark.read.text("file:" + sys.argv[1]).first()[0])
print("program", subprocess.check_output(["cat", sys.argv[1]], text=True))
""",
    "note.py": """# Databricks notebook source
import os
print("listed", os.listdir(dbutils.widgets.get("conf")))
print("dbutils", [file.name for file in dbutils.fs.ls("file:" + dbutils.widgets.get("conf"))])
folder = os.getcwd().removeprefix("/Workspace")
print("path", dbutils.notebook.getContext().notebookPath().get() == folder + "/note")
""",
    "pipe.py": """
import sys
sys.path.append(spark.conf.get("bundle.sourcePath"))
from rows_of_test import ROWS
from pyspark import pipelines as dp

@dp.materialized_view
def rows():
    return spark.range(ROWS)
""",
}


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.parametrize("processes", ["--in-process", "--isolated"])
@pytest.mark.parametrize("root", ["", "/Workspace/Shared/shop", "/Shared/shop"])
def test_the_files_of_a_deployment_are_those_of_the_bundle(tmp_path: Path, processes: str, root: str) -> None:
    configuration = FILES["databricks.yml"]
    if root:
        configuration = configuration.replace("mode: development", f"workspace: {{root_path: {root}}}")
    # The state is shared with the other cases, and a table belongs to one pipeline.
    configuration = configuration.replace("schema: s", f"schema: s{root.count('/')}")
    write_files(tmp_path, {**FILES, "databricks.yml": configuration})
    done = outcome([sys.executable, "-m", "lakeward", "run", "j", processes], cwd=tmp_path)
    printed = done.stdout + done.stderr
    assert done.returncode == 0, printed
    for line in (
        *("python hello", "spark hello", "program hello", "listed ['a.txt']", "dbutils ['a.txt']"),
        *("path True", "rows COMPLETED,"),
    ):
        assert line in printed, line
