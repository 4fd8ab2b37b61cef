"""The report at the end of a run: named whatever the outcome, and never a reason to fail."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lakeward.bundle import load
from lakeward.cli import execution, pipeline_reports
from lakeward.cli.run import display_of
from lakeward.jobs import JobRun, TaskResult
from lakeward.pipelines import Update
from lakeward.session import Settings
from tests.trees import write_files

EVENT = {
    "id": "1", "timestamp": "2026-01-01T00:00:00+00:00", "event_type": "update_progress", "level": "ERROR",
    "origin": {"update_id": "u"}, "details": {"update_progress": {"state": "FAILED"}}, "message": "<script>",
}  # fmt: skip


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    settings = Settings.here(tmp_path, environ={})
    folder = settings.pipelines / "orders"
    folder.mkdir(parents=True)
    (folder / "events.jsonl").write_text(json.dumps(EVENT))
    return settings


def run(settings: Settings, name: str | None, *, state: Any = "COMPLETED", as_json: bool = False) -> int:
    result = Update("u", state, (), 1.0, None)
    display = execution.RunDisplay(
        title="orders",
        settings=settings,
        as_json=as_json,
        next_commands=lambda _: [],
        reported=lambda _: name,
    )
    return execution.execute(lambda _: result, display)


@pytest.mark.parametrize(("state", "code"), [("COMPLETED", 0), ("FAILED", 1), ("CANCELED", 130)])
def test_a_run_ends_with_the_path_of_its_report(
    state: str, code: int, settings: Settings, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run(settings, "orders", state=state) == code
    path = settings.state / "reports" / "orders.html"
    assert capfd.readouterr().out.splitlines()[-1] == f"report    {path}"
    assert "FAILED" in path.read_text()
    assert "<script>" not in path.read_text().partition('"events"')[2].partition("</script>")[0]


@pytest.mark.parametrize("name", [None, "never ran"])
def test_without_events_no_report_is_named(
    name: str | None, settings: Settings, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run(settings, name) == 0
    assert "report" not in capfd.readouterr().out
    assert not (settings.state / "reports").exists()


def test_a_report_that_cannot_be_written_is_a_warning(
    settings: Settings, capfd: pytest.CaptureFixture[str]
) -> None:
    (settings.state / "reports").write_text("a file")
    assert run(settings, "orders") == 0
    out, err = capfd.readouterr()
    assert "report    " not in out
    assert err.splitlines()[-1] == "warning: the report of the run was not written: File exists"


def test_a_fault_of_the_report_does_not_fail_the_run(
    settings: Settings, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise KeyError("dataset")

    monkeypatch.setattr(pipeline_reports, "write_report", broken)
    assert run(settings, "orders") == 0
    assert "warning: the report of the run was not written: KeyError" in capfd.readouterr().err


def test_with_json_stdout_is_the_object_alone(settings: Settings, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(settings, "orders", as_json=True) == 0
    assert json.loads(capfd.readouterr().out) == Update("u", "COMPLETED", (), 1.0, None).as_json()


TWO_PIPELINES = """
bundle: {name: lake}
targets: {dev: {default: true}}
resources:
  pipelines:
    bronze: {libraries: [{file: {path: b.sql}}]}
    gold: {libraries: [{file: {path: g.sql}}]}
  jobs:
    daily:
      tasks:
        - {task_key: load, pipeline_task: {pipeline_id: "${resources.pipelines.bronze.id}"}}
        - {task_key: check, notebook_task: {notebook_path: n.py}}
        - {task_key: refine, pipeline_task: {pipeline_id: "${resources.pipelines.gold.id}"}}
"""


@pytest.mark.parametrize(
    ("states", "pipeline"),
    [
        ("SUCCESS SUCCESS SUCCESS", "gold"),
        ("SUCCESS SUCCESS FAILED", "gold"),
        ("SUCCESS FAILED SKIPPED", "bronze"),
        ("SUCCESS EXCLUDED EXCLUDED", "bronze"),
        ("EXCLUDED SUCCESS EXCLUDED", None),
    ],
)
def test_a_job_reports_the_last_pipeline_that_it_has_updated(
    states: str, pipeline: str | None, tmp_path: Path
) -> None:
    write_files(tmp_path, {"databricks.yml": TWO_PIPELINES})
    bundle = load(tmp_path, user="ann", environ={})
    settings = Settings.here(tmp_path, environ={})
    keys = ("load", "check", "refine")
    tasks = tuple(TaskResult(key, state) for key, state in zip(keys, states.split(), strict=True))  # type: ignore[arg-type]
    run = JobRun("1", "COMPLETED", tasks, 1.0)
    display = display_of(bundle, "daily", settings, target=None, is_run=True, as_json=False, watch=False)
    assert display.reported(run) == pipeline
    assert [f"lakeward report {pipeline}"] * bool(pipeline) == display.next_commands(run)[:1]
