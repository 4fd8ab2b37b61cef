"""The completion scripts offer what the parser accepts: every command, every option, every choice."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import click
import pytest

from lakeward.cli.completion import Node, parser_nodes
from lakeward.cli.main import lakeward
from tests.cli.inside import Inside

NODES = list(parser_nodes(click.Context(lakeward, info_name="lakeward")))


@pytest.fixture
def script(without_spark: Inside, tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    ran = without_spark("completion", request.param)
    assert (ran.returncode, ran.stderr) == (0, "")
    path = tmp_path / f"completion.{request.param}"
    path.write_text(ran.stdout)
    return path


def test_the_nodes_are_the_commands_of_the_parser() -> None:
    def paths(command: click.Command, path: tuple[str, ...] = ()) -> set[str]:
        inner = command.commands.items() if isinstance(command, click.Group) else ()
        return {" ".join(path)}.union(*(paths(each, (*path, name)) for name, each in inner))

    assert {node.path for node in NODES} == paths(lakeward)
    assert "run" in paths(lakeward)
    assert "bundle deploy" in paths(lakeward)


def in_bash(script: Path, lines: list[list[str]]) -> list[list[str]]:
    """What the script offers for each command line, whose last word is being typed."""
    calls = []
    for words in lines:
        quoted = " ".join(f"'{word}'" for word in words)
        calls.append(f"COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}; COMPREPLY=(); _lakeward; ")
        calls.append('echo "${COMPREPLY[*]}"')
    ran = subprocess.run(
        ["bash", "-u", "-c", f"source {script}\n" + "\n".join(calls)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    return [line.split() for line in ran.stdout.splitlines()]


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash here")
@pytest.mark.parametrize("script", ["bash"], indirect=True)
def test_bash_offers_every_word_at_every_place(script: Path) -> None:
    def options(node: Node) -> list[list[str]]:
        return [["lakeward", *node.path.split(), "-"]]

    lines = [line for node in NODES for line in options(node)]
    offered = in_bash(script, lines)
    assert {node.path: set(found) for node, found in zip(NODES, offered, strict=True)} == {
        node.path: set(node.options) for node in NODES
    }
    groups = [node for node in NODES if node.commands]
    assert len(groups) > 1
    offered = in_bash(script, [["lakeward", *node.path.split(), ""] for node in groups])
    assert offered == [node.words for node in groups]
    choices = [(node, option, values) for node in NODES for option, values in node.values.items()]
    offered = in_bash(script, [["lakeward", *node.path.split(), option, ""] for node, option, _ in choices])
    assert offered == [list(values) for _, _, values in choices]
    assert any(values for _, _, values in choices)


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash here")
@pytest.mark.parametrize("script", ["bash"], indirect=True)
def test_bash_completes_a_word_and_leaves_the_rest_to_files(script: Path) -> None:
    lines = [
        ["lakeward", "bun"],
        ["lakeward", "bundle", "de"],
        ["lakeward", "run", "daily", "--full"],
        ["lakeward", "notebook", "a/b"],
        ["lakeward", "run", "$(touch gone)", "--js"],
    ]
    assert in_bash(script, lines) == [
        ["bundle"],
        ["deploy", "destroy"],
        ["--full-refresh", "--full-refresh-all"],
        [],
        ["--json"],
    ]
    assert not Path("gone").exists()


@pytest.mark.parametrize("script", ["bash", "zsh", "fish"], indirect=True)
def test_every_command_and_option_is_in_the_script_and_the_shell_accepts_it(script: Path) -> None:
    text = script.read_text()
    for node in NODES:
        for name in node.commands:
            assert f"{node.path} {name}'" in text
        for option in node.options:
            plain = f"-l {option[2:]}" if option.startswith("--") else f"-s {option[1:]}"
            assert (plain if script.suffix == ".fish" else option) in text
    shell = shutil.which(script.suffix[1:])
    if shell is not None:
        flag = "--no-execute" if script.suffix == ".fish" else "-n"
        subprocess.run([shell, flag, str(script)], check=True, env={"PATH": os.environ["PATH"]})


def test_an_unknown_shell_is_wrong_usage(without_spark: Inside) -> None:
    ran = without_spark("completion", "tcsh")
    assert ran.returncode == 2
    assert "'bash', 'zsh', 'fish'" in ran.stderr
