"""Operations: a repeated run of the streams and its helpers."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from wearables.jobs.stream import main as stream
from wearables.streams import StreamsBusyError, StreamsControl


@pytest.fixture
def control(tmp_path: Path) -> StreamsControl:
    return StreamsControl(tmp_path / "streams")


def test_a_run_is_ready_after_a_pass_and_a_pause_ends_it_between_passes(control: StreamsControl) -> None:
    within, begun = [], threading.Event()

    def one_pass() -> None:
        within.append(True)
        begun.set()
        within.append(False)

    counted: list[int] = []
    thread = threading.Thread(target=lambda: counted.append(control.run(one_pass, 0.05)), daemon=True)
    thread.start()
    begun.wait()
    control.wait_until_ready(60)
    assert control.is_running() and control.passes() >= 1
    with pytest.raises(StreamsBusyError, match="The streams run already"):
        control.run(one_pass, 1)
    control.pause(60)
    thread.join()
    assert counted and within == [True, False] * counted[0]
    assert control.run(one_pass, 1) == 0, "paused streams do not start"
    control.resume()
    stop = threading.Event()
    assert control.run(stop.set, 1, stop) == 1
    assert [path.name for path in control.checkpoints.parent.iterdir()] == []


def test_a_pass_that_fails_ends_the_run_and_the_next_one_starts(control: StreamsControl) -> None:
    def fail() -> None:
        raise ValueError("not today")

    with pytest.raises(ValueError, match="not today"):
        control.run(fail, 1)
    assert not control.is_running()


def test_a_run_that_does_not_end_in_time_is_reported_and_stays_paused(control: StreamsControl) -> None:
    control.running.touch()
    for wait, what in (
        (control.pause, "have not stopped"),
        (control.wait_until_ready, "have not completed a pass"),
    ):
        with pytest.raises(StreamsBusyError, match=f"{what} within 0 seconds.*delete .*streams.running"):
            wait(0)
    assert control.pause_file.exists()
    os.utime(control.running, (1, 1))
    control.pause(0)
    control.resume()
    control.running.touch()
    control.running.unlink()
    stop = threading.Event()
    assert control.run(stop.set, 1, stop) == 1, "as the message advises"


def test_the_entry_point_pauses_resumes_and_waits(
    control: StreamsControl, capsys: pytest.CaptureFixture[str]
) -> None:
    place = ["--catalog", "main", "--schema", "s", "--checkpoints", str(control.checkpoints)]
    stream([*place, "--pause", "1"])
    assert control.pause_file.exists()
    stream([*place, "--resume"])
    assert not control.pause_file.exists()
    with pytest.raises(StreamsBusyError):
        stream([*place, "--ready", "0"])
    assert capsys.readouterr().out.splitlines() == ["the streams are paused", "the streams may run again"]
