"""Finished updates and job runs, made by hand: rendering takes values."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from lakeward.jobs import JobRun, TaskResult
from lakeward.pipelines import DatasetResult, ExpectationResult, Update
from lakeward.session import Settings, session
from tests.cli.inside import Inside

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

BRONZE = DatasetResult("bronze", "streaming_table", "COMPLETED", 1234567, None, (), None, 2.34)
HEART_RATE = DatasetResult(
    "heart_rate",
    "streaming_table",
    "COMPLETED",
    1000,
    12,
    (ExpectationResult("positive", 1000, 12), ExpectationResult("recent", 1012, 0)),
    None,
    1.0,
)
GOLD = DatasetResult("workout_bpm_summary", "materialized_view", "COMPLETED", 40, None, (), None, 0.5)
FAILED = DatasetResult(
    "workouts",
    "streaming_table",
    "FAILED",
    None,
    None,
    (),
    "[EXPECTATION_FAILED] valid_user: user_id IS NOT NULL\nrecord: {user_id: NULL, session_id: 7}",
    0.7,
)
SKIPPED = DatasetResult(
    "workout_bpm", "materialized_view", "SKIPPED", None, None, (), "workouts has failed.", 0.0
)

DONE = Update("u-1", "COMPLETED", (BRONZE, HEART_RATE, GOLD), 4.2, None)
BROKEN = Update("u-2", "FAILED", (BRONZE, FAILED, SKIPPED), 3.1, None)
JOB = JobRun(
    "r-1",
    "FAILED",
    (
        TaskResult("land", "SUCCESS", 0.4, None, None),
        TaskResult("refresh", "FAILED", 3.1, "workouts: it failed", BROKEN),
        TaskResult("check", "SKIPPED", 0.0, "It depends on refresh, which did not succeed.", None),
    ),
    3.9,
)


@pytest.fixture
def done() -> Update:
    """An update in which all went well."""
    return DONE


@pytest.fixture
def broken() -> Update:
    """An update with a failed dataset and one that was skipped because of it."""
    return BROKEN


@pytest.fixture
def job() -> JobRun:
    """A job whose second task is the broken update."""
    return JOB


@pytest.fixture
def without_spark(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Inside:
    """Commands that start no session, in an empty folder of their own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LAKEWARD_HOME", raising=False)
    return Inside(tmp_path, capfd, monkeypatch)


@pytest.fixture
def inside(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    spark: SparkSession,
    suite_settings: Settings,
) -> Iterator[Inside]:
    """Commands in an empty folder of their own; the suite's session is where it was afterwards."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LAKEWARD_HOME", raising=False)
    yield Inside(tmp_path, capfd, monkeypatch)
    session(suite_settings)
