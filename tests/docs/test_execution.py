"""Blocks of code in pages are executed: the commands of the quick start, and SQL and tests of other pages."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from fixtures.generate import generate

from tests.docs.test_snippets import BLOCK, ROOT
from tests.processes import SharedDaemon, environ_without
from tests.trees import write_files
from tests.wearables.company import copy_bundle

pytestmark = [pytest.mark.slow, pytest.mark.process]

LANDING = ".lakeward/local/volumes/main/default/landing"


@dataclass(frozen=True)
class Page:
    """What the SQL and the tests of a page need: statements before them, files, and texts to replace."""

    sql: Sequence[str] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    replaced: Mapping[str, str] = field(default_factory=dict)


ORDERS = """
from pyspark import pipelines as dp

@dp.materialized_view
@dp.expect_or_drop("priced", "price > 0")
def orders():
    return spark.sql("SELECT id, round(price, 1) AS price FROM raw")
"""
USERS = """
from pyspark import pipelines as dp

@dp.materialized_view
def users():
    return spark.read.table("source").where("name IS NOT NULL")
"""
TOTALS = """
from pyspark import pipelines as dp

@dp.materialized_view
def totals():
    return spark.range(7)
"""
NOTEBOOK = """# Databricks notebook source
from databricks.sdk import WorkspaceClient
print("jobs", len(list(WorkspaceClient().jobs.list())))
"""
VOLUME = "CREATE VOLUME IF NOT EXISTS main.default.landing"
PAGES = {
    "docs/incremental-views.md": Page(
        ["CREATE SCHEMA main.shop", "CREATE TABLE main.shop.orders AS SELECT 1 AS customer, 2.5 AS amount"],
        replaced={"<pipeline>": "MV-main.default.totals"},
    ),
    "docs/loading.md": Page(
        [VOLUME],
        {f"{LANDING}/csv/a.csv": "id,price\n1,2.5\n", f"{LANDING}/json/b.json": '{"id": 1}\n'},
        {
            "orders FROM '/Volumes/main/default/landing": "orders FROM '/Volumes/main/default/landing/csv",
            "read_files('/Volumes/main/default/landing": "read_files('/Volumes/main/default/landing/json",
        },
    ),
    "docs/pipelines.md": Page(
        [
            VOLUME,
            "CREATE TABLE events AS SELECT DATE'2026-05-01' AS day",
            """CREATE TABLE texts AS SELECT '{"at": "2026-05-01T10:00:00"}' AS value""",
        ],
        {f"{LANDING}/b.json": '{"id": 1}\n'},
        {
            "CREATE STREAMING TABLE events": "CREATE STREAMING TABLE typed",
            "FROM STREAM raw;": "FROM STREAM texts;",
        },
    ),
    "docs/testing.md": Page(files={"orders.py": ORDERS, "users.py": USERS}),
    "docs/from-mocks.md": Page(
        ["CREATE SCHEMA IF NOT EXISTS main.sales"], {"src/pipeline/totals.py": TOTALS}
    ),
    "docs/your-repository.md": Page(),
}
"""Pages whose SQL and tests are executed."""

HELPERS = """
from pyspark.sql import functions as F

def total(orders):
    return orders.agg(F.sum("price")).first()[0]
