"""The commands from outside, with real pipelines: what is on which stream, and the exit codes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.inside import Inside
from tests.processes import SharedDaemon, outcome
from tests.trees import write_files

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
def done():
    return spark.range(5)

@dp.materialized_view
def slow():
    wait = F.udf(lambda n: __import__("time").sleep(1) or n, "long")
    return spark.read.table("done").crossJoin(spark.range(0, 100, 1, 1)).select(wait("done.id").alias("n"))
"""


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "lakeward", *arguments]


def environment() -> dict[str, str]:
    return {
        name: value for name, value in os.environ.items() if name not in ("LAKEWARD_HOME", "LAKEWARD_VERBOSE")
    }


def lakeward(folder: Path, daemon: SharedDaemon, *arguments: str) -> subprocess.CompletedProcess[str]:
    ran = outcome(command(*arguments), cwd=folder, env=daemon.environ(environment()), timeout=300)
    assert "Traceback" not in ran.stderr, ran.stderr
    return ran


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, shared_daemon: SharedDaemon) -> Path:
    """A folder with a source table of ten rows."""
    folder = tmp_path_factory.mktemp("commands")
    (folder / "good.py").write_text(GOOD)
    ran = lakeward(
        folder, shared_daemon, "sql", "-e", "create table source as select id from range(10); show tables"
    )
    assert ran.returncode == 0, ran.stderr
    # The first session of a machine reports that it fetches Delta's jars.
    assert [line for line in ran.stderr.splitlines() if not line.startswith("Fetching jars")] == []
    assert "source" in ran.stdout
    return folder


@pytest.mark.process
def test_json_is_the_only_thing_on_stdout_and_prints_go_to_stderr(
    folder: Path, shared_daemon: SharedDaemon
) -> None:
    ran = lakeward(folder, shared_daemon, "pipeline", "good.py", "--json")
    document = json.loads(ran.stdout)
    assert (ran.returncode, document["state"]) == (0, "COMPLETED")
    numbers = next(each for each in document["datasets"] if each["name"].endswith("numbers"))
    assert numbers["rows_written"] == 10
    assert numbers["expectations"] == [{"name": "small", "passed": 8, "failed": 2}]
    lines = [line.split("  ")[-1] for line in ran.stderr.splitlines()]
    assert lines[0] == "good.py: starting Spark …"
    assert "a print of the user's" in lines
    assert any(line.startswith("numbers COMPLETED, 10 rows") for line in lines)


def test_a_pipeline_shows_progress_its_result_and_what_to_do_next(folder: Path, inside: Inside) -> None:
    inside = inside.at(folder)
    ran = inside("pipeline", "good.py", "--full-refresh-all")
    assert ran.returncode == 0, ran.stderr
    assert "numbers COMPLETED, 10 rows" in ran.stderr
    assert 'lakeward sql -e "select * from total limit 5"' in ran.stdout
    assert "numbers" in ran.stdout
    line = ran.stdout.splitlines()[-1]
    assert line == f"report    {folder}/.lakeward/local/reports/good.html"
    assert "numbers" in Path(line.removeprefix("report    ")).read_text()
    events = inside("events", "good", "--json")
    assert events.returncode == 0, events.stderr
    assert "update_progress" in {event["event_type"] for event in events.document}


def test_a_failed_expectation_fails_the_run_and_names_itself_and_the_record(
    folder: Path, inside: Inside
) -> None:
    inside = inside.at(folder)
    (folder / "bad.py").write_text(BAD)
    ran = inside("pipeline", "bad.py", "--json", "--schema", "strict", "--conf", "a=b")
    document = ran.document
    assert (ran.returncode, document["state"]) == (1, "FAILED")
    states = {each["name"].split(".")[-1]: each["state"] for each in document["datasets"]}
    assert states == {"numbers": "FAILED", "total": "SKIPPED"}
    error = next(each["error"] for each in document["datasets"] if each["state"] == "FAILED")
    assert "small" in error


def test_an_empty_folder_is_wrong_usage(folder: Path, inside: Inside) -> None:
    inside = inside.at(folder)
    (folder / "empty").mkdir()
    ran = inside("pipeline", "empty")
    assert ran.returncode == 2
    assert "empty" in ran.stderr


def test_an_error_in_sql_is_reported_with_near_misses_and_code_1(folder: Path, inside: Inside) -> None:
    inside = inside.at(folder)
    ran = inside("sql", "--format", "csv", "-e", "select 1 as a; select * from sorce; select 2")
    assert ran.returncode == 1
    assert ran.stdout.splitlines() == ["a", "1"]
    assert ran.stderr.startswith("error: [TABLE_OR_VIEW_NOT_FOUND]")
    assert "Did you mean source?" in ran.stderr
    assert "Project" not in ran.stderr


