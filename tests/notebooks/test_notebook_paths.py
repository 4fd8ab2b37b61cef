"""Paths that a notebook derives from its own, in a process as a user starts it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.lanes import sampled
from tests.processes import outcome

NOTEBOOK = """# Databricks notebook source
import os, subprocess, sys
context = dbutils.notebook.entry_point.getDbutils().notebook().getContext()
folder = os.path.dirname(context.notebookPath().get())
file = "/Workspace" + folder + "/data/a.txt"
print("open", open(file).read())
print("listed", os.listdir("/Workspace" + folder + "/data"))
print("program", subprocess.check_output(["cat", file], text=True))
print("spark", spark.read.text("file:/Workspace" + folder + "/data").first()[0])
sys.path.append("/Workspace" + os.path.dirname(folder) + "/lib")
import helper
print("module", helper.VALUE)
print("folder", os.getcwd() == folder)

# COMMAND ----------

# What native libraries and programs see, also in Python workers.
from pyspark.sql.functions import udf
spark.sql("CREATE VOLUME main.default.v")
dbutils.fs.put("/Volumes/main/default/v/b.txt", "volume", True)
script = "p=/Volu; cat ${p}mes/main/default/v/b.txt 2>/dev/null || printf nothing"

@udf("string")
def read(_):
    return subprocess.check_output(["sh", "-c", script], text=True)

print("driver", subprocess.check_output(["sh", "-c", script], text=True))
print("worker", spark.range(1).select(read("id")).first()[0])
"""


@pytest.mark.process
@pytest.mark.parametrize("bind", sampled(["true", "false"], "false"))
def test_a_notebook_finds_its_project_below_workspace(tmp_path: Path, bind: str) -> None:
    if bind == "true" and outcome(["unshare", "-Um" if os.geteuid() else "-m", "true"]).returncode:
        pytest.skip("this machine does not allow mount namespaces")
    for name, text in {
        "pyproject.toml": f"[tool.lakeward]\nbind-mounts = {bind}\n",
        "notebooks/run.py": NOTEBOOK,
        "notebooks/data/a.txt": "hello",
        "lib/helper.py": "VALUE = 7\n",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    done = outcome([sys.executable, "-m", "lakeward", "notebook", "notebooks/run.py"], cwd=tmp_path)
    printed = [line for line in done.stderr.splitlines() if line.split(" ")[0] in LINES]
    seen = "volume" if bind == "true" else "nothing"
    assert printed == [
        *("open hello", "listed ['a.txt']", "program hello", "spark hello", "module 7", "folder True"),
        *(f"driver {seen}", f"worker {seen}"),
    ], done.stderr


LINES = ("open", "listed", "program", "spark", "module", "folder", "driver", "worker")


MOUNTED = """# Databricks notebook source
import os
print("folder", os.getcwd())
print("data", os.path.exists("/Volumes/main/default/v/run.py"))
os.chdir("/Volumes/main/default/data")
print("moved", os.getcwd())
1 / 0
"""


@pytest.mark.process
@pytest.mark.parametrize(
    ("prefix", "is_code_named"),
    [("/Volumes/main/default/v", True), ("/dbfs/mnt/v", True), ("/Workspace/Shared/v", False)],
)
def test_a_mount_of_the_project_leaves_its_files_their_names(
    tmp_path: Path, prefix: str, is_code_named: bool
) -> None:
    mounts = {prefix: ".", "/Volumes/main/default/v": ".", "/Volumes/main/default/data": "data"}
    lines = [f'"{path}" = "{target}"' for path, target in mounts.items()]
    (tmp_path / "data").mkdir()
    (tmp_path / "run.py").write_text(MOUNTED)
    (tmp_path / "pyproject.toml").write_text("\n".join(["[tool.lakeward.mounts]", *lines]))
    done = outcome([sys.executable, "-m", "lakeward", "notebook", "run.py"], cwd=tmp_path)
    named = tmp_path if is_code_named else Path(prefix)
    printed = [line for line in done.stderr.splitlines() if line.split(" ")[0] in ("folder", "data", "moved")]
    expected = [f"folder {named}", "data True", "moved /Volumes/main/default/data"]
    assert printed == expected, done.stderr
    assert f"cell 1, {named}/run.py:7: division by zero" in done.stderr
