"""`lakeward events`: an update that ended, and with `--follow` one that runs in another process; no JVM."""

from __future__ import annotations

import json
import threading
from pathlib import Path

from lakeward.pipelines.events.event_log import EventFileWriter
from tests.cli.test_usage import broken, lakeward
from tests.report.events import Events


def event(state: str) -> dict[str, object]:
    return {
        "timestamp": "2026-01-31T10:00:00+00:00",
        "level": "INFO",
        "event_type": "update_progress",
        "message": f"Update 1 is {state}.",
        "details": {"update_progress": {"state": state}},
    }


def test_events_appear_while_the_update_runs_and_end_with_it(tmp_path: Path) -> None:
    live = EventFileWriter(tmp_path / ".lakeward" / "local" / "pipelines" / "demo")
    live.write(event("RUNNING"))
    end = threading.Timer(1.0, live.write, [event("COMPLETED")])
    end.start()
    ran = lakeward("events", "demo", "--follow", cwd=tmp_path)
    end.join()
    assert ran.returncode == 0, ran.stderr
    assert [line.split("  ")[-1].strip() for line in ran.stdout.splitlines()] == [
        "Update 1 is RUNNING.",
        "Update 1 is COMPLETED.",
    ]
    ran = lakeward("events", "demo", "--follow", "--json", cwd=tmp_path)
    assert [json.loads(line) for line in ran.stdout.splitlines()] == [event("RUNNING"), event("COMPLETED")]


def test_a_pipeline_that_never_ran_has_nothing_to_follow(tmp_path: Path) -> None:
    ran = lakeward("events", "demo", "--follow", cwd=tmp_path)
    assert ran.returncode == 2 and "NO_EVENTS" in ran.stderr


def test_the_newest_update_is_shown_without_spark_and_a_damaged_file_is_named(tmp_path: Path) -> None:
    storage = tmp_path / ".lakeward" / "local" / "pipelines" / "demo"
    Events("first").refresh("a", 1).end().store(storage)
    Events("second", day=1).refresh("a", 2).end("FAILED").store(storage)
    (storage / "event_log" / "part-00009.parquet").write_bytes(b"PAR1")
    no_spark = str(broken(tmp_path))
    ran = lakeward("events", "demo", "--json", cwd=tmp_path, PYTHONPATH=no_spark)
    assert ran.returncode == 0, ran.stderr
    assert "part-00009.parquet" in ran.stderr and "Traceback" not in ran.stderr
    events = json.loads(ran.stdout)
    assert {each["origin"]["update_id"] for each in events} == {"second"}
    assert events[-1]["details"] == {"update_progress": {"state": "FAILED"}}
    assert events[0]["timestamp"] == "2026-05-02T06:00:00+00:00"
    ran = lakeward("events", "demo", cwd=tmp_path, PYTHONPATH=no_spark)
    assert ran.stdout.splitlines()[0].startswith("2026-05-02 06:00:00  INFO")
