"""Gold without names: training by person and week, and by groups."""

from pyspark import pipelines as dp
from pyspark.sql import DataFrame, SparkSession

from wearables import privacy, transforms

spark = SparkSession.active()


@dp.materialized_view(
    comment="Training load of each pseudonym in each ISO week",
    table_properties=privacy.properties(spark, "training_load"),
)
def training_load() -> DataFrame:
    """Seconds with heart rates in workouts, and Edwards' points for them."""
    names = ("workout_bpm", "user_keys", "date_lookup")
    return transforms.training_load(*(spark.read.table(name) for name in names))


@dp.materialized_view(
    comment="Training load of each week and age band, without small groups",
    table_properties=privacy.properties(spark, "fitness_by_group"),
)
def fitness_by_group() -> DataFrame:
    """k-anonymous: a row is about at least `SMALLEST_GROUP` people."""
    return transforms.fitness_by_group(spark.read.table("training_load"), spark.read.table("user_bins"))
