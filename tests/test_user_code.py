"""`user_code.is_user_file` separates the user's files from libraries, wherever they are."""

from __future__ import annotations

import json
import sysconfig
from pathlib import Path

import click
import pytest

import lakeward
from lakeward.user_code import is_user_file


@pytest.mark.parametrize(
    "library",
    [
        json.__file__,
        click.__file__,
        lakeward.__file__,
        "<string>",
        "<frozen importlib._bootstrap>",
        None,
        "/usr/lib/python3/dist-packages/x.py",
        str(Path(sysconfig.get_path("scripts")) / "pytest"),
    ],
)
def test_library_files_are_not_the_users(library: object) -> None:
    assert not is_user_file(library)
    assert not is_user_file(library, ["/"])


def test_a_file_of_the_project_is_the_users(tmp_path: Path) -> None:
    file = tmp_path / "lib" / "python3" / "a.py"  # folder names alone do not make a library
    assert is_user_file(str(file))
    assert is_user_file(file, [tmp_path])
    assert not is_user_file(file, [tmp_path / "other"])


def test_an_environment_in_the_project_is_not_the_users(tmp_path: Path) -> None:
    package = tmp_path / ".venv" / "lib" / "python3.12" / "site-packages" / "x.py"
    assert not is_user_file(package, [tmp_path])


def test_links_are_followed(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert is_user_file(tmp_path / "link" / "a.py", [tmp_path / "real"])
    assert is_user_file(tmp_path / "real" / "a.py", [tmp_path / "link"])
