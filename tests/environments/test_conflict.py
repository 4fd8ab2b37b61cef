"""lakeward and Databricks Connect in one environment: one sentence, with the command that cures it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from lakeward.cli.main import refuse_or_warn
from lakeward.environments import CLASH, conflicting_connect_version, removal_command
from lakeward.errors import SetupError
from tests.environments.conftest import Machine
from tests.processes import outcome
from tests.trees import write_files


@pytest.fixture
def conflicting(tmp_path: Path) -> Path:
    """A folder on Python's path where Databricks Connect is installed."""
    (tmp_path / "site" / "databricks_connect-16.1.2.dist-info").mkdir(parents=True)
    return tmp_path / "site"


def call(folder: Path, site: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(site), os.environ.get("PYTHONPATH", "")])
    return outcome(
        [sys.executable, "-m", "lakeward", *arguments], cwd=folder, env={**os.environ, "PYTHONPATH": path}
    )


def test_it_is_known_with_its_version(conflicting: Path) -> None:
    assert conflicting_connect_version([str(conflicting)]) == "16.1.2"
    assert conflicting_connect_version([str(conflicting.parent)]) is None


@pytest.mark.parametrize(
    "arguments", [("sql", "-e", "select 1"), ("run", "x"), ("pipeline", "a.py"), ("events", "x")]
)
def test_a_command_that_needs_spark_is_refused(conflicting: Path, arguments: tuple[str, ...]) -> None:
    ran = call(conflicting.parent, conflicting, *arguments)
    said = ran.stderr.splitlines()
    assert ran.returncode == 2
    assert len(said) == 2
    assert said[0].startswith(
        "error: [DATABRICKS_CONNECT_INSTALLED] databricks-connect 16.1.2 is installed in"
    )
    assert f"uninstall -y {CLASH} && " in said[1]


def test_the_cure_speaks_of_the_installer_that_made_the_environment(tmp_path: Path) -> None:
    (tmp_path / "pyvenv.cfg").write_text("home = /usr\nuv = 0.5.1\n")
    assert removal_command(prefix=tmp_path).startswith(
        "uv pip uninstall databricks-connect && uv pip install "
    )
    (tmp_path / "pyvenv.cfg").write_text("home = /usr\n")
    assert " -m pip uninstall -y databricks-connect && " in removal_command(prefix=tmp_path)


@pytest.mark.parametrize("made_by", ["", "uv = 0.5.1\n"])
def test_the_version_in_the_cure_is_that_of_lakewards_own_spark(tmp_path: Path, made_by: str) -> None:
    from importlib import metadata

    (tmp_path / "pyvenv.cfg").write_text(f"home = /usr\n{made_by}")
    assert removal_command(tmp_path).endswith(f" pyspark=={metadata.version('pyspark')}")


def test_the_tests_of_a_repository_are_not_refused_and_the_overwritten_spark_stays_behind(
    conflicting: Path, tmp_path: Path
) -> None:
    machine = Machine(tmp_path / "machine")
    write_files(tmp_path / "r", {"requirements.txt": "", "test_a.py": "def test_a(): pass"})
    path = os.pathsep.join([str(conflicting), os.environ.get("PYTHONPATH", "")])
    ran = machine.lakeward(tmp_path / "r", PYTHONPATH=path)
    # Without a network the Spark that is not taken along cannot come from anywhere else.
    assert ran.stderr.startswith("warning: [DATABRICKS_CONNECT_INSTALLED]")
    assert "pyspark" in ran.stderr.partition("\nerror: [DEPENDENC")[2]


def test_windows_is_sent_to_its_linux() -> None:
    with pytest.raises(SetupError, match=r"WINDOWS_NOT_SUPPORTED.*wsl --install"):
        refuse_or_warn("check", system="nt")


def test_help_is_given_all_the_same(conflicting: Path) -> None:
    for arguments in (("--help",), ("sql", "--help")):
        ran = call(conflicting.parent, conflicting, *arguments)
        assert (ran.returncode, ran.stderr) == (0, "")
