"""Places that are full or cannot be written."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.processes import outcome


@pytest.fixture
def full_disk() -> Iterator[Callable[[int], Path]]:
    """Makes folders that are disks of so many bytes; needs the right to mount, and skips without it."""
    with ExitStack() as mounted:

        def make(size: int) -> Path:
            # Not among pytest's own: a killed run leaves its disk behind, and pytest could not tidy up.
            folder = Path(tempfile.mkdtemp(prefix="lakeward-disk-"))
            mounted.callback(folder.rmdir)
            _mount(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)], folder, mounted)
            return folder

        yield make


@pytest.fixture
def read_only() -> Iterator[Callable[[Path], Path]]:
    """Makes a folder read-only, for root too: by a mount where the tests run as root, else by its mode."""
    with ExitStack() as undone:

        def make(folder: Path) -> Path:
            if os.geteuid():
                folder.chmod(0o555)
                undone.callback(folder.chmod, 0o755)
            else:
                _mount(["mount", "--bind", str(folder), str(folder)], folder, undone)
                subprocess.run(["mount", "-o", "remount,ro,bind", str(folder)], check=True)
            return folder

        yield make


def _mount(command: list[str], folder: Path, undone: ExitStack) -> None:
    if shutil.which("mount") is None:
        pytest.skip("this needs to mount a file system, and there is no `mount` on PATH")
    done = outcome(command)
    if done.returncode:
        pytest.skip(f"this test needs permission to mount: {done.stderr.strip()}")
    # Lazily: a JVM may still hold a file of a folder that is gone already.
    undone.callback(subprocess.run, ["umount", "-l", str(folder)], check=True)
