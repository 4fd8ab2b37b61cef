"""Repositories in folders with special characters: they are read, installed and named in errors."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from lakeward.check import check
from lakeward.environments.repository import repository_root
from lakeward.environments.sources import read_all
from lakeward.environments.uv_program import Installer

NAMES = (
    *(
        "a b",
        "a#b",
        "100%25",
        "it's",
        'q"t',
        "s;c",
        "d$HOME",
        "b[1]",
        "ü",
        "a,b",
        "a=b",
        "{x}",
        "x@y",
        "a&b",
        "st*r",
    ),
    *("q?m", "-dash", "~t", "back\\slash", "a:b", "n(1)", "pkg[dev]", "tab\tx", "line\nx", "…", "😀"),
)
PROJECT = '[project]\nname = "shop"\nversion = "1"\ndependencies = ["tomli>=2"]\n'
NOTEBOOK = (
    "# Databricks notebook source\ndbutils.widgets.get('a')\n\n# COMMAND ----------\n\nx = = 1\n\n"
    "# COMMAND ----------\n\n%%frobnicate\n\n# COMMAND ----------\n\nimport surely_absent\n"
)


@pytest.fixture(params=NAMES, ids=ascii)
def root(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    folder = tmp_path / request.param
    folder.mkdir()
    (folder / "pyproject.toml").write_text(PROJECT, "utf-8")
    (folder / f"{request.param}.py").write_text(NOTEBOOK, "utf-8")
    return folder


def test_every_cell_is_looked_at_but_the_broken_one(root: Path) -> None:
    report = check(root, environ={})
    (unread,) = report.unread
    assert (unread.place.file, unread.place.line) == (f"{root.name}.py", 6)
    found = {finding.construct for finding in report.findings}
    assert found >= {"dbutils.widgets.get", "magic %frobnicate", "package surely-absent"}


def test_requirements_are_read(root: Path) -> None:
    assert repository_root(root) == root
    assert [each.text for each in read_all(root).wanted] == ["tomli>=2"]


def test_uv_installs_the_folder_that_is_meant(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    called: list[tuple[str, ...]] = []
    monkeypatch.setattr(Installer, "_pip", lambda _self, _folder, *arguments, **_: called.append(arguments))
    Installer("uv", lambda _: None, {}).install_in_place(root / ".venv", root)
    ((*_, option, place),) = called
    assert option == "-e"
    parts = urlsplit(place)
    # uv reads extras from what follows a bracket, and a fragment from what follows "#".
    assert (parts.scheme, parts.query, parts.fragment, "[" in place) == ("file", "", "", False)
    assert unquote(parts.path) == str(root)
