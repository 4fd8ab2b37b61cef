"""`lakeward check` from outside: streams, exit codes, and no Spark anywhere."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.processes import environ_without, outcome, without_pyspark


def lakeward(folder: Path, *arguments: str, spark: bool = False) -> subprocess.CompletedProcess[str]:
    path = os.environ.get("PYTHONPATH", "") if spark else without_pyspark(folder.parent)
    kept = environ_without("LAKEWARD_", "DATABRICKS_")
    ran = outcome(
        [sys.executable, "-m", "lakeward", "check", *arguments],
        cwd=folder,
        env={**kept, "PYTHONPATH": path},
        timeout=120,
    )
    assert "Traceback" not in ran.stderr, ran.stderr
    return ran


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "repository"
    folder.mkdir()
    (folder / "a.py").write_text("import dlt\ndlt.no_such_flow('x')\n" + "df.cache()\n" * 5)
    (folder / "b.py").write_text("spark.table('main.raw.orders')\n")
    (folder / "databricks.yml").write_text("bundle: {name: x}\n")
    return folder


def test_plain_text_groups_by_verdict_the_worst_first(folder: Path) -> None:
    ran = lakeward(folder)
    assert ran.returncode == 0 and ran.stderr == "" and "\x1b" not in ran.stdout
    assert ran.stdout.startswith("1 of 2 files will run; 1 uses something that is refused; 1 input must be ")
    titles = [line for line in ran.stdout.splitlines()[3:] if line and not line.startswith(" ")]
    assert titles == ["refused", "would fail on serverless", "needs a seed", "runs with lakeward"]
    assert "    a.py:2:5\n" in ran.stdout and "    and 2 more\n" in ran.stdout


def test_json_is_one_object_and_nothing_else(folder: Path) -> None:
    ran = lakeward(folder, "--json")
    document = json.loads(ran.stdout)
    assert ran.stdout.count("\n") == 1 and ran.stderr == ""
    assert document["constructs"]["refused"] == 1 and document["constructs"]["needs_seed"] == 1
    assert {"verdict", "construct", "file", "cell", "line", "column", "cure", "targets"} == set(
        document["findings"][0]
    )
    assert [each for each in document["findings"] if each["verdict"] == "refused"] == [
        {
            "verdict": "refused", "construct": "pipelines no_such_flow", "file": "a.py", "cell": None,
            "line": 2, "column": 5, "cure": document["findings"][1]["cure"], "targets": [],
        }
    ]  # fmt: skip


def test_places_can_be_opened_from_the_working_folder(folder: Path) -> None:
    (folder / "src").mkdir()
    (folder / "src" / "c.py").write_text("df.rdd\n")
    for path, shown in (
        ("src", "src/c.py"),
        ("src/c.py", "src/c.py"),
        (str(folder / "src"), f"{folder}/src/c.py"),
    ):
        assert f"    {shown}:1:4\n" in lakeward(folder, path).stdout
    assert json.loads(lakeward(folder, "src", "--json").stdout)["findings"][0]["file"] == "src/c.py"


def test_strict_fails_on_what_keeps_code_from_running(folder: Path) -> None:
    assert lakeward(folder, "--strict").returncode == 1
    assert lakeward(folder, "a.py", "--strict").returncode == 1
    assert lakeward(folder, "b.py", "--strict").returncode == 1
    (folder / "a.py").write_text("df.cache()\n")
    assert lakeward(folder, "a.py", "--strict").returncode == 0
    (folder / "a.py").write_text("(")
    assert lakeward(folder, "a.py", "--strict").returncode == 1
    assert lakeward(folder, "a.py").returncode == 0


def test_a_path_that_is_not_there_is_wrong_usage(folder: Path) -> None:
    ran = lakeward(folder, "c.py")
    assert ran.returncode == 2 and "There is no file or folder c.py" in ran.stderr and "a.py" in ran.stderr


def test_control_characters_do_not_reach_the_terminal(folder: Path) -> None:
    (folder / "c.py").write_text("spark.table('\\x1b[2Jevil')\n")
    assert "\x1b" not in lakeward(folder, "c.py").stdout


def test_patches_are_listed_with_their_reasons_and_without_a_jvm(folder: Path) -> None:
    ran = lakeward(folder, "--patches", "--json", spark=True)
    document = json.loads(ran.stdout)["patches"]
    changed = {f"{each['owner']}.{each['attribute']}" for each in document}
    assert {
        "pyspark.sql.session.SparkSession.Builder.getOrCreate",
        "pyspark.sql.streaming.readwriter.DataStreamReader.format",
        "pyspark.pipelines.table",
        "builtins.open",
        "delta.tables.DeltaTable.forName",
        "sys.meta_path",
    } <= changed
    assert all(each["why"] for each in document)
    assert "changes to other people's classes" in lakeward(folder, "--patches", spark=True).stdout


def test_a_report_of_many_findings_has_at_most_60_lines_and_all_of_them_on_demand(tmp_path: Path) -> None:
    for number in range(300):
        code = f"dbutils.wrong{number}()\nspark.table('main.raw.t{number}')\n"
        code += f"dbutils.fs.cp('s3://b{number}/x', 'y')\n"
        (tmp_path / f"a{number:03}.py").write_text(code)
    ran = lakeward(tmp_path)
    printed = ran.stdout.splitlines()
    assert len(printed) <= 60
    titles = [line for line in printed[3:] if line and not line.startswith(" ")]
    assert titles == ["refused", "needs a seed", "runs with lakeward"]
    advice = [line for line in printed if line.startswith("    → ")]
    assert len(set(advice)) == len(advice)
    everything = lakeward(tmp_path, "--all").stdout
    for number in range(300):
        assert f"dbutils.wrong{number}" in everything
        assert f"s3://b{number}" in everything


def test_each_error_is_printed_once_with_its_files(tmp_path: Path) -> None:
    for name in "abcde":
        (tmp_path / f"{name}.sql").write_bytes(b"\xff\xfe\xff")
    lines = [line for line in lakeward(tmp_path).stdout.splitlines() if "a.sql" in line]
    assert len(lines) == 1 and "and 2 more" in lines[0]
