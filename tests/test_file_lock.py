"""Locks on files: exclusive, shared, between processes, and released by the death of the holder."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from lakeward.file_lock import FileLock

HOLDER = """
import sys
from pathlib import Path
from lakeward.file_lock import FileLock
lock = FileLock(Path(sys.argv[1]), per_process=sys.argv[2] == "True")
lock.acquire()
lock.write_owner("process 1")
print("held", flush=True)
sys.stdin.read()
"""


def test_two_exclusive_locks_in_one_process_exclude_each_other(tmp_path: Path) -> None:
    file = tmp_path / "new" / "lock"
    with FileLock(file):
        other = FileLock(file)
        assert not other.acquire(wait=False)
    assert other.acquire(wait=False)
    other.release()
    other.release()


def test_shared_locks_coexist_and_exclude_an_exclusive_one(tmp_path: Path) -> None:
    file = tmp_path / "lock"
    with FileLock(file, shared=True), FileLock(file, shared=True):
        assert not FileLock(file).acquire(wait=False)


@pytest.mark.parametrize("per_process", [False, True])
def test_the_death_of_the_holder_releases_the_lock(tmp_path: Path, per_process: bool) -> None:
    file = tmp_path / "lock"
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(file), str(per_process)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        lock = FileLock(file, per_process=per_process)
        assert not lock.acquire(wait=False)
        assert lock.owner() == "process 1"
        holder.kill()
        assert lock.acquire()
        lock.release()


def test_a_detached_lock_is_held_until_its_descriptor_is_closed(tmp_path: Path) -> None:
    file = tmp_path / "lock"
    lock = FileLock(file)
    assert lock.acquire()
    descriptor = lock.detach()
    lock.release()
    assert not FileLock(file).acquire(wait=False)
    os.close(descriptor)
    with FileLock(file):
        pass


def test_the_owner_is_replaced_and_empty_without_a_file(tmp_path: Path) -> None:
    lock = FileLock(tmp_path / "lock")
    assert lock.owner() == ""
    with lock:
        lock.write_owner("a long name")
        lock.write_owner("b")
        assert lock.owner() == "b"


def test_a_file_that_cannot_be_created_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="file"):
        FileLock(tmp_path / "file" / "lock").acquire()
