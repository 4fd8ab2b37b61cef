"""Gold: a workout in one line."""

from pyspark import pipelines as dp
from pyspark.sql import DataFrame, SparkSession

from wearables import privacy
from wearables.transforms import summary

spark = SparkSession.active()


@dp.materialized_view(
    comment="Lowest, mean and highest heart rate of each finished workout",
    table_properties=privacy.properties(spark, "workout_bpm_summary"),
)
def workout_bpm_summary() -> DataFrame:
    """One row per user and session that has heart rates."""
    return summary(spark.read.table("workout_bpm"))
