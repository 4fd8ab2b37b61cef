"""How many runs go on at once."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from lakeward.session import Settings
from lakeward.workspace.runs.run_process import ProcessResult
from lakeward.workspace.runs.run_queue import Runner

GIGABYTE = 2**30


@pytest.mark.parametrize(("free", "most"), [(0, 1), (GIGABYTE - 1, 1), (GIGABYTE, 2)])
def test_runs_begin_where_there_is_memory_for_them_and_one_always_does(
    tmp_path: Path, free: int, most: int
) -> None:
    runner = Runner(Settings.here(tmp_path, environ={}), tmp_path / "runs", at_once=2, free=lambda: free)
    lock, all_ended = threading.Lock(), threading.Event()
    going: list[int] = []
    seen: list[int] = []
    endings: list[ProcessResult] = []

    def began(number: int) -> bool:
        with lock:
            going.append(number)
            seen.append(len(going))
        return True

    def ended(number: int, ending: ProcessResult) -> None:
        with lock:
            going.remove(number)
            endings.append(ending)
            if len(endings) == 3:
                all_ended.set()

    def on_event(_: Mapping[str, Any]) -> None:
        pass

    # An order that says nothing: its process ends at once, with an error.
    for number in range(3):
        runner.start(
            number,
            {},
            began=lambda number=number: began(number),
            on_event=on_event,
            ended=lambda ending, number=number: ended(number, ending),
        )
    assert all_ended.wait(120)
    assert max(seen) == most
    assert all("before it could say how it went" in ending.reason for ending in endings)
