"""Heart rates during workouts."""

from pyspark import pipelines as dp
from pyspark.sql import DataFrame, SparkSession

from wearables import layout, privacy
from wearables.transforms import recordings

spark = SparkSession.active()


# Not a streaming table: a stream joined to sessions would miss each heart rate that arrives before its
# workout is complete.
@dp.materialized_view(
    comment="Heart rates of finished workouts; one inside two sessions belongs to both",
    cluster_by=layout.CLUSTER_BY,
    table_properties={**privacy.properties(spark, "workout_bpm"), **layout.FILE_SIZE},
)
def workout_bpm() -> DataFrame:
    """Heart rates of the user's devices between start and end of the user's sessions."""
    heart_rates, sessions, registrations = (
        spark.read.table(name) for name in ("heart_rate", "completed_workouts", "registered_users")
    )
    return recordings(heart_rates, sessions, registrations)
