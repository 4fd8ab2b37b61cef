"""State folders and temporary folders can be entered by their owner only."""

from __future__ import annotations

import stat
import tempfile
from pathlib import Path

import pytest

from lakeward.cli import failures
from lakeward.dbutils import FileSecrets
from lakeward.private_folders import private_folder, private_temporary_folder


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_new_folders_are_private_and_existing_parents_are_left_alone(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    folder = private_folder(tmp_path / "a" / "b" / "c")
    assert [mode(each) for each in (folder, *folder.parents[:3])] == [0o700, 0o700, 0o700, 0o755]


def test_a_folder_of_an_earlier_version_is_repaired(tmp_path: Path) -> None:
    folder = tmp_path / "state"
    folder.mkdir()
    folder.chmod(0o755)
    assert mode(private_folder(folder)) == 0o700


def test_the_temporary_folder_is_private_and_no_one_else_s(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    folder = private_temporary_folder()
    assert folder is not None
    assert mode(folder) == 0o700
    folder.chmod(0o777)
    assert private_temporary_folder() == folder
    assert mode(folder) == 0o700
    # Another user may create the name first, as a link to a folder of theirs.
    folder.rmdir()
    (tmp_path / "theirs").mkdir()
    folder.symlink_to(tmp_path / "theirs")
    assert private_temporary_folder() is None
    folder.unlink()
    folder.write_text("")
    assert private_temporary_folder() is None


def test_secrets_and_crash_logs_make_private_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    FileSecrets(tmp_path / "home" / "local" / "secrets").put("s", "k", b"x")
    names = ("home", "home/local", "home/local/secrets", "home/local/secrets/s")
    assert [mode(tmp_path / name) for name in names] == [0o700] * 4
    token = failures.state_folder.set(tmp_path / "other" / "local")
    try:
        log = failures.crash_log(ValueError("x"))
    finally:
        failures.state_folder.reset(token)
    assert log.parent == tmp_path / "other" / "local"
    assert (mode(log), mode(log.parent)) == (0o600, 0o700)
