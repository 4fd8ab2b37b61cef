"""`lakeward run` and the other commands use the repository's environment, where this one lacks packages."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from lakeward.cli.main import lakeward as lakeward_group
from lakeward.cli.repository import COMMANDS, needs_environment
from tests.environments.conftest import JOB, Machine, make_wheel
from tests.processes import outcome
from tests.trees import write_files


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    machine = Machine(tmp_path_factory.mktemp("machine"))
    machine.wheels.mkdir()
    make_wheel(machine.wheels, "tiny", "1.0")
    return machine


def lakeward(
    machine: Machine, folder: Path, *arguments: str, **environ: str
) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "lakeward", *arguments]
    return outcome(command, cwd=folder, env=machine.environ(**environ), timeout=120)


def test_a_command_enters_the_environment_of_the_repository(machine: Machine, tmp_path: Path) -> None:
    code = "import sys, tiny\nfrom pathlib import Path\nassert tiny.__version__ == '1.0'\n"
    code += "Path('seen').write_text(sys.prefix)\n"
    write_files(
        tmp_path, {"job.yml": JOB, "main.py": code, "requirements.txt": "tiny==1.0\npyspark==3.5.0\n"}
    )
    ran = lakeward(machine, tmp_path, "run", "job.yml", "--dry-run")
    assert ran.returncode == 0, ran.stderr
    assert "lakeward: an environment for" in ran.stderr
    # The environment that `lakeward test` uses is the same.
    (only,) = machine.environments.glob("*.json")
    again = lakeward(machine, tmp_path, "run", "job.yml", "--dry-run")
    assert "lakeward: " not in again.stderr
    assert list(machine.environments.glob("*.json")) == [only]


def test_an_environment_that_cannot_be_built_is_a_warning(machine: Machine, tmp_path: Path) -> None:
    write_files(tmp_path, {"job.yml": JOB, "main.py": "", "requirements.txt": "absent==9\n"})
    ran = lakeward(machine, tmp_path, "run", "job.yml", "--dry-run")
    assert ran.returncode == 0, ran.stderr
    assert "warning: [DEPENDENC" in ran.stderr and "absent" in ran.stderr


@pytest.mark.parametrize(
    "text", ["", "rich\n", "pyspark==3.5.0\npandas==1.5.3\n", "tiny; python_version<'3'\n"]
)
def test_what_is_there_already_needs_no_environment(machine: Machine, tmp_path: Path, text: str) -> None:
    before = list(machine.environments.glob("*"))
    write_files(tmp_path, {"job.yml": JOB, "main.py": "", "requirements.txt": text})
    ran = lakeward(machine, tmp_path, "run", "job.yml", "--dry-run")
    assert ran.returncode == 0, ran.stderr
    assert list(machine.environments.glob("*")) == before


def test_it_can_be_turned_off(machine: Machine, tmp_path: Path) -> None:
    write_files(tmp_path, {"job.yml": JOB, "main.py": "", "requirements.txt": "absent==9\n"})
    ran = lakeward(machine, tmp_path, "run", "job.yml", "--dry-run", LAKEWARD_ENVIRONMENT="off")
    assert (ran.returncode, "absent" in ran.stderr) == (0, False)


def test_commands_that_run_code_and_no_others() -> None:
    assert all(needs_environment([name, "x"]) for name in COMMANDS)
    assert not any(needs_environment([name]) for name in ("test", "check", "bundle", "stop", "init"))
    assert not needs_environment(["run", "--help"])


def test_packages_are_added_and_left_out_for_every_command(machine: Machine, tmp_path: Path) -> None:
    code = "import tiny, importlib.util\nassert importlib.util.find_spec('nowhere') is None\n"
    write_files(tmp_path, {"job.yml": JOB, "main.py": code, "requirements.txt": "nowhere\n"})
    ran = lakeward(
        machine, tmp_path, "run", "job.yml", "--dry-run", "--with", "tiny==1.0", "--without=nowhere"
    )
    assert ran.returncode == 0, ran.stderr
    assert "left out nowhere" in ran.stderr


def test_an_environment_that_was_requested_is_required(machine: Machine, tmp_path: Path) -> None:
    write_files(tmp_path, {"job.yml": JOB, "main.py": ""})
    ran = lakeward(machine, tmp_path, "run", "job.yml", "--dry-run", "--with", "absent==9")
    assert ran.returncode == 2, ran.stderr
    assert "error: [DEPENDENC" in ran.stderr and "absent" in ran.stderr
    off = lakeward(
        machine, tmp_path, "run", "job.yml", "--dry-run", "--with", "tiny", LAKEWARD_ENVIRONMENT="off"
    )
    assert (off.returncode, "[ENVIRONMENT_OFF]" in off.stderr) == (2, True), off.stderr


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_that_enters_the_environment_takes_both_options(command: str) -> None:
    names = {name for each in lakeward_group.commands[command].params for name in each.opts}
    assert {"--with", "--without"} <= names
