"""Under the pytest plugin `/Volumes`, `/dbfs`, `/Workspace` and mounts are mapped before any session."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.processes import SharedDaemon, environ_without, outcome, without_pyspark

CONFTEST = """\
import os
from lakeward.session import Settings

# Loaded before the first fixture and before any session.
Settings.here().volumes.joinpath("main/default/vol").mkdir(parents=True)
os.makedirs("/Volumes/main/default/vol/a")
with open("/Volumes/main/default/vol/a/conftest.txt", "w") as file:
    file.write("x")
"""
TESTS = """\
import os
import pathlib
import shutil

import pytest

HOME = os.environ["LAKEWARD_HOME"]


@pytest.mark.parametrize("root", ["/Volumes/main/default/vol", "/dbfs/d", "/Workspace/Users/w", "/mounted/m"])
def test_folders_are_made_in_the_state_folder(root):
    os.makedirs(root, exist_ok=True)
    file = pathlib.Path(root, "x.txt")
    file.write_text("1")
    assert open(f"{root}/x.txt").read() == "1"
    assert shutil.copy(file, f"{root}/y.txt") == f"{root}/y.txt"
    assert {"x.txt", "y.txt"} <= set(os.listdir(root))
    real = [path for base in (HOME, os.environ["MOUNTED"]) for path in pathlib.Path(base).rglob("y.txt")]
    assert real
    assert len([each for each in real if root.rsplit("/", 1)[-1] in each.parts]) == 1


def test_the_file_of_the_conftest_is_there():
    assert os.path.isfile("/dbfs/Volumes/main/default/vol/a/conftest.txt")
    assert list(pathlib.Path(HOME).rglob("conftest.txt"))


def test_pyspark_is_not_imported():
    import sys

    assert "pyspark" not in sys.modules
"""
PROGRAM = """\
import builtins, io, os, sys
import pytest

before = (builtins.open, io.open, os.open, os.mkdir, os.stat, len(sys.path_hooks), len(sys.meta_path))
code = pytest.main(["-q", "-p", "no:cacheprovider", *sys.argv[1:]])
after = (builtins.open, io.open, os.open, os.mkdir, os.stat, len(sys.path_hooks), len(sys.meta_path))
assert before[:6] == after[:6], (before, after)
assert not os.path.isdir("/Workspace/Users/w")
sys.exit(code)
"""


def _run(folder: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    env = {
        **environ_without("LAKEWARD_HOME", "LAKEWARD_TESTS_HOME", "LAKEWARD_MOUNTS"),
        "PYTHONPATH": without_pyspark(folder),
        "MOUNTED": str(folder / "data"),
        **variables,
    }
    return outcome([sys.executable, "-c", PROGRAM, *arguments], cwd=folder, env=env)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "test_paths.py").write_text(TESTS)
    (tmp_path / "pyproject.toml").write_text('[tool.lakeward.mounts]\n"/mounted" = "data"\n')
    (tmp_path / "data").mkdir()
    return tmp_path


def test_paths_are_mapped_without_a_session_and_restored_at_the_end(project: Path) -> None:
    ran = _run(project)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "6 passed" in ran.stdout
    assert not Path("/Volumes/main/default/vol/a").exists()
    assert not Path("/mounted").exists()
    assert (project / "data" / "m" / "y.txt").is_file()


def test_workers_and_the_variable_of_the_option(project: Path) -> None:
    (project / "pyproject.toml").write_text("")
    mounts = f'{{"/mounted": "{project}/data"}}'
    ran = _run(project, "-n", "2", LAKEWARD_MOUNTS=mounts)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert not Path("/mounted").exists()
    assert (project / "data" / "m" / "y.txt").is_file()


@pytest.mark.process
@pytest.mark.parametrize("by_option", [False, True])
def test_a_mount_of_the_project_itself_holds_with_and_without_a_session(
    tmp_path: Path, by_option: bool, shared_daemon: SharedDaemon
) -> None:
    table = "" if by_option else '[tool.lakeward.mounts]\n"/mounted" = "."\n'
    (tmp_path / "pyproject.toml").write_text(table)
    (tmp_path / "rows.csv").write_text("1\n2\n")
    (tmp_path / "test_mounted.py").write_text(
        "def test_before(): assert open('/mounted/rows.csv').read()\n"
        "def test_spark(spark): assert spark.read.csv('/mounted/rows.csv').count() == 2\n"
        "def test_after(): assert open('/mounted/rows.csv').read()\n"
    )
    variables = {"LAKEWARD_MOUNTS": f'{{"/mounted": "{tmp_path}"}}'} if by_option else {}
    env = {
        **environ_without("LAKEWARD_HOME", "LAKEWARD_TESTS_HOME", "LAKEWARD_MOUNTS"),
        **shared_daemon.environ(),
        **variables,
    }
    ran = outcome([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"], cwd=tmp_path, env=env)
    assert "3 passed" in ran.stdout, ran.stdout + ran.stderr


@pytest.mark.slow
@pytest.mark.process
def test_a_warehouse_below_a_mount_is_in_the_mounted_folder(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.lakeward.mounts]\n"/mounted" = "data"\n')
    (tmp_path / "test_warehouse.py").write_text(
        "import os\nimport pytest\nfrom pyspark.sql import SparkSession\n"
        "@pytest.fixture\ndef spark():\n"
        "    folder = 'file:///mounted/warehouse'\n"
        "    return SparkSession.builder.config('spark.sql.warehouse.dir', folder).getOrCreate()\n"
        "def test_tables(spark):\n"
        "    spark.range(2).write.saveAsTable('t')\n"
        "    assert spark.table('t').count() == 2\n"
        "    assert os.path.isdir('/mounted/warehouse')\n"
    )
    env = environ_without("LAKEWARD_HOME", "LAKEWARD_TESTS_HOME", "LAKEWARD_MOUNTS")
    ran = outcome([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"], cwd=tmp_path, env=env)
    assert "1 passed" in ran.stdout, ran.stdout + ran.stderr
    assert list((tmp_path / "data" / "warehouse").rglob("_delta_log"))
    assert not Path("/mounted").exists()


def test_a_bad_mount_is_a_usage_error(project: Path) -> None:
    (project / "pyproject.toml").write_text('[tool.lakeward.mounts]\n"mounted" = "data"\n')
    temporary = project / "tmp"
    temporary.mkdir()
    ran = _run(project, TMPDIR=str(temporary))
    assert ran.returncode == pytest.ExitCode.USAGE_ERROR
    assert not list(temporary.glob("lakeward-tests-*"))
    assert "MOUNT_INVALID" in ran.stderr
    assert "Traceback" not in ran.stderr


def test_nothing_is_mapped_where_lakeward_is_off(tmp_path: Path) -> None:
    plain = "type(os.mkdir).__name__ == 'builtin_function_or_method'"
    (tmp_path / "test_off.py").write_text(f"import os\ndef test_off():\n    assert {plain}\n")
    assert _run(tmp_path, LAKEWARD_DISABLE="1").returncode == 0
    assert _run(tmp_path).returncode == 1
