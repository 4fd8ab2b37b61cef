"""`lakeward bundle validate` and `summary`, as commands."""

from __future__ import annotations

import json
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from lakeward.cli import main
from lakeward.cli.options import mappings_option
from lakeward.session import Settings

TEXT = """\
bundle: {name: b}
variables: {who: {default: you}}
resources:
  jobs:
    j:
      name: hello ${var.who}
      schedule: {quartz_cron_expression: 0 0 5 * * ?, timezone_id: UTC}
      tasks:
        - {task_key: a, notebook_task: {notebook_path: n.py}}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "databricks.yml").write_text(TEXT)
    (tmp_path / "n.py").write_text("# Databricks notebook source\n")
    return tmp_path


def test_a_bundle_that_is_right(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bundle", "validate"]) == 0
    assert capsys.readouterr().out.endswith("Validation OK.\n")


def test_what_is_wrong_is_said_with_its_place_and_exit_code_2(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "n.py").unlink()
    assert main(["bundle", "validate"]) == 2
    document = capsys.readouterr()
    assert document.out.endswith("Found 1 error.\n")
    assert document.err.startswith("error: databricks.yml:9:")
    assert "notebook-missing" in document.err


def test_json_is_the_resolved_configuration_with_the_findings(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "n.py").unlink()
    assert main(["bundle", "validate", "-o", "json", "--var", "who=me"]) == 2
    document = json.loads(capsys.readouterr().out)
    assert document["resources"]["jobs"]["j"]["name"] == "hello me"
    assert [each["rule"] for each in document["findings"]] == ["notebook-missing"]


def test_warnings_fail_only_on_request(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "databricks.yml").write_text(TEXT + "workspace: {host: https://a.example.com}\n")
    assert (main(["bundle", "validate"]), main(["bundle", "validate", "--strict"])) == (0, 2)


def test_the_summary_shows_when_jobs_start(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bundle", "summary"]) == 0
    text = capsys.readouterr().out
    assert "starts: 0 0 5 * * ? (UTC)" in text
    assert text.count("next: ") == 3
    assert main(["bundle", "summary", "-o", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["resources"]["jobs"]["j"]["tasks"] == "a"


@pytest.mark.parametrize(
    ("given", "read"),
    [
        (["a=1,b=2"], {"a": "1", "b": "2"}),
        (["a=1,2"], {"a": "1,2"}),
        (["a=1", "b=2"], {"a": "1", "b": "2"}),
        (['"a=1,2",b=x=y'], {"a": "1,2", "b": "x=y"}),
        (["a=1,b=2", "a=3"], {"a": "3", "b": "2"}),
        (["a="], {"a": ""}),
        (["a=1,b,c=2"], None),
        (["a"], None),
        (['"a=1,b=2'], None),
    ],
)
@pytest.mark.parametrize("flag", ["--var", "--params"])
def test_options_of_the_databricks_cli_take_lists(
    flag: str, given: list[str], read: dict[str, str] | None
) -> None:
    @click.command()
    @mappings_option(flag, "values", help="Values.")
    def command(values: dict[str, str]) -> None:
        print(json.dumps(values))

    result = CliRunner().invoke(command, [part for each in given for part in (flag, each)])
    assert result.exit_code == (2 if read is None else 0)
    assert read is None or json.loads(result.output) == read


@pytest.mark.parametrize("host", ["", "workspace: {host: http://127.0.0.1:1}\n"])
def test_the_summary_shows_the_ids_of_what_is_deployed(
    folder: Path, host: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAKEWARD_HOME", str(folder / ".lakeward"))
    (folder / "databricks.yml").write_text(TEXT + host)
    assert main(["bundle", "summary", "-o", "json"]) == 0
    before = json.loads(capsys.readouterr().out)
    files = Settings.here(folder, target="default").workspace
    state = files / f"{before['root_path'].removeprefix('/Workspace/')}/state"
    state.mkdir(parents=True)
    resources = {"jobs.j": {"id": 12}, "jobs.deleted": {"id": 13}}
    (state / "lakeward.json").write_text(json.dumps({"files": {}, "resources": resources}))
    assert main(["bundle", "summary", "-o", "json"]) == 0
    after = json.loads(capsys.readouterr().out)
    assert after["resources"]["jobs"] == {
        "j": {**before["resources"]["jobs"]["j"], "id": 12, "deployed": True}
    }
    assert main(["bundle", "summary"]) == 0
    assert "    id: 12\n" in capsys.readouterr().out


def test_names_of_a_bundle_do_not_act_on_the_terminal(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = r'"\e]0;title\a\u009b31m\rhost\nTarget  prod"'
    text = TEXT.replace("{name: b}", f"{{name: {name}}}").replace("hello ${var.who}", name)
    (folder / "databricks.yml").write_text(text)
    assert main(["bundle", "summary"]) == 0
    lines = capsys.readouterr().out.split("\n")
    assert all(line.isprintable() for line in lines)
    assert [line for line in lines if line.startswith("Target")] == ["Target  default"]


def test_findings_and_errors_do_not_act_on_the_terminal(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = r"\e]0;title\a\u009b31m\rn.py"
    (folder / "databricks.yml").write_text(TEXT.replace("n.py", f'"{name}"'))
    assert main(["bundle", "validate"]) == 2
    assert main(["run", "\x1b]0;title\x07"]) == 2
    errors = capsys.readouterr().err
    assert "title" in errors and all(line.isprintable() for line in errors.split("\n"))


def test_outside_of_a_bundle_the_next_step_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["bundle", "validate"]) == 2
    assert "lakeward init" in capsys.readouterr().err
