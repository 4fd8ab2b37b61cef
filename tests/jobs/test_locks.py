"""One run at a time, whatever becomes of the process that holds the lock."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from lakeward.errors import JobError
from lakeward.jobs.concurrency import exclusive_lock

HOLDER = """
import sys, time
from pathlib import Path
from lakeward.jobs.concurrency import exclusive_lock
with exclusive_lock(Path(sys.argv[1]), "x"):
    print("held", flush=True)
    time.sleep(60)
"""


def holder(file: Path) -> subprocess.Popen[str]:
    process = subprocess.Popen([sys.executable, "-c", HOLDER, str(file)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def test_a_second_run_is_refused_and_told_who_runs(tmp_path: Path) -> None:
    file = tmp_path / "jobs" / "j.lock"
    with holder(file) as process:
        with pytest.raises(JobError) as caught, exclusive_lock(file, "The job j"):
            pass
        assert caught.value.condition == "RUN_ACTIVE"
        assert f"The job j is already being run, by process {process.pid}." in str(caught.value)
        process.kill()


def test_a_killed_owner_leaves_nothing_in_the_way(tmp_path: Path) -> None:
    file = tmp_path / "j.lock"
    file.write_text("1234567890123\n")
    with holder(file) as process:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    with exclusive_lock(file, "x"):
        assert file.read_text().strip() == str(os.getpid())


def test_the_lock_is_free_after_the_body_even_when_it_raises(tmp_path: Path) -> None:
    file = tmp_path / "j.lock"
    with pytest.raises(ValueError, match="boom"), exclusive_lock(file, "x"):
        raise ValueError("boom")
    with exclusive_lock(file, "x"):
        pass


def test_it_also_excludes_within_one_process(tmp_path: Path) -> None:
    file = tmp_path / "j.lock"
    with exclusive_lock(file, "x"), pytest.raises(JobError), exclusive_lock(file, "x"):
        pass
