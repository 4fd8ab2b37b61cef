"""Every command that runs or judges code takes --runtime, which chooses as LAKEWARD_PROFILE does."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lakeward.cli import main
from lakeward.cli.main import lakeward
from lakeward.session import Settings

OPERANDS = {"run": ["key"], "notebook": ["x.py"], "pipeline": ["x.py"]}
COMMANDS = ("run", "notebook", "pipeline", "test", "sql", "workspace", "check")


def settings_in(command: str, runtime: str, monkeypatch: pytest.MonkeyPatch) -> Settings | None:
    """Return the settings that the body of a command finds; None where it does not begin."""
    found: list[Settings] = []

    def work(**_: object) -> int:
        found.append(Settings.here(profile="17.3"))
        return 0

    monkeypatch.setattr(lakeward.commands[command], "callback", work)
    main([command, "--runtime", runtime, *OPERANDS.get(command, [])])
    return found[0] if found else None


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LAKEWARD_PROFILE", raising=False)
    (tmp_path / "pyproject.toml").write_text('[tool.lakeward]\nruntime = "18.3"\n')
    return tmp_path


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    ("given", "name"), [("16.4", "16.4"), ("15.4.x-scala2.12", "15.4"), ("serverless", "serverless")]
)
def test_the_option_wins_over_bundle_and_project_and_ends_with_the_command(
    project: Path, command: str, given: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = settings_in(command, given, monkeypatch)
    assert settings is not None
    assert (settings.profile, settings.runtime_chosen) == (name, True)
    assert "LAKEWARD_PROFILE" not in os.environ


@pytest.mark.parametrize("command", COMMANDS)
def test_an_unknown_runtime_is_refused(
    project: Path, command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert settings_in(command, "nine", monkeypatch) is None
    assert "[UNKNOWN_RUNTIME_PROFILE]" in capsys.readouterr().err
