"""`dbutils.fs` and Python's file functions: a rooted name stays in its root, whatever its spelling."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from lakeward.dbutils import DBUtils, ExecutionError
from lakeward.session import PathMap, Settings
from lakeward.session.path_redirection import install, installed_map, uninstall
from tests.spellings import Trap, spellings

ROOTED = (
    "/Volumes",
    "/Workspace",
    "/dbfs",
    "dbfs:",
    "/mnt",
    "/FileStore",
    "/databricks-datasets",
    "s3:",
    "s3a:",
)
"""Other names are local paths, which code may open; links are followed by code, too."""
LOCAL_FOR_PYTHON = ("/mnt", "/FileStore", "/databricks-datasets")
"""Roots of DBFS that Python's functions take for folders of the machine."""


def rooted(count: int, settings: Settings) -> list[str]:
    """Spellings below a root whose plain meaning is below one; without the trap's links."""
    drawn = [each for each in spellings(count, seed=3) if each.startswith(ROOTED) and "link-" not in each]
    return [each for each in drawn if not is_local(each, settings)]


def is_local(path: str, settings: Settings) -> bool:
    """`/Volumes/../etc` is `/etc` before any prefix is looked up, as for Hadoop and on the platform."""
    plain = os.path.normpath(path)
    return path.startswith("/") and not f"{plain}/".startswith(tuple(f"{root}/" for root in ROOTED))


@pytest.mark.parametrize("function", ["ls", "head", "put", "mkdirs", "rm", "cp", "mv", "mount"])
def test_no_spelling_leads_dbutils_out_of_the_roots(
    dbutils: DBUtils, settings: Settings, function: str
) -> None:
    trap = Trap(settings)
    source = "dbfs:/own.txt"
    calls: dict[str, Callable[[str], Any]] = {
        "ls": lambda path: dbutils.fs.ls(path),
        "head": lambda path: dbutils.fs.head(path),
        "put": lambda path: dbutils.fs.put(path, "x", True),
        "mkdirs": lambda path: dbutils.fs.mkdirs(path),
        "rm": lambda path: dbutils.fs.rm(path, True),
        "cp": lambda path: [dbutils.fs.cp(path, "dbfs:/copies/x", True), dbutils.fs.cp(source, path)],
        "mv": lambda path: [dbutils.fs.mv(source, path), dbutils.fs.mv(path, "dbfs:/moved/x", True)],
        "mount": lambda path: [dbutils.fs.mount(path, "/mnt/m"), dbutils.fs.unmount("/mnt/m")],
    }
    for path in rooted(600, settings):
        if "connection.json" in path.lower():
            continue
        (settings.dbfs / "own.txt").write_text("mine")
        try:
            answer = repr(calls[function](path))
        except (ExecutionError, ValueError):
            answer = ""
        assert not trap.reached(answer.encode("utf-8", "replace")), path
        for copies in ("copies/x", "moved/x"):
            with suppress(OSError):
                assert not trap.reached((settings.dbfs / copies).read_bytes()), path
    (settings.state / "mounts.json").unlink(missing_ok=True)
    trap.check("them")


def read_whole(path: str) -> str:
    with open(path, errors="replace") as file:  # builtins.open is what is tried
        return file.read()


@pytest.fixture
def redirected(settings: Settings) -> Iterator[None]:
    before = installed_map()
    install(PathMap.of(settings))
    yield
    if before is None:
        uninstall()
    else:
        install(before)


@pytest.mark.parametrize("function", ["open", "listdir", "write", "remove", "rename", "mkdir", "read"])
def test_no_spelling_leads_pythons_files_out_of_the_roots(
    redirected: None, settings: Settings, function: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    trap = Trap(settings)
    (tmp_path / "cwd").mkdir()
    monkeypatch.chdir(tmp_path / "cwd")
    trap.before = trap.state()
    calls: dict[str, Callable[[str], Any]] = {
        "open": read_whole,
        "listdir": os.listdir,
        "write": lambda path: Path(path).write_text("x"),
        "remove": os.remove,
        "rename": lambda path: os.rename(path, "/Volumes/main/default/v/taken"),
        "mkdir": os.makedirs,
        "read": lambda path: Path(path).read_bytes(),
    }
    for path in rooted(600, settings):
        if (
            "connection.json" in path.lower()
            or not path.startswith("/")
            or os.path.normpath(path).startswith(LOCAL_FOR_PYTHON)
        ):
            continue
        try:
            answer = repr(calls[function](path))
        except (OSError, ValueError):
            answer = ""
        assert not trap.reached(answer.encode("utf-8", "replace")), path
    trap.check("them")
