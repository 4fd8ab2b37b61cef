"""Progress: what events do to the board, and the lines that are written where there is no terminal."""

from __future__ import annotations

import io

from rich.console import Console

from lakeward.cli.output_streams import Streams
from lakeward.cli.progress_display import LineDisplay, LiveDisplay, ProgressBoard
from lakeward.jobs import TaskProgress
from lakeward.pipelines import Progress


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_one_line_is_written_for_every_change_of_a_state_and_none_for_repeats() -> None:
    clock, err = Clock(), io.StringIO()
    plain = LineDisplay(ProgressBoard("orders", clock), Streams(io.StringIO(), err))
    plain(TaskProgress("refresh", "RUNNING"))
    for name in ("bronze", "gold", "late"):
        plain(Progress(name, "view", "QUEUED"))
    clock.now = 1.0
    plain(Progress("bronze", "streaming_table", "RUNNING"))
    plain(Progress("bronze", "streaming_table", "RUNNING", rows_written=5))
    clock.now = 3.5
    plain(Progress("bronze", "streaming_table", "COMPLETED", rows_written=1200, seconds=2.5))
    plain(Progress("gold", "materialized_view", "FAILED", message="[BOOM] it broke\nat length", seconds=0.1))
    plain(Progress("late", "view", "SKIPPED", message="gold has failed."))
    # The update fails with the error of its dataset, and where that is.
    plain(Progress("", "", "FAILED", message="[BOOM] it broke\nat length\n  gold.py:4"))
    plain(TaskProgress("refresh", "FAILED", 4.0))
    assert err.getvalue().splitlines() == [
        "    0.0 s  task refresh RUNNING",
        "    1.0 s  3 datasets QUEUED",
        "    1.0 s  bronze RUNNING",
        "    3.5 s  bronze COMPLETED, 1,200 rows, 2.5 s",
        "    3.5 s  gold FAILED, 0.1 s, [BOOM] it broke",
        "    3.5 s  late SKIPPED, gold has failed.",
        "    3.5 s  task refresh FAILED, 4.0 s",
    ]


def test_a_task_that_waits_for_its_retry_is_shown_with_the_reason() -> None:
    clock, err = Clock(), io.StringIO()
    plain = LineDisplay(ProgressBoard("orders", clock), Streams(io.StringIO(), err))
    plain(TaskProgress("stage", "RUNNING"))
    clock.now = 1.0
    plain(TaskProgress("stage", "WAITING_FOR_RETRY", 1.0, message="attempt 1 failed: no net\nat length"))
    clock.now = 61.0
    plain(TaskProgress("stage", "RUNNING"))
    plain(TaskProgress("stage", "SUCCESS", 2.0))
    assert err.getvalue().splitlines() == [
        "    0.0 s  task stage RUNNING",
        "    1.0 s  task stage WAITING_FOR_RETRY, attempt 1 failed: no net",
        "   61.0 s  task stage RUNNING",
        "   61.0 s  task stage SUCCESS, 2.0 s",
    ]


def test_an_event_without_a_dataset_changes_the_stage() -> None:
    board = ProgressBoard("orders", Clock())
    assert board.take(Progress("", "", "PLANNING", message="reading sources")) is None
    assert board.stage == "reading sources"


def test_the_stage_counts_the_datasets_of_the_task_that_are_done() -> None:
    board = ProgressBoard("orders", Clock())
    board.take(TaskProgress("refresh", "RUNNING"))
    board.take(Progress("a", "view", "QUEUED"))
    board.take(Progress("b", "view", "QUEUED"))
    board.take(Progress("a", "view", "COMPLETED"))
    assert board.stage == "1 of 2 datasets done"


def test_seconds_run_on_until_the_dataset_has_ended() -> None:
    clock = Clock()
    board = ProgressBoard("orders", clock)
    line = board.take(Progress("a", "view", "RUNNING"))
    assert line is not None
    clock.now = 2.0
    assert board.seconds(line) == 2.0
    board.take(Progress("a", "view", "COMPLETED"))
    clock.now = 9.0
    assert board.seconds(line) == 2.0


def living(datasets: int, *, width: int, height: int) -> list[str]:
    clock = Clock()
    board = ProgressBoard("orders · dev", clock)
    for number in range(datasets):
        board.take(Progress(f"dataset_{number}", "streaming_table", "RUNNING", rows_written=number))
        if number < datasets - 2:
            board.take(Progress(f"dataset_{number}", "streaming_table", "COMPLETED", rows_written=number))
    console = Console(file=io.StringIO(), width=width, height=height, highlight=False)
    console.print(LiveDisplay(board))
    return console.file.getvalue().splitlines()  # type: ignore[attr-defined]  # it is the StringIO above


def test_the_living_table_fits_the_terminal_and_shows_what_runs() -> None:
    lines = living(50, width=50, height=12)
    assert len(lines) <= 11
    assert all(len(line.rstrip()) <= 50 for line in lines)
    text = "\n".join(lines)
    assert "dataset_49" in text
    assert "dataset_48" in text
    assert "more are done" in text


def test_a_small_run_is_shown_whole() -> None:
    text = "\n".join(living(4, width=100, height=30))
    assert all(f"dataset_{number}" in text for number in range(4))
    assert "streaming table" in text
