"""Room for tasks over all runs of a target."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from lakeward.jobs import JobRun
from lakeward.jobs.concurrency import FileSemaphore, RunSemaphore
from lakeward.session import Settings

Run = Callable[..., JobRun]


def test_slots_are_for_all_who_name_the_same_folder(tmp_path: Path) -> None:
    ours, theirs = FileSemaphore(tmp_path / "slots", 2), FileSemaphore(tmp_path / "slots", 2)
    first, second = ours.take(), theirs.take()
    assert first is not None and second is not None
    assert ours.take() is None and theirs.take() is None
    first.release()
    first.release()
    third = theirs.take()
    assert third is not None and ours.take() is None
    # Who says a smaller number sees the first slots.
    assert FileSemaphore(tmp_path / "slots", 1).take() is None


def test_a_run_has_one_task_at_least_and_more_where_there_is_room(tmp_path: Path) -> None:
    ours, theirs = RunSemaphore(FileSemaphore(tmp_path, 2)), RunSemaphore(FileSemaphore(tmp_path, 2))
    assert ours.reserve() and ours.reserve()
    releases = [ours.claim()]
    assert ours.reserve()
    releases.append(ours.claim())
    assert not ours.reserve()
    assert theirs.reserve()
    release = theirs.claim()
    assert not theirs.reserve()
    releases[0]()
    releases[0]()
    assert theirs.reserve()
    theirs.close()
    assert ours.reserve()
    release()
    assert theirs.reserve()


OVERLAP = """
import os, pathlib, sys, time
here = pathlib.Path(__file__).parent
mine = here / f"running.{os.getpid()}"
mine.touch()
time.sleep(0.2)
print(len(list(here.glob("running.*"))))
mine.unlink()
"""
LOOP = """
tasks:
  - task_key: each
    for_each_task:
      inputs: "[1, 2]"
      concurrency: 2
      task: {task_key: one, spark_python_task: {python_file: overlap.py}}
"""


def test_a_loop_has_no_more_passes_at_once_than_there_is_room_for(
    run_job: Run, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAKEWARD_TASKS", "1")
    run = run_job(LOOP, {"overlap.py": OVERLAP}, isolated=True)
    assert run.state == "COMPLETED", run.tasks
    logs = sorted((settings.jobs / "j/runs" / run.run_id / "logs").glob("*.log"))
    assert [log.read_text() for log in logs] == ["1\n"] * 2
