"""Catalogs that a suite expects to exist are in its lakehouse from the start."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.processes import environ_without, outcome

pytestmark = pytest.mark.process

CODE = """\
from lakeward.session import Settings

def test_catalogs():
    assert sorted(each.name for each in Settings.here().warehouse.iterdir()) == ["dev", "dqx", "prod-1"]
"""


def run(folder: Path, project: str, **environ: str) -> subprocess.CompletedProcess[str]:
    (folder / "pyproject.toml").write_text(project)
    (folder / "test_catalogs.py").write_text(CODE)
    return outcome(
        [sys.executable, "-m", "pytest", "-q"],
        cwd=folder,
        env={**environ_without("LAKEWARD_", "PYTEST", "DATABRICKS_"), **environ},
        timeout=120,
    )


def test_declared_catalogs_and_those_of_the_command_exist(tmp_path: Path) -> None:
    ran = run(tmp_path, '[tool.lakeward]\ncatalogs = ["dev", "prod-1"]\n', LAKEWARD_CATALOGS="dqx,dev")
    assert ran.returncode == 0, ran.stdout + ran.stderr


@pytest.mark.parametrize("declared", ['"../x"', '["a.b"]', "[1]", '[""]'])
def test_a_name_that_is_none_is_a_usage_error(tmp_path: Path, declared: str) -> None:
    ran = run(tmp_path, f"[tool.lakeward]\ncatalogs = {declared}\n")
    assert ran.returncode == 4
    assert "CATALOGS_INVALID" in ran.stderr
    assert "Traceback" not in ran.stderr
