"""The same files give the same tables in one process, isolated, and deployed; on dev and prod."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from fixtures.generate import generate

from tests.processes import SharedDaemon
from tests.wearables.company import SCHEMAS, Company, copy_bundle
from tests.wearables.oracle import lakehouse

pytestmark = [pytest.mark.slow, pytest.mark.process, pytest.mark.usefixtures("spark")]

WAYS = {
    "in process": ("run daily --in-process", "--param"),
    "isolated": ("run daily --isolated", "--param"),
    "workspace": ("bundle run daily", "--params"),
}
"""The command of each way to run the job, and its option for parameters."""


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("everywhere")
    generate(folder, users=8, days=2, seed=21, longest=60)
    return folder


@pytest.mark.parametrize("target", SCHEMAS)
@pytest.mark.parametrize("way", WAYS)
def test_a_day_and_then_the_others_give_the_tables_of_the_oracle(
    way: str, target: str, source: Path, tmp_path: Path, shared_daemon: SharedDaemon
) -> None:
    """INV-1: tables depend on the files alone."""
    project = tmp_path / "project"
    copy_bundle(project)
    company = Company(tmp_path / "lakehouse", target)
    environ = {**shared_daemon.environ(), "USER": "ann", "LAKEWARD_HOME": str(company.settings.home)}

    def call(command: str, *arguments: str) -> None:
        whole = [sys.executable, "-m", "lakeward", *command.split(), "-t", target, *arguments]
        done = subprocess.run(whole, cwd=project, env=environ, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"

    command, option = WAYS[way]
    if way == "workspace":
        call("bundle deploy")
    call(command, option, f"source={source}", option, "days=1")
    call(command, option, f"source={source}")
    assert company.differences(lakehouse(source)) == {}
