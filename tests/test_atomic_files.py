"""Atomic file writes: a file has its old content or its new content, never a part of it."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from lakeward.atomic_files import atomic_create, atomic_replace, atomic_write, read_json_object


def test_the_old_content_stays_until_the_new_one_is_whole(tmp_path: Path) -> None:
    file = tmp_path / "note.json"
    atomic_write(file, "old")

    with atomic_replace(file) as temporary:
        temporary.write_text("new", encoding="utf-8")
        assert file.read_text(encoding="utf-8") == "old"

    assert file.read_text(encoding="utf-8") == "new"
    assert list(tmp_path.iterdir()) == [file]


def test_a_block_that_fails_leaves_the_old_content_and_nothing_else(tmp_path: Path) -> None:
    file = tmp_path / "note.json"
    atomic_write(file, "old")

    with pytest.raises(UnicodeEncodeError), atomic_replace(file) as temporary:
        temporary.write_text("ne\udc80", encoding="utf-8")

    assert file.read_text(encoding="utf-8") == "old"
    assert list(tmp_path.iterdir()) == [file]


def test_a_full_disk_leaves_the_old_content_and_nothing_else(full_disk: Callable[[int], Path]) -> None:
    file = full_disk(1 << 16) / "note.json"
    atomic_write(file, "old")

    with pytest.raises(OSError, match="No space left"):
        atomic_write(file, b"x" * (1 << 17))

    assert file.read_bytes() == b"old"
    assert list(file.parent.iterdir()) == [file]


def test_the_file_has_its_mode_and_the_longest_name_will_do(tmp_path: Path) -> None:
    secret, page = tmp_path / ("s" * 255), tmp_path / "page.html"
    umask = os.umask(0o022)
    try:
        atomic_write(secret, "hush ☂", mode=0o600, synced=True)
        atomic_write(page, b"<p>")
    finally:
        os.umask(umask)

    assert stat.S_IMODE(secret.stat().st_mode) == 0o600
    assert stat.S_IMODE(page.stat().st_mode) == 0o644
    assert secret.read_text(encoding="utf-8") == "hush ☂"


def test_of_two_that_create_a_file_the_first_one_does(tmp_path: Path) -> None:
    file = tmp_path / "key"
    assert atomic_create(file, "first", mode=0o600, synced=True)
    assert not atomic_create(file, b"second")
    assert file.read_text(encoding="utf-8") == "first" and stat.S_IMODE(file.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [file]
    with pytest.raises(FileNotFoundError):
        atomic_create(tmp_path / "missing" / "key", "x")


@pytest.mark.parametrize("content", ["", "[1]", "5", '{"a"', "\udcff", "[" * 100_000, None])
def test_a_damaged_or_missing_object_is_empty(tmp_path: Path, content: str | None) -> None:
    file = tmp_path / "state.json"
    if content is not None:
        file.write_bytes(content.encode(errors="surrogateescape"))
    assert read_json_object(file) == {}


def test_an_object_is_read(tmp_path: Path) -> None:
    (tmp_path / "state.json").write_text('{"a": 1}')
    assert read_json_object(tmp_path / "state.json") == {"a": 1}
