"""Workflows, action, hooks, image and templates name commands, files and targets that exist."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
from ruamel.yaml import YAML

from lakeward.cli.main import lakeward

ROOT = Path(__file__).resolve().parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
ACTIONS = [ROOT / "action.yml", *sorted((ROOT / ".github" / "actions").glob("*/action.yml"))]
TEMPLATES = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))
PINNED = re.compile(r"^[\w.-]+/[\w./-]+@[0-9a-f]{40}$")


def document(path: Path) -> Any:
    return YAML(typ="safe").load(path.read_text(encoding="utf-8"))


def steps(path: Path) -> Iterator[dict[str, Any]]:
    """The steps of a workflow's jobs, or of an action."""
    parsed = document(path)
    yield from parsed.get("runs", {}).get("steps", ())
    for job in parsed.get("jobs", {}).values():
        yield from job.get("steps", ())


def lakeward_commands(text: str) -> list[list[str]]:
    """The command lines of lakeward in a script, without what precedes the program."""
    found = re.findall(r"(?:^|[\s/\"])lakeward\"? +((?:--?)?[a-z][^\n|>&]*)", text)
    return [[word for word in shlex.split(each) if word] for each in found]


def parse(words: list[str]) -> None:
    """Raise click.UsageError unless the parser knows the command and its options."""
    command: click.Command = lakeward
    context = click.Context(command, info_name="lakeward")
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        inner = command.get_command(context, words[0])
        if inner is None:
            raise click.UsageError(f"There is no command `{words[0]}`.")
        command, words = inner, words[1:]
        context = click.Context(command, info_name=command.name, parent=context)
    command.make_parser(context).parse_args(list(words))


@pytest.mark.parametrize("path", [*WORKFLOWS, *ACTIONS], ids=lambda path: str(path.relative_to(ROOT)))
def test_actions_are_pinned_to_a_commit_or_in_the_repository(path: Path) -> None:
    used = [step["uses"] for step in steps(path) if "uses" in step]
    here = [f"./{action.parent.relative_to(ROOT)}" for action in ACTIONS]
    assert [each for each in used if not PINNED.match(each) and each not in here] == []


