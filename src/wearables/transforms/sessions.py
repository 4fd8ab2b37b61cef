"""Workout sessions, put together from their starts and stops."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

__all__ = ["sessions"]


def sessions(workouts: DataFrame) -> DataFrame:
    """Make one row per (user_id, session_id) that has a start.

    A session may pause and go on: `start_time` is its earliest start, `end_time` its latest stop; without a
    stop it is `in_progress`. Its `workout_id` is that of the earliest start.
    """
    starts, stops = (F.when(F.col("action") == action, F.col("time")) for action in ("start", "stop"))
    first = F.when(F.col("action") == "start", F.struct("time", "workout_id"))
    return (
        workouts.groupBy("user_id", "session_id")
        .agg(
            F.min(first).getField("workout_id").alias("workout_id"),
            F.min(starts).alias("start_time"),
            F.max(stops).alias("end_time"),
        )
        .filter(F.col("start_time").isNotNull())
        .select(
            *("user_id", "workout_id", "session_id", "start_time", "end_time"),
            F.col("end_time").isNull().alias("in_progress"),
        )
    )
