"""Workout sessions, finished or in progress."""

from pyspark import pipelines as dp
from pyspark.sql import DataFrame, SparkSession

from wearables import privacy
from wearables.transforms import sessions

spark = SparkSession.active()


@dp.materialized_view(
    comment="One row per user and session that has a start",
    table_properties=privacy.properties(spark, "completed_workouts"),
)
@dp.expect("ends_after_start", "in_progress OR start_time <= end_time")
def completed_workouts() -> DataFrame:
    """Earliest start and latest stop of each session."""
    return sessions(spark.read.table("workouts"))
