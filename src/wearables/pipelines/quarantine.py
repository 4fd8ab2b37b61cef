"""What is not in silver, and why."""

from pyspark import pipelines as dp
from pyspark.sql import DataFrame, SparkSession

from wearables import privacy
from wearables.feeds import FEEDS
from wearables.transforms import quarantined

spark = SparkSession.active()


@dp.materialized_view(
    comment="Invalid records and lines with the names of the rules that they fail",
    table_properties=privacy.properties(spark, "quarantine"),
)
def quarantine() -> DataFrame:
    """Every record that is neither in silver nor a repeat."""
    return quarantined(spark.read.table("bronze"), {feed.name: spark.read.table(feed.name) for feed in FEEDS})
