"""Finished updates and job runs, made by hand: rendering takes values."""

from __future__ import annotations

import pytest

from lakeward.jobs import JobRun, TaskResult
from lakeward.pipelines import DatasetResult, ExpectationResult, Update

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
