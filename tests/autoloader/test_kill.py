"""kill -9 while a stream runs: no file is lost and none is read twice."""

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


@pytest.mark.process
@pytest.mark.slow
def test_a_stream_that_is_killed_at_each_point_of_a_batch_ends_with_every_row_once(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    files = range(24)
    for file in files:
        (tmp_path / "in" / f"{file:03}.json").write_text(f'{{"file":{file},"row":1}}\n')
    checkpoint, table = tmp_path / "checkpoint", None
    reached = []
    for point in (offset_written, data_written, delta_committed):
        process = started(tmp_path)
        deadline = time.monotonic() + 120
        begun = committed(tmp_path)
        while process.poll() is None and time.monotonic() < deadline:
            table = table or next(tmp_path.rglob("_delta_log"), None)
            if table is not None and committed(tmp_path) > begun and point(checkpoint, table.parent):
                reached.append(point.__name__)
                break
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
    output, _ = started(tmp_path).communicate(timeout=240)
    rows = next(line for line in output.splitlines() if line.startswith("ROWS "))
    assert json.loads(rows[5:]) == [[file, 1] for file in files]
    assert reached == ["offset_written", "data_written", "delta_committed"]


def numbers(folder: Path) -> int:
    return sum(name.isdigit() for name in os.listdir(folder))


def offset_written(checkpoint: Path, table: Path) -> bool:
    return numbers(checkpoint / "offsets") > numbers(checkpoint / "commits")


def data_written(checkpoint: Path, table: Path) -> bool:
    """More data files than commits: each batch of this stream writes as many as it has tasks."""
    files = sum(name.endswith(".parquet") for name in os.listdir(table))
    logged = sum(
        line.startswith('{"add"')
        for path in (table / "_delta_log").glob("*.json")
        for line in path.read_text().splitlines()
    )
    return files > logged


def delta_committed(checkpoint: Path, table: Path) -> bool:
    """The offset log and the table are ahead of the commit log; table version 0 may come before batch 0."""
    batches = {
        line.partition('"version":')[2].partition(",")[0]
        for path in (table / "_delta_log").glob("*.json")
        for line in path.read_text().splitlines()
        if line.startswith('{"txn"')
    }
    return len(batches) > numbers(checkpoint / "commits")
