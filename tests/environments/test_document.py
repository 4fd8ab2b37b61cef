"""docs/your-repository.md: its commands run as they are written, in a repository such as it speaks of."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from tests.environments.conftest import Machine
from tests.processes import outcome
from tests.trees import write_files

pytestmark = pytest.mark.process

PAGE = Path(__file__).parents[2] / "docs" / "your-repository.md"
# They fetch lakeward or dbt from an index, which is not there in a test.
FROM_AN_INDEX = ("python3 -m venv", "~/.lakeward-venv/", "export PIP_", "uvx --no-index", "lakeward dbt")

TASK = {"task_key": "load", "spark_python_task": {"python_file": "../src/sales/__init__.py"}}
REPOSITORY = {
    "pyproject.toml": """\
        [project]
        name = "sales"
        version = "1.0"
        dependencies = ["pyspark>=3.5,<4"]
        [dependency-groups]
        dev = ["databricks-connect>=16,<17"]
        [tool.pytest.ini_options]
        pythonpath = ["src"]
        """,
    "src/sales/__init__.py": "def total(rows): return sum(price for _, price in rows)\n",
    "tests/test_sales.py": """\
        from sales import total

        def test_total():
            assert total([(1, 2.5), (2, 4.0)]) == 6.5
        """,
    "setup/tables.sql": "create table orders (id bigint)",
    "jobs/nightly.json": json.dumps({"name": "nightly", "tasks": [TASK]}),
    "jobs/exported.yml": json.dumps(
        {"resources": {"jobs": {"nightly": {"tasks": [TASK]}, "other": {"tasks": [TASK]}}}}
    ),
}


def commands() -> list[str]:
    blocks = re.findall(r"```sh\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    return [line for block in blocks for line in block.splitlines() if not line.startswith(FROM_AN_INDEX)]


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    """A machine whose uvx runs this lakeward, with the repository in `sales`."""
    machine = Machine(tmp_path_factory.mktemp("machine"))
    write_files(machine.folder / "sales", REPOSITORY)
    (machine.folder / "bin").mkdir()
    for name, first in (("uvx", "shift\n"), ("lakeward", "")):
        program = machine.folder / "bin" / name
        program.write_text(f'#!/bin/sh\n{first}exec "{sys.executable}" -m lakeward "$@"\n')
        program.chmod(0o755)
    return machine


def test_there_are_commands() -> None:
    assert len(commands()) >= 5


@pytest.mark.parametrize("command", commands())
def test_a_command_runs_as_it_is_written(machine: Machine, command: str) -> None:
    environ = machine.environ()
    environ["PATH"] = f"{machine.folder / 'bin'}:{environ['PATH']}"
    ran = outcome(["/bin/sh", "-c", command], cwd=machine.folder / "sales", env=environ, timeout=120)
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_what_it_shows_is_what_is_said(machine: Machine) -> None:
    ran = machine.lakeward(machine.folder / "sales", "-q", "--fresh-environment")
    shown = re.findall(r"^lakeward test: left out .*$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert shown
    assert [line for line in ran.stderr.splitlines() if " left out " in line] == shown
