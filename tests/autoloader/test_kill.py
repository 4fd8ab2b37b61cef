"""kill -9 while a stream runs: no file is lost and none is read twice (invariants 1 and 22)."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

FILES = 40


def started(root: Path) -> subprocess.Popen[str]:
    script = Path(__file__).with_name("killed_stream.py")
    return subprocess.Popen(
        [sys.executable, str(script), str(root)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
        cwd=root,
    )


def committed(root: Path) -> int:
    folder = root / "checkpoint" / "commits"
    return sum(name.name.isdigit() for name in folder.iterdir()) if folder.is_dir() else 0


@pytest.mark.process
@pytest.mark.slow
def test_a_stream_that_is_killed_again_and_again_ends_with_every_row_once(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for file in range(FILES):
        (tmp_path / "in" / f"{file:03}.json").write_text(
            "".join(f'{{"file":{file},"row":{r}}}\n' for r in range(file + 1))
        )
    random.seed(7)
    killed_midway = 0
    for _ in range(4):
        process = started(tmp_path)
        before, deadline = committed(tmp_path), time.monotonic() + 120
        while committed(tmp_path) < before + 2 and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.02)
        time.sleep(random.uniform(0, 1))
        killed_midway += process.poll() is None
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
    assert killed_midway >= 2
    output, _ = started(tmp_path).communicate(timeout=240)
    rows = next(line for line in output.splitlines() if line.startswith("ROWS "))
    assert json.loads(rows[5:]) == [[file, file + 1] for file in range(FILES)]
