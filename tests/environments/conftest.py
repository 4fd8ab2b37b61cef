"""Repositories of other people, wheels built for the test, and a cache per test; no network."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.processes import environ_without, outcome
from tests.trees import write_files

JOB = """\
tasks:
  - task_key: a
    environment_key: e
    spark_python_task: {python_file: main.py}
environments: [{environment_key: e}]
"""


def make_wheel(
    folder: Path, name: str, version: str, *, requires: tuple[str, ...] = (), files: Mapping[str, str] = {}
) -> Path:
    """A wheel of pure Python: one module of the package's name, or `files`."""
    folder.mkdir(parents=True, exist_ok=True)
    info = f"{name}-{version}.dist-info"
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    metadata += "".join(f"Requires-Dist: {each}\n" for each in requires)
    held = {
        **(files or {f"{name}.py": f"__version__ = {version!r}\n"}),
        f"{info}/METADATA": metadata,
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(f"{each},,\n" for each in (*held, f"{info}/RECORD"))
    file = folder / f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(file, "w") as archive:
        for path, text in {**held, f"{info}/RECORD": record}.items():
            archive.writestr(path, text)
    return file


@pytest.fixture
def repository(tmp_path: Path) -> Callable[..., Path]:
    """Write the files of a repository and return its folder."""

    def of(files: Mapping[str, str]) -> Path:
        root = tmp_path / "repository"
        (root / ".git").mkdir(parents=True, exist_ok=True)
        return write_files(root, files)

    return of


@dataclass(frozen=True)
class Machine:
    """A machine without a network: a cache, and a folder of wheels."""

    folder: Path

    @property
    def wheels(self) -> Path:
        return self.folder / "wheels"

    @property
    def environments(self) -> Path:
        return self.folder / "cache" / "environments"

    def environ(self, **changes: str) -> dict[str, str]:
        astray = ("PIP_", "UV_", "LAKEWARD_", "PYTEST_", "COV_", "COVERAGE_")
        usual = environ_without(*astray)
        self.wheels.mkdir(exist_ok=True, parents=True)
        # What databricks-connect brings is installed in its place.
        for name in ("grpcio", "grpcio_status", "googleapis_common_protos", "zstandard"):
            if not (self.wheels / f"{name}-1.80.0-py3-none-any.whl").exists():
                make_wheel(self.wheels, name, "1.80.0")
        return {
            **usual,
            "HOME": str(self.folder / "home"),
            "LAKEWARD_CACHE": str(self.folder / "cache"),
            "PIP_NO_INDEX": "1",
            "PIP_FIND_LINKS": str(self.wheels),
            **changes,
        }

    def lakeward(self, folder: Path, *arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
        return outcome(
            [sys.executable, "-m", "lakeward", "test", *arguments],
            cwd=folder,
            env=self.environ(**environ),
            timeout=120,
        )


@pytest.fixture
def full_disk(tmp_path: Path) -> Iterator[Callable[[int], Path]]:
    """Makes folders that are disks of so many bytes; needs the right to mount, and skips without it."""
    with ExitStack() as mounted:

        def make(size: int) -> Path:
            folder = tmp_path / "small disk"
            folder.mkdir()
            command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
            done = outcome(command)
            if done.returncode:
                pytest.skip(f"the test needs the right to mount: {done.stderr.strip()}")
            mounted.callback(subprocess.run, ["umount", str(folder)], check=True)
            return folder

        yield make
