"""`lakeward test` in repositories that know nothing of lakeward, from outside, without a network."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.environments.conftest import Machine, make_wheel
from tests.trees import write_files

pytestmark = pytest.mark.process

# A build backend inside the repository: building needs no network.
BACKEND = """\
import zipfile
from pathlib import Path

def get_requires_for_build_editable(config_settings=None):
    return []

def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    name, info = "sales-1.0-py3-none-any.whl", "sales-1.0.dist-info"
    files = {
        "sales.pth": str(Path("src").resolve()),
        f"{info}/METADATA": "Metadata-Version: 2.1\\nName: sales\\nVersion: 1.0\\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\\nGenerator: own\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n",
    }
    with zipfile.ZipFile(Path(wheel_directory) / name, "w") as wheel:
        for path, text in {**files, f"{info}/RECORD": "".join(f"{each},,\\n" for each in files)}.items():
            wheel.writestr(path, text)
    return name

build_wheel = build_editable
"""
REPOSITORY = {
    "pyproject.toml": """\
        [build-system]
        requires = []
        build-backend = "backend"
        backend-path = ["tools"]
        [project]
        name = "sales"
        version = "1.0"
        requires-python = ">=3.9"
        dependencies = ["pyspark==3.4.1", "pandas==1.5.3", "tiny>=1"]
        [dependency-groups]
        dev = ["databricks-connect>=15,<16"]
        """,
    "tools/backend.py": BACKEND,
    "src/sales/__init__.py": "PRICE = 3\n",
    "tests/test_sales.py": """\
        import os, sys
        from importlib import metadata
        from pathlib import Path

        def test_the_environment():
            import pandas, sales, tiny
            assert sales.PRICE == 3
            assert Path(sales.__file__).is_relative_to(Path.cwd().resolve())
            assert tiny.__version__ == "1.1"
            assert metadata.version("pyspark") == "4.2.0"
            assert int(pandas.__version__.split(".")[0]) == 2
            assert metadata.version("sales") == "1.0"
            assert metadata.version("databricks-sdk")
            assert os.environ["VIRTUAL_ENV"] == sys.prefix

        def test_the_plugin(request):
            assert request.config.pluginmanager.hasplugin("lakeward")

        def test_that_fails():
            assert os.environ.get("BROKEN") is None
        """,
}


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    machine = Machine(tmp_path_factory.mktemp("machine"))
    make_wheel(machine.wheels, "tiny", "1.0")
    make_wheel(machine.wheels, "tiny", "1.1")
    return machine


@pytest.fixture(scope="module")
def prepared(machine: Machine) -> tuple[Path, subprocess.CompletedProcess[str]]:
    """A repository with its environment, and what the first call said."""
    root = write_files(machine.folder / "a repository", REPOSITORY)
    before = {file: file.read_bytes() for file in root.rglob("*") if file.is_file()}
    ran = machine.lakeward(root, "-q", "-p", "no:cacheprovider", PYTHONDONTWRITEBYTECODE="1")
    assert {file: file.read_bytes() for file in root.rglob("*") if file.is_file()} == before
    return root, ran


def test_the_repositorys_tests_pass_with_its_own_dependencies_and_our_spark(
    prepared: tuple[Path, subprocess.CompletedProcess[str]],
) -> None:
    _, ran = prepared
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "3 passed" in ran.stdout


def test_what_was_left_out_and_relaxed_is_said_with_the_reason(
    prepared: tuple[Path, subprocess.CompletedProcess[str]],
) -> None:
    said = prepared[1].stderr
    assert "left out pyspark==3.4.1 (pyproject.toml [project] dependencies): lakeward brings Spark" in said
    assert (
        "left out databricks-connect>=15,<16 (pyproject.toml group dev): it brings a pyspark of its own"
        in said
    )
    assert "relaxed pandas==1.5.3" in said
    assert "Traceback" not in said


def test_arguments_and_exit_code_are_pytests_own_and_nothing_is_built_again(
    machine: Machine, prepared: tuple[Path, subprocess.CompletedProcess[str]]
) -> None:
    root, _ = prepared
    before = sorted(machine.environments.iterdir())
    failed = machine.lakeward(root / "tests", "-q", "-k", "fails", "--tb=line", BROKEN="1")
    assert (failed.returncode, "1 failed, 2 deselected" in failed.stdout) == (1, True), failed.stderr
    wrong = machine.lakeward(root, "--no-such-option")
    assert (wrong.returncode, "no-such-option" in wrong.stderr) == (4, True)
    none = machine.lakeward(root, "-q", "-k", "nothing_is_called_so")
    assert none.returncode == 5
    assert sorted(machine.environments.iterdir()) == before
    assert none.stderr.splitlines()[0].startswith("lakeward test: without pyspark==3.4.1, databricks-connect")


def test_a_conftest_that_raises_is_reported_by_pytest(
    machine: Machine, prepared: tuple[Path, subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    root, _ = prepared
    broken = write_files(
        tmp_path, {"conftest.py": "raise RuntimeError('no bread')", "test_a.py": "def test_a(): pass"}
    )
    ran = machine.lakeward(root, str(broken), "--rootdir", str(broken))
    assert ran.returncode == 4
    assert "no bread" in ran.stderr
    assert "lakeward" not in ran.stderr.replace(str(root), "").partition("\n")[2]


def test_a_repository_without_tests_builds_nothing(machine: Machine, tmp_path: Path) -> None:
    write_files(tmp_path, {"pyproject.toml": "", "main.py": ""})
    other = Machine(tmp_path / "m")
    ran = other.lakeward(tmp_path)
    assert ran.returncode == 5
    assert "[NO_TESTS]" in ran.stderr
    assert not other.environments.exists()


def refused(machine: Machine, root: Path, condition: str, *says: str) -> None:
    before = set(machine.environments.glob("*-*")) | set(machine.environments.glob("*.json"))
    ran = machine.lakeward(root)
    assert ran.returncode == 2, ran.stdout + ran.stderr
    (message,) = [line for line in ran.stderr.splitlines() if line.startswith("error: ")]
    assert f"[{condition}]" in message
    for words in says:
        assert words in message, ran.stderr
    assert "Traceback" not in ran.stderr
    assert set(machine.environments.glob("*-*")) | set(machine.environments.glob("*.json")) == before


def test_a_pin_that_truly_conflicts_names_both_sides_and_leaves_nothing(
    machine: Machine, tmp_path: Path
) -> None:
    texts = {"requirements.txt": "tiny==1.0", "requirements-dev.txt": "tiny==1.1", "test_a.py": ""}
    refused(machine, write_files(tmp_path, texts), "DEPENDENCIES_CONFLICT", "tiny==1.0", "tiny==1.1")


def test_what_a_package_of_a_package_asks_of_spark_is_passed_over(machine: Machine, tmp_path: Path) -> None:
    make_wheel(machine.wheels, "oldspark", "1.0", requires=("pyspark<4", "py4j==0.10.9.7"))
    code = "import oldspark\ndef test_a(): pass"
    write_files(tmp_path, {"requirements.txt": "oldspark", "test_a.py": code})
    ran = machine.lakeward(tmp_path, "-q")
    assert ran.returncode == 0, ran.stdout + ran.stderr


@pytest.mark.parametrize(
    ("file", "text", "bound"),
    [
        (
            "pyproject.toml",
            "[project]\nname = 'a'\nrequires-python = '>=3.8,<3.10'\ndependencies = ['tiny']\n",
            "Python <3.10,>=3.8 (pyproject.toml requires-python) became >=3.10",
        ),
        ("environment.yml", "dependencies: [python=3.9.*, tiny]\n", "Python ==3.9.* ("),
    ],
)
def test_the_bound_of_a_repository_for_an_older_python_is_relaxed(
    machine: Machine, tmp_path: Path, file: str, text: str, bound: str
) -> None:
    write_files(tmp_path, {file: text, "test_a.py": "import tiny\ndef test_a(): pass"})
    ran = machine.lakeward(tmp_path, "-q")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert f"relaxed {bound}" in ran.stderr


def test_a_package_that_no_index_has_is_named(machine: Machine, tmp_path: Path) -> None:
    write_files(tmp_path, {"requirements.txt": "tiny==7", "test_a.py": ""})
    ran = machine.lakeward(tmp_path)
    assert ran.returncode == 2
    assert "tiny==7" in ran.stderr
    assert "PIP_INDEX_URL" in ran.stderr


def test_a_lock_whose_versions_cannot_be_had_gives_way(machine: Machine, tmp_path: Path) -> None:
    lock = '[[package]]\nname = "tiny"\nversion = "0.9"\n'
    code = "import tiny\ndef test_a(): assert tiny.__version__ == '1.1'"
    write_files(tmp_path, {"requirements.txt": "tiny", "poetry.lock": lock, "test_a.py": code})
    ran = machine.lakeward(tmp_path, "-q")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "lakeward test: again, without the versions of poetry.lock" in ran.stderr


def test_what_packages_of_packages_bring_of_databricks_connect_is_taken_out(
    machine: Machine, tmp_path: Path
) -> None:
    spoil = {"pyspark/version.py": "__version__: str = 'connect'\n", "databricks/connect/__init__.py": ""}
    make_wheel(machine.wheels, "databricks_connect", "15.4.1", files=spoil)
    make_wheel(machine.wheels, "helpers", "1.0", requires=("databricks-connect>=15",))
    spark = {"pyspark/__init__.py": "", "pyspark/version.py": "__version__ = '4.2.0'"}
    make_wheel(machine.wheels, "pyspark", "4.2.0", files=spark)
    make_wheel(machine.wheels, "delta_spark", "4.4.0", files={"delta/__init__.py": ""})
    code = """\
        import helpers, pytest
        from importlib import metadata
        from pyspark.version import __version__
        def test_a():
            assert __version__ == "4.2.0"
            with pytest.raises(metadata.PackageNotFoundError):
                metadata.version("databricks-connect")
        """
    write_files(tmp_path, {"requirements.txt": "helpers", "test_a.py": code})
    ran = machine.lakeward(tmp_path, "-q")
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_a_repository_whose_build_fails_is_put_on_the_path(machine: Machine, tmp_path: Path) -> None:
    project = "[project]\nname='p'\nversion='1'\n"
    project += "[build-system]\nrequires=[]\nbuild-backend='gone'\nbackend-path=['.']\n"
    files = {
        "pyproject.toml": project,
        "src/p/__init__.py": "",
        "tests/test_p.py": "import p\ndef test_p(): pass",
    }
    ran = machine.lakeward(write_files(tmp_path, files), "-q")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "could not be installed, so its folders are on the path" in ran.stderr


def test_a_build_that_is_stopped_leaves_nothing_that_is_taken_for_whole(
    machine: Machine, tmp_path: Path
) -> None:
    reached = tmp_path / "reached"
    project = "[project]\nname='p'\nversion='1'\n"
    project += "[build-system]\nrequires=[]\nbuild-backend='endless'\nbackend-path=['.']\n"
    endless = f"import pathlib, time\npathlib.Path({str(reached)!r}).touch()\ntime.sleep(600)\n"
    repository = tmp_path / "r"
    files = {"pyproject.toml": project, "endless.py": endless, "tests/test_a.py": "def test_a(): pass"}
    write_files(repository, files)
    other = Machine(tmp_path / "m")
    running = subprocess.Popen(
        [sys.executable, "-m", "lakeward", "test"],
        cwd=repository, env=other.environ(PIP_FIND_LINKS=str(machine.wheels)),
        stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    deadline = time.monotonic() + 120
    while not reached.exists() and running.poll() is None and time.monotonic() < deadline:
        time.sleep(0.05)
    # Ctrl-C reaches the whole foreground process group.
    os.killpg(running.pid, signal.SIGINT)
    _, printed = running.communicate(timeout=60)
    assert reached.exists(), printed
    assert running.returncode == 130
    assert "canceled" in printed
    assert "Traceback" not in printed
    assert [each for each in other.environments.iterdir() if each.is_dir() or each.suffix == ".json"] == []


def test_a_full_disk_is_said_with_the_setting_and_leaves_nothing(
    machine: Machine, tmp_path: Path, full_disk: Callable[[int], Path]
) -> None:
    write_files(tmp_path / "r", {"requirements.txt": "", "test_a.py": ""})
    disk = full_disk(2 * 1024 * 1024)
    ran = machine.lakeward(tmp_path / "r", LAKEWARD_CACHE=str(disk / "cache"))
    assert ran.returncode == 2, ran.stdout + ran.stderr
    assert "[CACHE_NO_SPACE]" in ran.stderr
    assert "LAKEWARD_CACHE" in ran.stderr
    assert [each for each in (disk / "cache" / "environments").iterdir() if each.is_dir()] == []


def test_without_a_network_the_settings_that_help_are_named(machine: Machine, tmp_path: Path) -> None:
    write_files(tmp_path, {"requirements.txt": "no-such-package-here", "test_a.py": ""})
    unreachable = {"PIP_NO_INDEX": "", "PIP_INDEX_URL": "http://127.0.0.1:9/simple", "UV_HTTP_RETRIES": "0"}
    ran = machine.lakeward(tmp_path, **unreachable, PIP_RETRIES="1", no_proxy="127.0.0.1")
    assert ran.returncode == 2
    assert "[INDEX_NOT_REACHABLE]" in ran.stderr, ran.stderr
    assert "PIP_INDEX_URL" in ran.stderr
    assert "HTTPS_PROXY" in ran.stderr


def test_help_tells_the_command_apart_from_pytest(machine: Machine, tmp_path: Path) -> None:
    ran = machine.lakeward(tmp_path, "--help")
    assert ran.returncode == 0
    assert "PYTEST ARGUMENTS" in ran.stdout
    assert os.listdir(tmp_path) == []


def test_a_git_dependency_that_cannot_be_reached_is_named_and_can_be_left_out(
    machine: Machine, tmp_path: Path
) -> None:
    project = "[project]\nname = 'a'\nversion = '1'\n"
    project += "dependencies = ['tiny', 'hidden @ git+https://127.0.0.1:9/x/hidden.git']\n"
    write_files(tmp_path, {"pyproject.toml": project, "test_a.py": "import tiny\ndef test_a(): pass"})
    refused(machine, tmp_path, "GIT_NOT_REACHABLE", "hidden @ git+https")
    ran = machine.lakeward(tmp_path, "--without", "Hidden", "-q")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "left out hidden@ git+https" in ran.stderr.replace("hidden @", "hidden@")


@pytest.mark.parametrize("other", ["", "import dlt\nassert dlt.pipeline\n"])
def test_the_package_dlt_does_not_hide_that_of_pipelines(
    machine: Machine, tmp_path: Path, other: str
) -> None:
    make_wheel(machine.wheels, "dlt", "1.4.0", files={"dlt/__init__.py": "pipeline = print"})
    code = "import dlt\n@dlt.table\ndef a(): ...\ndef test_a(): assert dlt.table"
    files = {"requirements.txt": "dlt[parquet]>=1.4\ntiny", "test_a.py": code, "loading.py": other}
    write_files(tmp_path, files)
    ran = machine.lakeward(tmp_path, "-q")
    reason = "left out dlt[parquet]>=1.4 (requirements.txt:1): it is PyPI's `dlt`, and hides"
    assert (ran.returncode == 0, reason in ran.stderr) == (not other, not other), ran.stdout + ran.stderr


def test_packages_are_added_and_left_out_by_option_for_others_too(machine: Machine, tmp_path: Path) -> None:
    make_wheel(machine.wheels, "wrapper", "1.0", requires=("nowhere-to-be-had",))
    code = "import wrapper, tiny\ndef test_a(): assert tiny.__version__ == '1.0'"
    write_files(tmp_path, {"requirements.txt": "wrapper", "test_a.py": code})
    ran = machine.lakeward(tmp_path, "--with", "tiny==1.0", "--without", "nowhere_to_be_had", "-q")
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_direct_requirements_win_over_what_packages_ask_of_each_other(
    machine: Machine, tmp_path: Path
) -> None:
    make_wheel(machine.wheels, "narrow", "1.0", requires=("tiny<1.1",))
    files = {
        "setup.py": "from setuptools import setup\n"
        "EXTRAS: dict = {'pipelines': ['narrow']}\n"
        "setup(name='p', install_requires=['tiny==1.1'], extras_require=EXTRAS)\n",
        "test_a.py": "import narrow, tiny\ndef test_a(): assert tiny.__version__ == '1.1'",
    }
    ran = machine.lakeward(write_files(tmp_path, files), "-q")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "without what packages ask of each other against the direct requirements" in ran.stderr


def test_packages_that_cannot_be_imported_together_are_named(machine: Machine, tmp_path: Path) -> None:
    broken = {"numpy/__init__.py": "raise ImportError('no cpu')\n"}
    make_wheel(machine.wheels, "numpy", "1.26.4", files=broken)
    make_wheel(machine.wheels, "pyarrow", "23.0.0", files={"pyarrow/__init__.py": ""})
    write_files(tmp_path, {"requirements.txt": "numpy==1.26.4", "test_a.py": ""})
    refused(machine, tmp_path, "ENVIRONMENT_BROKEN", "numpy==1.26.4", "pyarrow==23.0.0", "no cpu")


def test_a_conda_environment_is_read(machine: Machine, tmp_path: Path) -> None:
    text = "name: a\nchannels: [conda-forge]\ndependencies:\n"
    text += "  - python=3\n  - openjdk\n  - conda-forge::tiny=1.0\n  - pip\n  - pip:\n    - rich\n"
    code = "import tiny, rich\ndef test_a(): assert tiny.__version__ == '1.0'"
    ran = machine.lakeward(write_files(tmp_path, {"environment.yml": text, "test_a.py": code}), "-q")
    assert ran.returncode == 0, ran.stdout + ran.stderr
