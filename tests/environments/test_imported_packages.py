"""Packages of the runtime that code imports undeclared are in the repository's environment."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from lakeward.databricks_shims import REPLACED
from lakeward.environments import packages_of_runtimes
from lakeward.environments.imported_packages import imported_packages
from tests.environments.conftest import JOB, Machine, make_wheel
from tests.processes import outcome
from tests.trees import write_files

NOTEBOOK = json.dumps({"cells": [{"cell_type": "code", "source": ["import os\n", "import seaborn as s"]}]})
VERSION = packages_of_runtimes()["17.3"]["seaborn"]


def found(folder: Path, runtime: str | None = "17.3") -> dict[str, str]:
    return {each.package.package: each.file for each in imported_packages(folder, runtime)}


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("a.py", "import seaborn"),
        ("a.py", "import os, seaborn.objects as so"),
        ("a.py", "from seaborn import (\n    lineplot,\n)"),
        ("a.py", "from seaborn.axisgrid import FacetGrid"),
        ("a.py", "def plot():\n    import seaborn\n"),
        ("a.py", "# Databricks notebook source\nimport seaborn\r\n"),
        ("jobs/deep/a.py", "import seaborn"),
        ("n.ipynb", NOTEBOOK),
    ],
)
def test_every_way_to_import_is_found(tmp_path: Path, file: str, text: str) -> None:
    write_files(tmp_path, {"databricks.yml": "", file: text})
    assert found(tmp_path) == {"seaborn": file}


@pytest.mark.parametrize(
    "files",
    [
        {"a.py": "try:\n    import seaborn\nexcept ImportError:\n    seaborn = None\n"},
        {"a.py": "try:\n    import x\nexcept ImportError:\n    import seaborn\n"},
        {"a.py": "if TYPE_CHECKING:\n    import seaborn\n"},
        {"a.py": "if sys.version_info >= (3, 11):\n    import x\nelse:\n    import seaborn\n"},
        {"a.py": "import seaborn", "seaborn.py": ""},
        {"a.py": "import seaborn", "lib/seaborn/__init__.py": ""},
        {"a.py": "from . import seaborn"},
        {"a.py": "import surely_absent, os, json"},
        {"a.py": "# import seaborn\nprint('import seaborn')\n"},
        {".venv/lib/a.py": "import seaborn"},
        {"env/pyvenv.cfg": "", "env/lib/a.py": "import seaborn"},
        {"n.ipynb": "no JSON: import seaborn"},
        {"n.ipynb": '{"cells": [{"cell_type": "code"}]}'},
    ],
)
def test_imports_that_need_no_package(tmp_path: Path, files: Mapping[str, str]) -> None:
    write_files(tmp_path, {"databricks.yml": "", **files})
    assert found(tmp_path) == {}


def test_a_folder_that_is_no_repository_is_not_searched_below_its_files(tmp_path: Path) -> None:
    write_files(tmp_path, {"a.py": "import seaborn", "downloads/b.py": "import boto3"})
    assert found(tmp_path) == {"seaborn": "a.py"}
    write_files(tmp_path, {"setup.cfg": ""})
    assert found(tmp_path) == {"seaborn": "a.py", "boto3": "downloads/b.py"}


@pytest.mark.parametrize("runtime", packages_of_runtimes())
def test_packages_are_those_of_the_runtime(tmp_path: Path, runtime: str) -> None:
    write_files(tmp_path, {"a.py": "import pyiceberg, psycopg2.extras\nfrom azure.storage import blob\n"})
    names = {"pyiceberg", "psycopg2", "azure-storage-blob"} & packages_of_runtimes()[runtime].keys()
    assert {each.removesuffix("-binary") for each in found(tmp_path, runtime)} == names
    assert all(
        each.package.version == packages_of_runtimes()[runtime][each.package.name]
        for each in imported_packages(tmp_path, runtime)
    )


@pytest.mark.parametrize(
    ("line", "package"),
    [
        ("import yaml", "pyyaml"),
        ("import grpc", "grpcio"),
        ("from grpc_status import rpc_status", "grpcio-status"),
        ("from pythonjsonlogger import jsonlogger", "python-json-logger"),
        ("from dateutil.parser import parse", "python-dateutil"),
        ("import sklearn.linear_model", "scikit-learn"),
        ("from google.protobuf import message", "protobuf"),
        ("from google.api_core.exceptions import NotFound", "google-api-core"),
        ("import mlflow", "mlflow"),
        ("import PIL.Image", "pillow"),
    ],
)
def test_modules_lead_to_their_packages(tmp_path: Path, line: str, package: str) -> None:
    write_files(tmp_path, {"a.py": f"{line}\n"})
    assert list(found(tmp_path)) == [package]


def test_packages_that_lakeward_serves_are_not_installed(tmp_path: Path) -> None:
    write_files(tmp_path, {"a.py": "".join(f"import {name}\n" for name in REPLACED)})
    assert found(tmp_path) == {}


def run(machine: Machine, folder: Path, *arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "lakeward", "run", "job.yml", "--dry-run", *arguments]
    return outcome(command, cwd=folder, env=machine.environ(**environ), timeout=120)


@pytest.mark.process
@pytest.mark.parametrize(
    ("wheels", "declared", "arguments", "installed", "decision"),
    [
        ((VERSION, "9.0"), "", (), VERSION, f"added seaborn=={VERSION}: Runtime "),
        (("9.0",), "", (), "9.0", "added seaborn: Runtime "),
        ((), "", (), None, "without seaborn, which main.py imports: "),
        ((VERSION, "9.0"), "seaborn==9.0\n", (), "9.0", ""),
        ((VERSION, "9.0"), "plots==1.0\n", (), "9.0", ""),
        ((VERSION,), "", ("--without", "seaborn"), None, ""),
        ((VERSION, "9.0"), "", ("--with", "seaborn==9.0"), "9.0", ""),
    ],
)
def test_the_environment_has_what_the_code_imports(
    tmp_path: Path,
    wheels: tuple[str, ...],
    declared: str,
    arguments: tuple[str, ...],
    installed: str | None,
    decision: str,
) -> None:
    """The runtime's version where it can be had; a declaration, a package and an option win over it."""
    machine = Machine(tmp_path / "machine")
    for version in wheels:
        make_wheel(machine.wheels, "seaborn", version)
    make_wheel(machine.wheels, "plots", "1.0", requires=("seaborn==9.0",))
    folder = tmp_path / "repository"
    files = {"job.yml": JOB, "main.py": "import seaborn\n"}
    write_files(folder, {**files, "requirements.txt": declared} if declared else files)
    ran = run(machine, folder, *arguments)
    assert ran.returncode == 0, ran.stderr
    assert (decision in ran.stderr, "added seaborn" in ran.stderr) == (True, "added" in decision)
    (place,) = machine.environments.glob("*/lib/python*/site-packages")
    versions = [each.stem.partition("-")[2] for each in place.glob("seaborn-*.dist-info")]
    assert versions == ([installed] if installed else [])
    # The next command finds the environment.
    again = run(machine, folder, *arguments)
    assert (again.returncode, "lakeward: " in again.stderr) == (0, False), again.stderr


@pytest.mark.process
def test_without_an_index_all_are_left_out_at_once(tmp_path: Path) -> None:
    machine = Machine(tmp_path / "machine")
    folder = tmp_path / "repository"
    write_files(folder, {"job.yml": JOB, "main.py": "import seaborn\nimport boto3\n"})
    unreachable = {"PIP_NO_INDEX": "", "PIP_INDEX_URL": "http://127.0.0.1:9/simple", "UV_HTTP_RETRIES": "0"}
    ran = run(machine, folder, **unreachable, no_proxy="127.0.0.1")
    assert ran.returncode == 0, ran.stderr
    (line,) = [each for each in ran.stderr.splitlines() if "without seaborn" in each]
    assert "without seaborn, boto3, which main.py imports: [INDEX_NOT_REACHABLE]" in line
