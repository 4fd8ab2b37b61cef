"""A copy of the project to set up, places that cannot be written, and a Maven repository on loopback."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.processes import outcome
from tests.setup.maven_server import MavenServer

ROOT = Path(__file__).resolve().parents[2]


@dataclass
class Project:
    """A checkout of its own, with nothing set up."""

    root: Path
    home: Path

    @property
    def venv(self) -> Path:
        return self.root / ".venv"

    def environ(self, **changes: str) -> dict[str, str]:
        """A machine with the usual programs, an empty home, no network and no settings."""
        return {"PATH": os.environ["PATH"], "HOME": str(self.home), "LANG": "C.UTF-8", **changes}

    def bootstrap(self, level: str = "runtime", **environ: str) -> subprocess.CompletedProcess[str]:
        return self.call([sys.executable, "-S", "scripts/bootstrap.py", level], **environ)

    def call(self, command: list[str], **environ: str) -> subprocess.CompletedProcess[str]:
        return outcome(command, cwd=self.root, env=self.environ(**environ))


def copy_project(folder: Path, home: Path) -> Project:
    """The files that set-up needs, in `folder`."""
    for name in ("Makefile", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, folder / name)
    ignored = shutil.ignore_patterns("__pycache__", ".mypy_cache")
    for name in ("scripts", "requirements", "src/lakeward"):
        shutil.copytree(ROOT / name, folder / name, ignore=ignored)
    home.mkdir(exist_ok=True)
    return Project(folder, home)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    folder = tmp_path / "a project"
    folder.mkdir()
    return copy_project(folder, tmp_path / "home")


@pytest.fixture
def closed_address() -> str:
    """An address on loopback where every connection is refused."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{taken.getsockname()[1]}"


@pytest.fixture
def maven(monkeypatch: pytest.MonkeyPatch) -> Iterator[MavenServer]:
    """A Maven repository on loopback, reached without any proxy of this machine."""
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    with MavenServer() as server:
        yield server
