"""How hard people trained: by person and week, and by groups that are large enough."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

__all__ = ["SMALLEST_GROUP", "fitness_by_group", "training_load"]

SMALLEST_GROUP = 5
"""Groups of fewer people are not published."""

# Edwards' zones: a second counts 1 to 5 points by its heart rate.
_ZONES = ((100, 1), (120, 2), (140, 3), (160, 4))


def training_load(recordings: DataFrame, keys: DataFrame, dates: DataFrame) -> DataFrame:
    """Make one row per pseudonym and ISO week (UTC): recorded seconds, points, highest heart rate.

    A heart rate inside two sessions counts once. All sums are of whole numbers, so that neither the order of
    rows nor an incremental refresh changes a result.
    """
    points = F.when(F.lit(False), 0)
    for limit, number in _ZONES:
        points = points.when(F.col("heartrate") < limit, number)
    measured = recordings.select("user_id", "device_id", "time", "heartrate").distinct()
    return (
        measured.withColumn("date", F.expr("date_from_unix_date(CAST(unix_seconds(time) div 86400 AS INT))"))
        .withColumn("points", points.otherwise(5))
        .join(F.broadcast(dates.select("date", "week_part")), "date")
        .join(keys.select("user_id", "pseudonym"), "user_id")
        .groupBy("pseudonym", "week_part")
        .agg(
            F.count(F.lit(1)).alias("seconds"),
            F.sum("points").alias("points"),
            F.max("heartrate").alias("max_bpm"),
        )
    )


def fitness_by_group(loads: DataFrame, bins: DataFrame) -> DataFrame:
    """Make one row per ISO week and age band with at least `SMALLEST_GROUP` people.

    One grouping only, without totals: the difference of a total and its groups would be a group that was
    suppressed.
    """
    return (
        loads.join(bins, "pseudonym")
        .groupBy("week_part", "age_band")
        .agg(
            F.countDistinct("pseudonym").alias("people"),
            F.sum("seconds").alias("seconds"),
            F.sum("points").alias("points"),
        )
        .filter(F.col("people") >= SMALLEST_GROUP)
    )
