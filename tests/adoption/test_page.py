"""Every command of docs/your-repository.md, as written, in a repository made of the page's own examples."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import pytest

from lakeward.environments.uv_program import uv_program
from lakeward.session.jvm.jars import pinned_jars
from tests.processes import environ_without, outcome
from tests.trees import write_files

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "your-repository.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)

JOB = """\
{"name": "nightly", "tasks": [
  {"task_key": "load", "spark_python_task": {"python_file": "load.py"}, "environment_key": "default"}]}
"""
EXPORTED = """\
resources:
  jobs:
    nightly:
      name: nightly
      tasks:
        - task_key: load
          spark_python_task: {python_file: load.py}
          environment_key: default
"""


def blocks(language: str) -> list[str]:
    return [text for kind, text in BLOCK.findall(PAGE) if kind == language]


def commands() -> list[str]:
    """The lines of the page's shell blocks, and the seed that it names in a sentence; pip's come first."""
    lines = [line for block in blocks("sh") for line in block.splitlines()]
    lines += [text for text in re.findall(r"`(lakeward [^`]+)`", PAGE) if text.startswith("lakeward seed ")]
    return sorted(lines, key=lambda line: "lakeward-venv" not in line)


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    test = "import pyspark.sql.functions as F\n\ndef total(frame):\n"
    test += "    return frame.agg(F.sum('price')).first()[0]\n\n" + blocks("python")[0]
    files = {
        "pyproject.toml": '[project]\nname = "sales"\nversion = "1"\ndependencies = ["pyspark>=3.5,<4"]\n\n',
        "tests/test_sales.py": test,
        "seeds/orders.csv": "id,price\n1,2.5\n",
        "jobs/nightly.json": JOB,
        "jobs/exported.yml": EXPORTED,
        "jobs/load.py": "print(1)\n",
    }
    files["pyproject.toml"] += blocks("toml")[0]
    return write_files(tmp_path_factory.mktemp("page") / "sales", files)


@pytest.fixture(scope="module")
def environ(repository: Path) -> Iterator[dict[str, str]]:
    """A machine without a network: lakeward's wheel in a folder, its dependencies those of this Python.

    Its commands attach to one daemon, as a reader's do; it ends with the last of them.
    """
    machine = repository.parent
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(machine / "wheels")]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True, timeout=120)
    # No index has lakeward yet, so what `uvx` would fetch is what pip has put there.
    uvx = machine / "bin" / "uvx"
    uvx.parent.mkdir()
    options = 'while [ "$1" != lakeward ]; do shift; done; shift'
    uvx.write_text(f'#!/bin/sh\n{options}\nexec "$HOME/.lakeward-venv/bin/lakeward" "$@"\n')
    uvx.chmod(0o755)
    (machine / "bin" / "python3").symlink_to(sys.executable)
    # pip puts it next to the interpreter.
    (machine / "bin" / "uv").symlink_to(uv_program())
    packages = machine / "packages"
    packages.mkdir()
    for each in Path(sysconfig.get_path("purelib")).iterdir():
        if "lakeward" not in each.name:
            (packages / each.name).symlink_to(each)
    astray = ("LAKEWARD_", "PYTEST", "COV_", "PIP_", "UV_", "PYTHON")
    kept = environ_without(*astray)
    path = [machine / "bin", machine / "home" / ".lakeward-venv" / "bin", os.environ["PATH"]]
    made = {
        **kept,
        "HOME": str(machine / "home"),
        "PATH": os.pathsep.join(map(str, path)),
        "PYTHONPATH": str(packages),
        "PIP_NO_INDEX": "1",
        "PIP_NO_DEPS": "1",
        "PIP_FIND_LINKS": str(machine / "wheels"),
        "LAKEWARD_JARS": os.environ.get("LAKEWARD_JARS") or str(pinned_jars()[0].parent),
        "LAKEWARD_DAEMON_IDLE": "100",
    }
    yield made
    if (machine / "home" / ".lakeward-venv").is_dir():
        ended = outcome(["sh", "-c", "lakeward stop"], cwd=repository, env=made, timeout=60)
        assert ended.returncode == 0, ended.stderr


def test_the_page_has_commands_for_every_step() -> None:
    documented = " ".join(commands())
    for word in ("uvx lakeward check", "uvx lakeward test", "pip install lakeward", "lakeward run", "seed"):
        assert word in documented


@pytest.mark.slow
@pytest.mark.process
def test_every_command_of_the_page_runs_as_written(repository: Path, environ: dict[str, str]) -> None:
    for command in commands():
        ran = outcome(["sh", "-c", command], cwd=repository, env=environ, timeout=240)
        assert ran.returncode == 0, f"$ {command}\n{ran.stdout}{ran.stderr}"
        if "lakeward test" in command:
            assert "1 passed" in ran.stdout, f"$ {command}\n{ran.stdout}{ran.stderr}"
