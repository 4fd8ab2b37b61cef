"""Run command lines inside the test's process, on the suite's JVM."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from lakeward.cli import main


@dataclass(frozen=True)
class Ran:
    """The result of a command."""

    returncode: int
    stdout: str
    stderr: str

    @property
    def document(self) -> Any:
        """The object that `--json` printed."""
        return json.loads(self.stdout)


@dataclass(frozen=True)
class Inside:
    """A folder to give commands in."""

    folder: Path
    capfd: pytest.CaptureFixture[str]
    monkeypatch: pytest.MonkeyPatch

    def at(self, folder: Path) -> Inside:
        """The same in another folder."""
        self.monkeypatch.chdir(folder)
        return replace(self, folder=folder)

    def __call__(self, *arguments: str) -> Ran:
        self.capfd.readouterr()
        code = main(arguments)
        ran = Ran(code, *self.capfd.readouterr())
        assert "Traceback" not in ran.stderr, ran.stderr
        assert "\tat " not in ran.stderr, ran.stderr
        return ran

    def write(self, **files: str) -> None:
        """Source files by their names without `.py`."""
        for name, text in files.items():
            (self.folder / f"{name}.py").write_text(text)
