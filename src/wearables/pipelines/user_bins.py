"""Users without their names: what analysts may group by."""

from pyspark import pipelines as dp
from pyspark.sql import DataFrame, SparkSession

from wearables import privacy
from wearables.transforms import age_bands

spark = SparkSession.active()


@dp.materialized_view(
    comment="Pseudonym, age band, gender and state of each user",
    table_properties=privacy.properties(spark, "user_bins"),
)
def user_bins() -> DataFrame:
    """Ages are those on the newest day of bronze."""
    users, keys, bronze = (spark.read.table(name) for name in ("users", "user_keys", "bronze"))
    return age_bands(users, keys, bronze)
