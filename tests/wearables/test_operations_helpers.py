"""Operations: a continuous run and its helpers, and alerts on data that wait."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from wearables.jobs.stream import main as stream
from wearables.jobs.watch import LagError, lags
from wearables.jobs.watch import main as watch
from wearables.streams import StreamsBusyError, StreamsControl

SCHEMA = "main.watched"


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


def test_files_that_wait_and_streams_that_are_behind_are_named_with_their_hours(
    spark: SparkSession, tmp_path: Path
) -> None:
    spark.sql(f"DROP SCHEMA IF EXISTS {SCHEMA} CASCADE")
    spark.sql(f"CREATE SCHEMA {SCHEMA}")
    now = 1_700_000_000.0
    for name, hours in (
        ("daily/read.json", 9),
        ("daily/old.json", 5),
        ("daily/new.json", 1),
        ("daily/empty.json", 9),
    ):
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text("" if "empty" in name else "{}\n" * 9)
        os.utime(file, (now - hours * 3600,) * 2)
    (tmp_path / "daily" / ".old.json.unfinished").write_text("{}\n" * 9)

    def found() -> list[str]:
        return list(lags(spark, SCHEMA, tmp_path, 2 * 3600, now))

    assert found() == ["2 files of daily wait, read.json for 9.0 hours: see the pipeline"], "no table yet"
    spark.sql(f"CREATE TABLE {SCHEMA}.arrived AS SELECT 'read.json' AS source_file")
    bronze = spark.readStream.table(f"{SCHEMA}.arrived").writeStream.trigger(availableNow=True)
    bronze.option("checkpointLocation", str(tmp_path / "c")).toTable(f"{SCHEMA}.bronze").awaitTermination()
    assert found() == ["1 files of daily wait, old.json for 5.0 hours: see the pipeline"]

    spark.sql(
        f"CREATE TABLE {SCHEMA}.stream_progress AS SELECT 'a' AS query, now() - INTERVAL 3 HOURS AS finished"
    )
    spark.sql(
        f"INSERT INTO {SCHEMA}.stream_progress VALUES ('b', now() - INTERVAL 1 HOUR), "
        "('b', TIMESTAMP '2020-01-01')"
    )
    assert found()[1:] == ["the stream a is 3.0 hours behind bronze: see the job streams"]
    with pytest.raises(LagError, match=r"2 files of daily wait.*the stream a is"):
        watch(["--catalog", "main", "--schema", "watched", "--landing", str(tmp_path), "--hours", "2"])
