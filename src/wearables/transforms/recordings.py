"""Heart rates of workouts."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

__all__ = ["recordings"]


def recordings(heart_rates: DataFrame, sessions: DataFrame, registrations: DataFrame) -> DataFrame:
    """Join the heart rates of a user's devices to the user's finished sessions: start_time ≤ time ≤ end_time.

    A heart rate inside two sessions that overlap belongs to both.
    """
    # A device that was registered twice by one user must not count twice.
    wearers = registrations.select("user_id", "device_id").distinct()
    finished = sessions.filter(~F.col("in_progress") & (F.col("start_time") <= F.col("end_time")))
    # An equality on the day keeps the join from pairing all heart rates of a device with all of its sessions.
    days = F.explode(F.sequence(_day("start_time"), _day("end_time")))
    spans = finished.join(wearers, "user_id").withColumn("day", days)
    return (
        heart_rates.withColumn("day", _day("time"))
        .join(spans, ["device_id", "day"])
        .filter(F.col("time").between(F.col("start_time"), F.col("end_time")))
        .select("user_id", "workout_id", "session_id", "device_id", "time", "heartrate")
    )


def _day(time: str) -> Column:
    return F.expr(f"unix_seconds({time}) div 86400")