@pytest.mark.parametrize("path", [*WORKFLOWS, *ACTIONS], ids=lambda path: str(path.relative_to(ROOT)))
def test_no_script_contains_an_expression_that_others_write(path: Path) -> None:
    scripts = "\n".join(step.get("run", "") for step in steps(path))
    assert (
        re.findall(r"\$\{\{\s*(?:inputs|github\.event|github\.head_ref|github\.ref_name)[^}]*", scripts) == []
    )


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_commands_and_targets_of_workflows_exist(path: Path) -> None:
    script = "\n".join(step.get("run", "") for step in steps(path))
    for words in lakeward_commands(script):
        parse(words)
    targets = set(re.findall(r"^([a-z][\w-]*):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert set(re.findall(r"(?:^|&& |\s-\s)make ([a-z][\w-]*)", script, re.MULTILINE)) <= targets
    for file in re.findall(r"(?:python3? |--file )([\w./-]+/[\w./-]+)", script):
        assert (ROOT / file).is_file(), file


def test_release_builds_before_it_publishes_and_stores_no_token() -> None:
    jobs = document(ROOT / ".github" / "workflows" / "release.yml")["jobs"]
    assert jobs["build"]["needs"] == "test"
    assert jobs["pypi"]["needs"] == jobs["image"]["needs"] == "build"
    assert set(jobs["github"]["needs"]) == {"pypi", "image"}
    assert jobs["pypi"]["permissions"] == {"id-token": "write"}
    assert jobs["pypi"]["environment"] == "pypi"
    text = (ROOT / ".github" / "workflows" / "release.yml").read_text()
    assert "secrets." not in text
    produced = {
        step["with"]["name"] for step in jobs["build"]["steps"] if "upload-artifact" in step.get("uses", "")
    }
    wanted = {
        step["with"]["name"]
        for job in jobs.values()
        for step in job.get("steps", ())
        if "download-artifact" in step.get("uses", "") and "name" in step["with"]
    }
    assert wanted <= produced


def hooks() -> list[dict[str, Any]]:
    return list(document(ROOT / ".pre-commit-hooks.yaml"))


def test_hooks_have_what_pre_commit_requires_and_commands_that_exist() -> None:
    assert [hook["id"] for hook in hooks()] == ["lakeward-check", "lakeward-bundle-validate"]
    for hook in hooks():
        assert {"id", "name", "entry", "language"} <= hook.keys()
        assert hook["language"] == "python"
        words = shlex.split(hook["entry"])
        assert words[0] == "lakeward"
        parse(words[1:])
        re.compile(hook.get("files", ""))


@pytest.mark.process
@pytest.mark.parametrize("hook", hooks(), ids=lambda hook: hook["id"])
def test_a_hook_fails_on_a_bad_repository_and_passes_on_a_good_one(
    hook: dict[str, Any], tmp_path: Path
) -> None:
    command = [sys.executable, "-m", *shlex.split(hook["entry"])]
    (tmp_path / "databricks.yml").write_text("bundle: {name: shop}\ntargets: {dev: {default: true}}\n")
    good = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert good.returncode == 0, good.stdout + good.stderr
    (tmp_path / "job.py").write_text("spark.sparkContext._jvm.no.such.Thing()\nspark.table('a.b.c')\n")
    (tmp_path / "databricks.yml").write_text(
        "bundle: {name: shop}\ntargets: {dev: {default: true}}\n"
        "resources: {jobs: {j: {tasks: [{task_key: t, notebook_task: {notebook_path: ./gone.py}}]}}}\n"
    )
    bad = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert bad.returncode != 0, bad.stdout + bad.stderr
    assert "Traceback" not in bad.stderr


# Records how it was called, one argument a line.
FAKE = '#!/bin/sh\nprintf "%s\\n" "$@" > "$RUNNER_TEMP/called"\n'


@pytest.mark.parametrize(
    ("command", "arguments", "called"),
    [
        ("check", "", ["check", "--strict"]),
        ("test", "tests/unit -k 'one or two'", ["test", "tests/unit", "-k", "one or two"]),
        ("run", "daily -t dev", ["run", "daily", "-t", "dev"]),
        ("run", "daily; touch gone $(touch gone) `touch gone`", None),
        ("destroy", "", None),
        ("run; touch gone", "", None),
    ],
)
def test_the_action_calls_the_command_and_executes_nothing_of_its_inputs(
    command: str, arguments: str, called: list[str] | None, tmp_path: Path
) -> None:
    script = next(step["run"] for step in steps(ROOT / "action.yml") if step.get("name") == "Run")
    program = tmp_path / "lakeward" / "bin" / "lakeward"
    program.parent.mkdir(parents=True)
    program.write_text(FAKE)
    program.chmod(0o755)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environ = {"PATH": path, "RUNNER_TEMP": str(tmp_path), "COMMAND": command, "ARGUMENTS": arguments}
    ran = subprocess.run(
        ["bash", "-e", "-o", "pipefail", "-c", script],
        cwd=tmp_path,
        env=environ,
        capture_output=True,
        check=False,
    )
    assert not (tmp_path / "gone").exists()
    if command == "run" and called is None:
        called = ["run", *shlex.split(arguments)]
    if called is None:
        assert ran.returncode == 2
        assert b"there are check, test and run" in ran.stdout
        return
    assert ran.returncode == 0, ran.stderr
    words = (tmp_path / "called").read_text().splitlines()
    assert words == called
    parse(words[:1])


def test_inputs_of_the_action_are_all_used_and_all_declared() -> None:
    action = document(ROOT / "action.yml")
    used = set(re.findall(r"inputs\.([\w-]+)", (ROOT / "action.yml").read_text()))
    assert used == set(action["inputs"])
    page = (ROOT / "docs" / "installation.md").read_text()
    assert [name for name in action["inputs"] if f"| `{name}` |" not in page] == []


def test_the_image_is_made_of_files_that_a_release_builds() -> None:
    lines = (ROOT / "packaging" / "container" / "Dockerfile").read_text().splitlines()
    copied = [line.split()[1] for line in lines if line.startswith("COPY ")]
    assert copied == ["release/*.whl"]
    ignored = (ROOT / ".dockerignore").read_text().splitlines()
    assert [line for line in ignored if not line.startswith("#")] == ["*", "!release"]
    assert "--outdir release" in (ROOT / "Makefile").read_text()
    assert json.loads(next(line for line in lines if line.startswith("ENTRYPOINT")).partition(" ")[2]) == [
        "lakeward"
    ]
    parse(json.loads(next(line for line in lines if line.startswith("CMD")).partition(" ")[2]))
    # Commands must not run as root: files in the mounted folder would belong to it.
    assert [line for line in lines if line.startswith("USER ")] == ["USER 1000"]


def test_the_devcontainer_calls_a_target_of_the_makefile() -> None:
    container = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text())
    program, target = container["postCreateCommand"].split()
    assert program == "make"
    done = subprocess.run(
        [program, "--dry-run", target], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "bootstrap.py dev" in done.stdout


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.name)
def test_issue_templates_request_commands_that_exist(path: Path) -> None:
    template = document(path)
    for words in lakeward_commands(path.read_text().replace("`", "\n")):
        parse(words)
    identifiers = [each["id"] for each in template.get("body", ())]
    assert len(identifiers) == len(set(identifiers))
    if path.name == "bug.yml":
        assert "lakeward --version --verbose" in path.read_text()