UNBOUND = {
    "value": "select :day",
    "table": "select * from identifier(:day)",
    "part of a table": "select * from identifier(concat_ws('.', 'main', :day, 't'))",
    "target": "create table identifier('main.default.' || :day) (id int)",
    "drop": "drop table if exists identifier(:day)",
}


@pytest.mark.parametrize("name", UNBOUND)
def test_a_parameter_of_a_statement_without_a_value_is_named(folder: Path, inside: Inside, name: str) -> None:
    ran = inside.at(folder)("sql", "-e", UNBOUND[name])
    assert ran.returncode == 1
    assert ran.stderr.startswith("error: [UNBOUND_SQL_PARAMETER] The statement reads :day.")
    assert "--param day=…" in ran.stderr


def test_parameters_of_statements_have_the_values_of_the_command(folder: Path, inside: Inside) -> None:
    (folder / "q.sql").write_text(
        "create or replace table identifier(:name || '_copy') as select 1 as id;\n"
        "insert into identifier(:name || '_copy') values (2);\n"
        "select count(*) as n, :name as name from identifier(concat(:name, '_copy')) where id > :least"
    )
    ran = inside.at(folder)(
        *("sql", "--format", "csv", "-f", "q.sql", "--param", "name=orders", "--param", "least=1")
    )
    assert ran.stdout.splitlines()[-2:] == ["n,name", "1,orders"], ran.stderr


@pytest.mark.parametrize("command", [("sql", "-e", "select 1 as one"), ("notebook", "cells.sql")])
def test_a_bundle_that_cannot_be_read_does_not_stop_sql_and_notebooks(
    folder: Path, inside: Inside, command: tuple[str, ...]
) -> None:
    (folder / "databricks.yml").write_text("bundle: {name: [}")
    (folder / "cells.sql").write_text("-- Databricks notebook source\nSELECT 1 AS one\n")
    try:
        ran = inside.at(folder)(*command)
        refused = inside(*command, "-t", "dev")
    finally:
        (folder / "databricks.yml").unlink()
    assert ran.returncode == 0, ran.stderr
    assert ran.stderr.startswith("warning: [") and "the lakehouse is `local`" in ran.stderr
    assert refused.returncode == 2 and refused.stderr.startswith("error: [")


def test_parameters_of_databricks_sql_have_their_effect(folder: Path, inside: Inside) -> None:
    statements = "set ansi_mode = false; select cast('x' as int) is null as n"
    ran = inside.at(folder)("sql", "--format", "csv", "-e", statements)
    assert ran.stdout.splitlines() == ["key,value", "ansi_mode,false", "n", "true"]


@pytest.mark.process
def test_a_run_can_be_read_from_another_process_and_ends_by_ctrl_c_as_canceled(
    folder: Path, inside: Inside
) -> None:
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
    inside = inside.at(folder)
    read = inside("sql", "--format", "csv", "-e", "select count(*) from done")
    assert (read.returncode, read.stdout.split()[-1]) == (0, "5"), read.stderr
    assert running.poll() is None
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=120)
    assert running.returncode == 130, err
    assert json.loads(out)["state"] == "CANCELED"
    assert "Traceback" not in err
    (folder / "slow.py").write_text(SLOW.replace("100, 1, 1", "2, 1, 1").replace("sleep(1)", "sleep(0)"))
    assert inside("pipeline", "slow.py").returncode == 0


TARGETS = """
bundle: {name: shop}
targets: {dev: {mode: development, default: true}, prod: {}}
resources:
  pipelines:
    p: {name: p, catalog: "cat_of_${bundle.target}", schema: lake, libraries: [{file: {path: good.py}}]}
"""
TARGETED = {
    # Without -t no bundle is used.
    (): ("local", "main", "default"),
    ("-t", "dev"): ("dev", "cat_of_dev", "lake"),
    ("-t", "prod"): ("prod", "cat_of_prod", "lake"),
    ("-t", "prod", "--catalog", "main", "--schema", "own"): ("prod", "main", "own"),
}


@pytest.mark.parametrize("options", TARGETED)
def test_pipeline_files_run_in_the_lakehouse_of_a_target(inside: Inside, options: tuple[str, ...]) -> None:
    code = "from pyspark import pipelines as dp\n@dp.materialized_view\ndef t(): return spark.range(3)\n"
    write_files(inside.folder, {"databricks.yml": TARGETS, "good.py": code})
    ran = inside("pipeline", "good.py", *options)
    assert ran.returncode == 0, ran.stderr
    target, catalog, schema = TARGETED[options]
    warehouse = inside.folder / ".lakeward" / target / "warehouse"
    logs = [each.relative_to(warehouse).parts for each in warehouse.glob("*/*/t/_delta_log")]
    assert logs == [(catalog, schema, "t", "_delta_log")]
