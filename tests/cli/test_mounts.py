"""Every command that runs code takes --mount and keeps it for its child processes."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import click
import pytest

from lakeward.cli import main
from lakeward.cli.main import lakeward
from lakeward.session import MOUNTS_VARIABLE, Settings

COMMANDS = ("run", "notebook", "pipeline", "test", "sql", "dbt", "workspace", "check")


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., Settings | None]:
    """Settings that a command finds when it is called with arguments; its own work is left out."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(MOUNTS_VARIABLE, raising=False)

    def call(command: str, *arguments: str) -> Settings | None:
        found: list[Settings] = []
        whole = lakeward.commands[command]

        def work(**_: object) -> int:
            found.append(Settings.here())
            return 0

        monkeypatch.setattr(whole, "callback", work)
        operand = {"run": ["key"], "notebook": ["x.py"], "pipeline": ["x.py"]}.get(command, [])
        code = main([command, *arguments, *operand])
        assert code == (0 if found else 2)
        return found[0] if found else None

    return call


@pytest.mark.parametrize("command", COMMANDS)
def test_a_mount_reaches_the_command_and_ends_with_it(
    seen: Callable[..., Settings | None], command: str, tmp_path: Path
) -> None:
    table = '[tool.lakeward.mounts]\n"s3://a" = "table"\n"s3://b" = "table"\n'
    (tmp_path / "pyproject.toml").write_text(table)
    settings = seen(command, "--mount", "s3://b=data=1", "--mount", "/Volumes/c/s/v=/v")
    assert settings is not None
    assert dict(settings.mounts) == {
        "s3://a": f"{tmp_path}/table",
        "s3://b": f"{tmp_path}/data=1",
        "/Volumes/c/s/v": "/v",
    }
    assert MOUNTS_VARIABLE not in os.environ


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("mount", ["data=x", "s3://raw", "s3://raw=", "=x", "/=x"])
def test_a_bad_mount_is_refused(
    seen: Callable[..., Settings | None], command: str, mount: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert seen(command, "--mount", mount) is None
    assert "--mount" in capsys.readouterr().err


def test_commands_that_run_code_share_one_option() -> None:
    options = {
        name: option
        for name, command in lakeward.commands.items()
        for option in command.params
        if isinstance(option, click.Option) and "--mount" in option.opts
    }
    assert set(options) == set(COMMANDS)
    assert len({option.help for option in options.values()}) == 1


def test_check_reads_mounts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.py").write_text('spark.read.parquet("s3://raw/x"); spark.read.parquet("s3://other/x")\n')

    def verdicts(*arguments: str) -> dict[str, str]:
        main(["check", str(tmp_path), "--json", *arguments])
        report = json.loads(capsys.readouterr().out)
        return {each["construct"]: each["verdict"] for each in report["findings"]}

    assert verdicts() == verdicts("--mount", "s3://third=x")
    assert verdicts()["path s3://raw"] == "needs_seed"
    mounted = verdicts("--mount", f"s3://raw={tmp_path}")
    assert "needs_seed" not in [v for name, v in mounted.items() if "raw" in name]
    assert mounted["path s3://other"] == "needs_seed"
    (tmp_path / "pyproject.toml").write_text('[tool.lakeward.mounts]\n"s3://raw" = "data"\n')
    assert verdicts() == mounted
    (tmp_path / "pyproject.toml").write_text('[tool.lakeward.mounts]\n"s3://raw" = 3\n')
    main(["check", str(tmp_path)])
    assert "tool.lakeward.mounts" in capsys.readouterr().out
