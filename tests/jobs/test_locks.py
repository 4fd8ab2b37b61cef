"""One run at a time, whatever becomes of the process that holds the lock."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from lakeward.errors import JobError
from lakeward.jobs.concurrency import run_lock

HOLDER = """
import sys, time
from pathlib import Path
from lakeward.jobs.concurrency import run_lock
with run_lock(Path(sys.argv[1]), "j", "x"):
    print("held", flush=True)
    time.sleep(60)
"""


def holder(folder: Path) -> subprocess.Popen[str]:
    process = subprocess.Popen([sys.executable, "-c", HOLDER, str(folder)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def test_a_second_run_is_refused_with_the_process_of_the_first(tmp_path: Path) -> None:
    folder = tmp_path / "jobs"
    with holder(folder) as process:
        with pytest.raises(JobError) as caught, run_lock(folder, "j", "The job j"):
            pass
        assert caught.value.condition == "RUN_ACTIVE"
        assert f"The job j is already being run, by process {process.pid}." in str(caught.value)
        process.kill()


def test_a_killed_owner_leaves_nothing_in_the_way(tmp_path: Path) -> None:
    file = tmp_path / "j.lock"
    file.write_text("1234567890123\n")
    with holder(tmp_path) as process:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    with run_lock(tmp_path, "j", "x"):
        assert file.read_text() == f"process {os.getpid()}"


def test_the_lock_is_free_after_the_body_even_when_it_raises(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="boom"), run_lock(tmp_path, "j", "x"):
        raise ValueError("boom")
    with run_lock(tmp_path, "j", "x"):
        pass


def test_it_also_excludes_within_one_process(tmp_path: Path) -> None:
    with run_lock(tmp_path, "j", "x"), pytest.raises(JobError), run_lock(tmp_path, "j", "x"):
        pass
