"""`lakeward events --follow`: the update that runs in another process, without a JVM."""

from __future__ import annotations

import json
import threading
from pathlib import Path

from lakeward.pipelines.events.event_log import EventFileWriter
from tests.cli.test_usage import lakeward


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
