"""kill -9 after every step of a load, and loads by several processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.copy_into.conftest import Loads

ROOT = Path(__file__).parents[2]
pytestmark = [pytest.mark.process, pytest.mark.slow]


def started(root: Path, loads: Loads, *point: str) -> subprocess.Popen[str]:
    """Start a process that waits for a line before it loads."""
    script = Path(__file__).with_name("copying.py")
    root.mkdir()
    return subprocess.Popen(
        [sys.executable, str(script), str(root), str(_place(loads)), str(loads.folder), *point],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        cwd=root,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])},
    )


def let_go(*processes: subprocess.Popen[str]) -> list[str]:
    """Start the load in all processes at once and return their output."""
    for process in processes:
        assert process.stdout is not None
        while "READY" not in process.stdout.readline():
            assert process.poll() is None
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    return [process.communicate(timeout=200)[0] for process in processes]


def _place(loads: Loads) -> Path:
    return loads.folder.parent / "table"


def _begin(loads: Loads) -> None:
    loads.spark.createDataFrame([], "id BIGINT").write.format("delta").save(str(_place(loads)))
    for n in range(10):
        loads.put(f"{n}.json", *({"id": n * 10 + r} for r in range(n + 1)))


def _rest(loads: Loads) -> int:
    return int(loads.copy(into=f"delta.`{_place(loads)}`")[0][0])


def _ids(loads: Loads) -> list[int]:
    return sorted(row.id for row in loads.spark.read.format("delta").load(str(_place(loads))).collect())


ALL = sorted(n * 10 + r for n in range(10) for r in range(n + 1))


@pytest.mark.parametrize(
    ("point", "left"),
    [("rows written", 55), ("history written", 55), ("committed", 0)],
)
def test_a_load_that_is_killed_is_there_as_a_whole_or_not_at_all(
    loads: Loads, tmp_path: Path, point: str, left: int
) -> None:
    _begin(loads)
    process = started(tmp_path / "other", loads, point)
    let_go(process)
    assert process.returncode == -signal.SIGKILL
    assert _rest(loads) == left
    assert _ids(loads) == ALL
    assert _rest(loads) == 0


def test_two_processes_on_the_same_files_load_each_once(loads: Loads, tmp_path: Path) -> None:
    _begin(loads)
    let_go(started(tmp_path / "one", loads), started(tmp_path / "two", loads))
    _rest(loads)
    assert _ids(loads) == ALL
