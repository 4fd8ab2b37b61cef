"""Starts and stops of workouts, validated and unique."""

from pyspark import pipelines as dp
from pyspark.sql import DataFrame, SparkSession

from wearables import rules
from wearables.transforms import workout_events, workout_events_once

spark = SparkSession.active()


@dp.materialized_view(comment="Each start and stop once; `repeats` counts the further records of it")
@dp.expect_all_or_drop(rules.WORKOUT)
def workouts() -> DataFrame:
    """Valid workout events; what is dropped here is in `quarantine`."""
    return workout_events_once(workout_events(spark.read.table("bronze")))
