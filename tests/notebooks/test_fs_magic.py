"""`%fs`: commands of dbutils.fs with the arguments that the line has."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.notebooks.conftest import Desk, text_of

HEAD = "# Databricks notebook source\n"


def _cells(*cells: str) -> str:
    return HEAD + "\n# COMMAND ----------\n".join(cells)


@pytest.mark.parametrize("line", ["ls", "ls ", "ls /", "ls dbfs:/"])
def test_ls_without_a_path_lists_the_root(desk: Desk, line: str) -> None:
    path = desk.file(
        "a.py", _cells('dbutils.fs.put("dbfs:/in_the_root.txt", "x", True)', f"# MAGIC %fs {line}")
    )
    assert "dbfs:/in_the_root.txt" in text_of(desk.done(path), 2)


# A line with arguments that the command does not take → what the message says of them.
WRONG = {
    "cp a b c d": "too many positional arguments",
    "cp /a": "missing a required argument: 'dest'",
    "head": "missing a required argument: 'file'",
    "head /a many": "invalid literal for int()",
    "mkdirs": "missing a required argument: 'dir'",
    "rm": "missing a required argument: 'dir'",
    "ls /a /b": "too many positional arguments",
    "ls -r /a": "got an unexpected keyword argument 'recurse'",
}


@pytest.mark.parametrize("line", WRONG)
def test_wrong_arguments_are_named(desk: Desk, line: str) -> None:
    finished = desk.run(desk.file("a.py", _cells(f"# MAGIC %fs {line}")))
    assert finished.error is not None
    assert finished.error.condition == "MAGIC_ARGUMENTS_INVALID"
    assert f"`%fs {line}`" in str(finished.error)
    assert WRONG[line] in str(finished.error)


@pytest.mark.parametrize("flag", ["-r", "-R", "--recursive", "--recurse"])
def test_flags_of_recursion(desk: Desk, flag: str, tmp_path: Path) -> None:
    (tmp_path / "from" / "sub").mkdir(parents=True)
    (tmp_path / "from" / "sub" / "x.txt").write_text("x")
    lines = (
        f"# MAGIC %fs cp {flag} file:{tmp_path}/from file:{tmp_path}/to",
        f"# MAGIC %fs rm {flag} file:{tmp_path}/from",
    )
    desk.done(desk.file("a.py", _cells(*lines)))
    assert (tmp_path / "to" / "sub" / "x.txt").read_text() == "x"
    assert not (tmp_path / "from").exists()


@pytest.mark.parametrize(("word", "expected"), [("true", "new"), ("True", "new"), ("false", "old")])
def test_overwrite_is_a_boolean(desk: Desk, word: str, expected: str, tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_text("old")
    desk.run(desk.file("a.py", _cells(f"# MAGIC %fs put file:{tmp_path}/x.txt new {word}")))
    assert (tmp_path / "x.txt").read_text() == expected


@pytest.mark.parametrize("line", ["head PATH", "head PATH 3"])
def test_numbers_are_numbers(desk: Desk, line: str, tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_text("abcdef")
    finished = desk.done(
        desk.file("a.py", _cells("# MAGIC %fs " + line.replace("PATH", f"file:{tmp_path}/x.txt")))
    )
    assert "abc" in text_of(finished, 1)
    assert ("def" in text_of(finished, 1)) == line.endswith("PATH")
