"""What the wheel holds, and what the lock files promise."""

from __future__ import annotations

import os
import re
import sys
import zipfile
from email.parser import Parser
from itertools import pairwise
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.processes import outcome
from tests.setup.conftest import ROOT, Project

LOCKS = ("build", "runtime", "dev", "bench")
if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def locked(name: str) -> dict[str, list[Requirement]]:
    """The requirements of a lock file, by package."""
    text = (ROOT / "requirements" / f"{name}.lock").read_text().replace("\\\n", " ")
    found: dict[str, list[Requirement]] = {}
    for line in text.splitlines():
        if line and not line.startswith("#"):
            requirement = Requirement(line.split(" --hash")[0].strip())
            found.setdefault(requirement.name, []).append(requirement)
    return found


@pytest.fixture
def wheel(project: Project) -> zipfile.ZipFile:
    """The runtime's wheel, built from a copy of the sources without a network."""
    (project.root / "src" / "wearables").mkdir()
    (project.root / "src" / "wearables" / "__init__.py").touch()
    done = outcome(
        [sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", "out", "."],
        cwd=project.root,
        env=project.environ(PIP_NO_INDEX="1", PATH=os.defpath),
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (file,) = (project.root / "out").iterdir()
    return zipfile.ZipFile(file)


def test_the_wheel_holds_the_runtime_whole_and_nothing_else(wheel: zipfile.ZipFile) -> None:
    with wheel:
        names = wheel.namelist()
    assert {name.split("/")[0] for name in names} == {"lakeward", "lakeward-0.1.0.dist-info"}
    sources = {
        f"lakeward/{file.relative_to(ROOT / 'src' / 'lakeward')}"
        for file in (ROOT / "src" / "lakeward").rglob("*")
        if file.is_file() and not {"__pycache__", ".mypy_cache"} & set(file.parts)
    }
    assert {name for name in names if name.startswith("lakeward/")} == sources
    assert "lakeward/py.typed" in names


def test_the_wheel_brings_the_command_and_the_pytest_plugin(wheel: zipfile.ZipFile) -> None:
    with wheel:
        text = wheel.read("lakeward-0.1.0.dist-info/entry_points.txt").decode()
    assert re.sub(r"\s+", " ", text).strip() == (
        "[console_scripts] lakeward = lakeward.cli:main [pytest11] lakeward = lakeward.testing.plugin"
    )


def test_the_wheel_needs_spark_and_delta_and_no_databricks_connect(wheel: zipfile.ZipFile) -> None:
    with wheel:
        metadata = Parser().parsestr(wheel.read("lakeward-0.1.0.dist-info/METADATA").decode())
    needs = metadata.get_all("Requires-Dist") or []
    assert {"pyspark==4.2.0", "delta-spark==4.4.0"} <= set(needs)
    assert not [need for need in needs if need.startswith(("databricks-connect", "databricks-dlt"))]
    assert metadata["Requires-Python"] == ">=3.10"


@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_file_names_every_file_by_hash_and_no_place(name: str) -> None:
    text = (ROOT / "requirements" / f"{name}.lock").read_text()
    assert "://" not in text
    assert "find-links" not in text
    for block in re.split(r"\n(?=\S)", text):
        if "==" in block and not block.startswith("#"):
            assert "--hash=sha256:" in block, block


@pytest.mark.parametrize(("smaller", "larger"), list(pairwise(LOCKS)))
def test_each_level_holds_the_one_before_at_the_same_versions(smaller: str, larger: str) -> None:
    inner, outer = locked(smaller), locked(larger)
    for name, requirements in inner.items():
        assert {str(r.specifier) for r in requirements} == {str(r.specifier) for r in outer[name]}, name


@pytest.mark.parametrize("name", LOCKS[1:])
def test_a_lock_file_satisfies_the_project_file(name: str) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    found = locked(name)
    for text in project["dependencies"]:
        wanted = Requirement(text)
        key = wanted.name.replace("_", "-").replace(".", "-")
        assert found[key], f"{key} is not locked: requirements/compile.sh"
        for requirement in found[key]:
            (pin,) = requirement.specifier
            assert wanted.specifier.contains(pin.version), f"{text}: requirements/compile.sh"


def test_the_project_file_says_where_the_readme_and_the_licence_are() -> None:
    assert (ROOT / "README.md").is_file()
    assert (ROOT / "LICENSE").read_text().lstrip().startswith("Apache License")
    assert (ROOT / ".ci" / "run").stat().st_mode & 0o111
    assert Path(ROOT / "Makefile").is_file()
