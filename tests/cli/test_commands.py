"""The commands from outside, with real pipelines: what is on which stream, and the exit codes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.process

GOOD = """\
from pyspark import pipelines as dp

print("a print of the user's")

@dp.table
@dp.expect("small", "id < 8")
def numbers():
    return spark.readStream.table("source")

@dp.materialized_view
def total():
    return spark.read.table("numbers").groupBy().count()
"""
BAD = """\
from pyspark import pipelines as dp

@dp.table
@dp.expect_or_fail("small", "id < 8")
def numbers():
    return spark.readStream.table("main.default.source")

@dp.materialized_view
def total():
    return spark.read.table("numbers").groupBy().count()
"""
SLOW = """\
from pyspark import pipelines as dp
from pyspark.sql import functions as F

@dp.materialized_view
def slow():
    wait = F.udf(lambda n: __import__("time").sleep(1) or n, "long")
    return spark.range(0, 100, 1, 1).select(wait("id").alias("n"))
"""


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "lakeward", *arguments]


def environment() -> dict[str, str]:
    return {
        name: value for name, value in os.environ.items() if name not in ("LAKEWARD_HOME", "LAKEWARD_VERBOSE")
    }


def lakeward(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    ran = subprocess.run(
        command(*arguments),
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert "Traceback" not in ran.stderr, ran.stderr
    return ran


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a source table of ten rows."""
    folder = tmp_path_factory.mktemp("commands")
    (folder / "good.py").write_text(GOOD)
    ran = lakeward(folder, "sql", "-e", "create table source as select id from range(10); show tables")
    assert ran.returncode == 0, ran.stderr
    assert ran.stderr == ""
    assert "source" in ran.stdout
    return folder


def test_a_pipeline_shows_progress_on_stderr_and_its_result_on_stdout(folder: Path) -> None:
    ran = lakeward(folder, "pipeline", "good.py")
    assert ran.returncode == 0, ran.stderr
    lines = [line.split("  ")[-1] for line in ran.stderr.splitlines()]
    assert lines[0] == "good.py: starting Spark …"
    assert "a print of the user's" in ran.stderr
    assert any(line.startswith("numbers COMPLETED, 10 rows") for line in lines)
    assert 'lakeward sql -e "select * from total limit 5"' in ran.stdout
    assert "numbers" in ran.stdout
    events = lakeward(folder, "events", "good", "--json")
    assert events.returncode == 0, events.stderr
    assert "update_progress" in {event["event_type"] for event in json.loads(events.stdout)}


def test_json_is_the_only_thing_on_stdout(folder: Path) -> None:
    ran = lakeward(folder, "pipeline", "good.py", "--json", "--full-refresh-all")
    told = json.loads(ran.stdout)
    assert (ran.returncode, told["state"]) == (0, "COMPLETED")
    numbers = next(each for each in told["datasets"] if each["name"].endswith("numbers"))
    assert numbers["rows_written"] == 10
    assert numbers["expectations"] == [{"name": "small", "passed": 8, "failed": 2}]


def test_a_failed_expectation_fails_the_run_and_names_itself_and_the_record(folder: Path) -> None:
    (folder / "bad.py").write_text(BAD)
    ran = lakeward(folder, "pipeline", "bad.py", "--json", "--schema", "strict", "--conf", "a=b")
    told = json.loads(ran.stdout)
    assert (ran.returncode, told["state"]) == (1, "FAILED")
    states = {each["name"].split(".")[-1]: each["state"] for each in told["datasets"]}
    assert states == {"numbers": "FAILED", "total": "SKIPPED"}
    error = next(each["error"] for each in told["datasets"] if each["state"] == "FAILED")
    assert "small" in error


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("def broken(:\n", ("broken.py:1", "SYNTAX_ERROR")),
        pytest.param("raise RuntimeError('no wings')\n", ("no wings",), marks=pytest.mark.slow),
        pytest.param(GOOD.replace('table("source")', 'table("sorce")'), ("sorce",), marks=pytest.mark.slow),
    ],
    ids=["syntax error", "a file that raises", "unknown table"],
)
def test_a_faulty_source_fails_the_run_with_its_reason(
    folder: Path, source: str, says: tuple[str, ...]
) -> None:
    (folder / "broken.py").write_text(source)
    ran = lakeward(folder, "pipeline", "broken.py", "--dry-run")
    assert ran.returncode == 1, ran.stdout + ran.stderr
    for words in says:
        assert words in ran.stdout + ran.stderr


def test_an_empty_folder_is_wrong_usage(folder: Path) -> None:
    (folder / "empty").mkdir()
    ran = lakeward(folder, "pipeline", "empty")
    assert ran.returncode == 2
    assert "empty" in ran.stderr


def test_an_error_in_sql_is_told_with_near_misses_and_code_1(folder: Path) -> None:
    ran = lakeward(folder, "sql", "--format", "csv", "-e", "select 1 as a; select * from sorce; select 2")
    assert ran.returncode == 1
    assert ran.stdout == "a\r\n1\r\n".replace("\r\n", "\n")
    assert ran.stderr.startswith("error: [TABLE_OR_VIEW_NOT_FOUND]")
    assert "Did you mean source?" in ran.stderr
    assert "Project" not in ran.stderr


def test_ctrl_c_ends_a_run_as_canceled_and_the_next_one_continues(folder: Path) -> None:
    (folder / "slow.py").write_text(SLOW)
    running = subprocess.Popen(
        command("pipeline", "slow.py", "--json"),
        cwd=folder,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert running.stderr is not None
    for line in running.stderr:
        if "slow RUNNING" in line:
            break
    time.sleep(3)
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=120)
    assert running.returncode == 130, err
    assert json.loads(out)["state"] == "CANCELED"
    assert "Traceback" not in err
    (folder / "slow.py").write_text(SLOW.replace("100, 1, 1", "2, 1, 1").replace("sleep(1)", "sleep(0)"))
    assert lakeward(folder, "pipeline", "slow.py").returncode == 0
