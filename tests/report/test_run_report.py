"""The report of a job run: graph, times, attempts, logs, and what it makes of old and damaged records."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from datetime import datetime, timedelta, timezone
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from click.testing import CliRunner

from lakeward.bundle import Bundle
from lakeward.cli.report import report as report_command
from lakeward.jobs import JobRun, TaskResult
from lakeward.jobs.definition import Task
from lakeward.jobs.run_history import PreviousRun, save_run
from lakeward.jobs.run_records import task_records
from lakeward.jobs.task_graph import AttemptResult, TaskGraphState
from lakeward.report import build_run_report, write_page
from tests.report.events import Events
from tests.workspace.test_page import BROWSERS

START = datetime(2026, 5, 1, 6, tzinfo=timezone.utc)
EVIL = "<script>document.title='broken'</script> & \"quotes\" 🚲"
TASKS = (
    Task("land", "spark_python_task", {}),
    Task("refresh", "pipeline_task", {"pipeline_id": "p-1"}, ("land",), retries=2),
    Task("check", "python_wheel_task", {}, ("refresh", "land")),
)
BUNDLE = cast("Bundle", SimpleNamespace(key_of=lambda kind, key: {"p-1": "orders"}[key]))


def store(
    jobs: Path,
    run: str,
    *,
    number: int = 0,
    seconds: float = 10.0,
    error: str | None = None,
    job: str = "daily",
) -> Path:
    """Store a run of three tasks, as the runner does."""
    state = (
        TaskGraphState.of(TASKS, began=100.0)
        .with_started("land", 100.5)
        .with_ended("land", AttemptResult("SUCCESS"), 102.0)
    )
    state = state.with_started("refresh", 102.0).with_ended("refresh", AttemptResult("FAILED", "once"), 103.0)
    state = state.with_started("refresh", 103.0).with_ended("refresh", AttemptResult("SUCCESS"), 105.0)
    end = AttemptResult("FAILED", error) if error else AttemptResult("SUCCESS")
    state = state.with_started("check", 105.0).with_ended("check", end, 100.0 + seconds)
    results = tuple(
        TaskResult(key, cast("Any", each.end).state, each.seconds, cast("Any", each.end).error)
        for key, each in state.states.items()
    )
    outcome: Any = "FAILED" if error else "COMPLETED"
    save_run(
        jobs,
        job,
        JobRun(run, outcome, results, seconds),
        PreviousRun(run, {"days": "7"}, {}),
        started=START + timedelta(days=number),
        records=task_records(state, BUNDLE),
    )
    folder = jobs / job / "runs" / run
    os.utime(folder / "run.json", (number, number))
    return folder


def log(folder: Path, name: str, text: str) -> None:
    (folder / "logs").mkdir(exist_ok=True)
    (folder / "logs" / name).write_text(text)


def built(folder: Path, links: Mapping[str, str] = {}) -> dict[str, Any]:
    document = build_run_report("daily", folder, links=links)
    assert document is not None
    return document


def test_tasks_have_their_graph_attempts_and_times(tmp_path: Path) -> None:
    document = built(store(tmp_path, "1", error="[BAD] no"), {"orders": "../orders.html"})
    assert (document["run"], document["state"], document["started"]) == (
        "1",
        "FAILED",
        "2026-05-01T06:00:00.000+00:00",
    )
    assert document["parameters"] == {"days": "7"}
    land, refresh, check = document["tasks"]
    assert (land["kind"], land["depends_on"], land["attempts"], land["began"]) == (
        "spark_python_task",
        [],
        1,
        0.5,
    )
    assert (refresh["attempts"], refresh["seconds"], refresh["began"]) == (2, 3.0, 3.0)
    assert (refresh["pipeline"], refresh["link"]) == ("orders", "../orders.html")
    assert (check["state"], check["error"], check["depends_on"]) == (
        "FAILED",
        "[BAD] no",
        ["refresh", "land"],
    )


def test_the_run_before_is_the_newest_completed_one(tmp_path: Path) -> None:
    store(tmp_path, "a", number=1, seconds=20.0)
    store(tmp_path, "b", number=2, error="no")
    folder = store(tmp_path, "c", number=3)
    store(tmp_path, "d", number=4)
    document = built(folder)
    assert [each["run"] for each in document["runs"]] == ["d", "c", "b", "a"]
    assert [each["failed"] for each in document["runs"]] == [0, 0, 1, 0]
    assert document["before"]["tasks"][2]["seconds"] == 15.0
    assert built(tmp_path / "daily" / "runs" / "a")["before"] is None


def test_the_log_of_the_last_attempt_is_shown_from_its_end(tmp_path: Path) -> None:
    folder = store(tmp_path, "1")
    log(folder, "land.log", "short")
    log(folder, "refresh.log", "first attempt")
    log(folder, "refresh.2.log", "x" * 50_000 + "the end")
    land, refresh, check = built(folder)["tasks"]
    assert (land["log"], land["log_omitted"]) == ("short", 0)
    assert refresh["log"].endswith("the end")
    assert refresh["log_omitted"] + len(refresh["log"]) == 50_007
    assert "log" not in check


def test_a_run_of_an_older_version_has_tasks_and_a_note(tmp_path: Path) -> None:
    folder = store(tmp_path, "1")
    content = json.loads((folder / "run.json").read_text())
    for name in ("records", "started"):
        del content[name]
    (folder / "run.json").write_text(json.dumps(content))
    document = built(folder)
    assert [task["task_key"] for task in document["tasks"]] == ["land", "refresh", "check"]
    assert "older version" in document["notes"][0]


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"tasks": 1}', '{"tasks": [1]}'])
def test_a_damaged_run_has_no_report_and_is_left_out_of_others(tmp_path: Path, damage: str) -> None:
    damaged, good = store(tmp_path, "1"), store(tmp_path, "2", number=1)
    (damaged / "run.json").write_text(damage)
    assert build_run_report("daily", damaged) is None
    assert [each["run"] for each in built(good)["runs"]] == ["2"]


@pytest.mark.parametrize("place", ["run", "task", "record"])
@pytest.mark.parametrize(
    "value", [5, 1e300, True, "x" * 5000, [5], [[]], {"a": 1}, None], ids=lambda value: repr(value)[:9]
)
def test_no_value_of_a_record_prevents_the_report(tmp_path: Path, place: str, value: Any) -> None:
    damaged, sound = store(tmp_path, "1"), store(tmp_path, "2", number=1)
    content = json.loads((damaged / "run.json").read_text())
    part = {"run": content, "task": content["tasks"][0], "record": content["records"][0]}[place]
    for name in set(part) - {"tasks"}:
        before, part[name] = part[name], value
        (damaged / "run.json").write_text(json.dumps(content))
        part[name] = before
        write_page(built(damaged), tmp_path / "run.html", "run")
        assert built(sound)["state"] == "COMPLETED", name


def test_a_record_of_many_levels_has_no_report(tmp_path: Path) -> None:
    damaged, sound = store(tmp_path, "1"), store(tmp_path, "2", number=1)
    (damaged / "run.json").write_text('{"tasks": [], "records": ' + "[" * 100_000 + "]" * 100_000 + "}")
    assert build_run_report("daily", damaged) is None
    assert built(sound)["state"] == "COMPLETED"


def test_a_page_with_long_logs_is_smaller_than_a_megabyte(tmp_path: Path) -> None:
    folder = store(tmp_path, "1")
    content = json.loads((folder / "run.json").read_text())
    content["tasks"] = [{**content["tasks"][0], "task_key": f"t{number}"} for number in range(200)]
    (folder / "run.json").write_text(json.dumps(content))
    for number in range(200):
        log(folder, f"t{number}.log", "<" * 100_000)
    path = tmp_path / "page.html"
    write_page(built(folder), path, "run")
    assert path.stat().st_size < 1_000_000
    assert path.read_text().count("<script") == 2


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LAKEWARD_HOME", raising=False)
    return tmp_path / ".lakeward" / "local"


def written(*arguments: str) -> list[str]:
    result = CliRunner().invoke(report_command, arguments, standalone_mode=False)
    assert result.exception is None, result.exception
    return [Path(line).name for line in result.output.splitlines()]


def test_the_command_takes_a_job_a_run_or_nothing(state: Path) -> None:
    store(state / "jobs", "17", number=1)
    store(state / "jobs", "18", number=2)
    store(state / "jobs", "5", job="nightly")
    Events("u").refresh("t", 1).end().store(state / "pipelines" / "orders")
    assert written("daily") == ["daily.18.html"]
    assert written("17") == ["daily.17.html"]
    assert written() == ["orders.html", "daily.18.html", "nightly.5.html"]
    assert written("17", "-o", "x.html") == ["x.html"]
    page = (state / "reports" / "runs" / "daily.18.html").read_text()
    assert '"link":"../orders.html"' in page


@pytest.mark.process
def test_a_browser_shows_a_run_and_executes_none_of_its_texts(tmp_path: Path) -> None:
    import shutil

    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        pytest.skip("no browser is on PATH")
    folder = store(tmp_path, "1", error=EVIL)
    log(folder, "check.log", EVIL)
    document = built(folder, {"orders": "../orders.html"})
    document["job"] = document["tasks"][0]["task_key"] = EVIL
    document["tasks"][1]["depends_on"] = [EVIL]
    path = tmp_path / "page.html"
    write_page(document, path, "run")
    command = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom", path.as_uri()]
    shown = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout
    assert shown.count('role="button"') == 3
    assert "python wheel" in shown and "2 attempts" in shown
    assert "&lt;script&gt;document.title=" in shown and "<title>broken</title>" not in shown
