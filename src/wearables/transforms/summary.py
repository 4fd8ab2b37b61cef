"""Gold: a workout in one line."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

__all__ = ["summary"]


def summary(recordings: DataFrame) -> DataFrame:
    """Make one row per (user_id, session_id) with lowest, mean and highest heart rate and their number.

    Sessions without heart rates have no row.
    """
    return recordings.groupBy("user_id", "workout_id", "session_id").agg(
        F.min("heartrate").alias("min_bpm"),
        F.avg("heartrate").alias("avg_bpm"),
        F.max("heartrate").alias("max_bpm"),
        F.count(F.lit(1)).alias("num_recordings"),
    )
