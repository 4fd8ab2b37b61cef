"""`--json`: the object that other programs read."""

from __future__ import annotations

import json
import os
from typing import Any

import pytest

from lakeward.cli.execution import RunDisplay, execute, exit_code
from lakeward.jobs import JobRun
from lakeward.pipelines import Update
from lakeward.session import Settings

DATASET = {"name", "kind", "state", "rows_written", "dropped", "expectations", "error"}
TASK = {"task_key", "state", "seconds", "error"}


def emitted(result: Any, capfd: pytest.CaptureFixture[str]) -> tuple[int, dict[str, Any], str]:
    """Run something that writes to both descriptors, as the JVM does, and gives `result`."""

    def work(_on_event: Any) -> Any:
        os.write(1, b"to stdout\n")
        os.write(2, b"to stderr\n")
        return result

    settings = Settings.here(environ={})
    display = RunDisplay(title="orders", settings=settings, as_json=True, next_commands=lambda _: [])
    code = execute(work, display)
    out, err = capfd.readouterr()
    return code, json.loads(out), err


def test_stdout_is_exactly_one_object_and_everything_else_is_on_stderr(
    done: Update,
    capfd: pytest.CaptureFixture[str],
) -> None:
    code, document, err = emitted(done, capfd)
    assert code == 0
    assert document["state"] == "COMPLETED"
    assert "to stdout" in err
    assert "to stderr" in err


def test_an_update_has_the_fields_of_the_contract(broken: Update, capfd: pytest.CaptureFixture[str]) -> None:
    code, document, _ = emitted(broken, capfd)
    assert code == 1
    assert set(document) - {"error"} == {"state", "update_id", "datasets", "tasks", "seconds"}
    assert all(set(dataset) == DATASET for dataset in document["datasets"])
    by_name = {dataset["name"]: dataset for dataset in document["datasets"]}
    assert by_name["workout_bpm"]["state"] == "SKIPPED"
    assert by_name["workouts"]["rows_written"] is None


def test_a_job_run_has_tasks_and_the_datasets_of_its_pipelines(
    job: JobRun, capfd: pytest.CaptureFixture[str]
) -> None:
    code, document, _ = emitted(job, capfd)
    assert code == 1
    assert set(document) == {"state", "run_id", "datasets", "tasks", "seconds"}
    assert all(set(task) == TASK for task in document["tasks"])
    assert [dataset["name"] for dataset in document["datasets"]] == ["bronze", "workouts", "workout_bpm"]


def test_expectations_are_counted_by_name(done: Update, capfd: pytest.CaptureFixture[str]) -> None:
    _, document, _ = emitted(done, capfd)
    assert document["datasets"][1]["expectations"] == [
        {"name": "positive", "passed": 1000, "failed": 12},
        {"name": "recent", "passed": 1012, "failed": 0},
    ]


@pytest.mark.parametrize(("state", "code"), [("COMPLETED", 0), ("FAILED", 1), ("CANCELED", 130)])
def test_the_exit_code_says_how_it_ended(state: str, code: int) -> None:
    assert exit_code(state) == code