"""


def blocks(page: str, language: str) -> list[str]:
    text = (ROOT / page).read_text(encoding="utf-8")
    return [match[3] for match in BLOCK.finditer(text) if match[2] == language]


def reader() -> dict[str, str]:
    """Return the environment of a reader, who has no suite of ours around the commands."""
    return environ_without("LAKEWARD_", "PYTEST", "DATABRICKS_")


def run(command: Sequence[str], folder: Path, environ: Mapping[str, str]) -> str:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        command,
        cwd=folder,
        env={**environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout


def test_the_quick_start_runs_as_it_is_written(tmp_path: Path, shared_daemon: SharedDaemon) -> None:
    script = "".join(blocks("docs/quick-start.md", "sh"))
    shown = run(["bash", "-ex", "-c", script], tmp_path, shared_daemon.environ(reader()))
    assert "COMPLETED" in shown
    assert "my_lakehouse.html" in shown
    test = blocks("docs/quick-start.md", "python")[0]
    assert test in (tmp_path / "my_lakehouse" / "tests" / "test_pipeline.py").read_text()


def commands(heading: str) -> list[str]:
    """Return the commands of the first block of shell below a heading of the README."""
    text = (ROOT / "README.md").read_text(encoding="utf-8").partition(f"## {heading}\n")[2]
    block = next(match[3] for match in BLOCK.finditer(text) if match[2] == "sh")
    return [line.partition("  #")[0].strip() for line in block.splitlines()]


def test_the_commands_of_the_readme_for_an_own_project_run(
    tmp_path: Path, shared_daemon: SharedDaemon
) -> None:
    elsewhere = {
        "pip install ./lakeward": "tests/release installs the wheel",
        "uvx --from ./lakeward lakeward test": "tests/testing runs the command in foreign repositories",
    }
    lines = commands("In your own project")
    assert elsewhere.keys() <= set(lines)
    init = "lakeward init my_lakehouse"
    environ = shared_daemon.environ(reader())
    run(["bash", "-ec", init], tmp_path, environ)
    project = tmp_path / "my_lakehouse"
    write_files(project, {"my_pipeline.py": TOTALS, "my_notebook.py": NOTEBOOK})
    shown = {
        line: run(["bash", "-ec", line.replace("KEY", "my_lakehouse")], project, environ)
        for line in lines
        if line not in (init, *elsewhere)
    }
    assert len(shown) >= 5
    assert "COMPLETED" in shown["lakeward run KEY -t dev"]
    assert "totals" in shown["lakeward pipeline my_pipeline.py"]
    assert "COMPLETED" in shown["lakeward notebook my_notebook.py"]
    (page,) = project.glob(".lakeward/*/notebooks/my_notebook.html")
    assert "jobs 1" in page.read_text(encoding="utf-8")


def test_the_commands_of_the_readme_for_a_local_workspace_run(
    tmp_path: Path, shared_daemon: SharedDaemon
) -> None:
    copy_bundle(tmp_path)
    generate(tmp_path / ".lakeward" / "demo", users=3, days=1, seed=1, longest=60)
    script = "\n".join(commands("Deploy"))
    shown = run(["bash", "-ec", script], tmp_path, shared_daemon.environ(reader()))
    assert "Deployed wearables as dev" in shown
    assert "wearables daily  SUCCESS" in shown


@pytest.mark.parametrize("page", PAGES)
def test_sql_and_tests_of_a_page_run(page: str, tmp_path: Path, shared_daemon: SharedDaemon) -> None:
    needed = PAGES[page]
    statements = [*needed.sql, *blocks(page, "sql")]
    tests = [each for each in blocks(page, "python") if re.search(r"^def test_", each, re.MULTILINE)]
    assert tests or blocks(page, "sql")
    for old, new in needed.replaced.items():
        statements = [each.replace(old, new) for each in statements]
    code = [
        HELPERS,
        "from lakeward.sql import split",
        (
            f"def test_sql(spark):\n    for text in {statements!r}:\n        for each in split(text):\n"
            "            spark.sql(each).collect()"
        ),
        *tests,
    ]
    write_files(tmp_path, {**needed.files, "test_page.py": "\n\n".join(code)})
    environ = {**shared_daemon.environ(reader()), "LAKEWARD_HOME": str(tmp_path / ".lakeward")}
    shown = run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"], tmp_path, environ)
    assert f"{1 + len(tests)} passed" in shown


def test_every_page_with_sql_or_tests_is_executed_or_says_why_not() -> None:
    reasons = {
        "docs/lakehouse.md": "statements on the tables of the sample lakehouse, which tests/wearables runs",
        "docs/auto-loader.md": "tests/autoloader executes its blocks",
        "docs/quick-start.md": "the test above executes its commands",
    }
    pages = [each.relative_to(ROOT).as_posix() for each in sorted((ROOT / "docs").rglob("*.md"))]
    found = {
        page
        for page in ["README.md", *pages]
        if blocks(page, "sql") or any("def test_" in each for each in blocks(page, "python"))
    }
    assert found == {*PAGES, *(page for page in reasons if page in found)}
