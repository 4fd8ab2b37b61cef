"""What is not in silver, and why."""

from pyspark import pipelines as dp
from pyspark.sql import DataFrame, SparkSession

from wearables.transforms import quarantined

spark = SparkSession.active()


@dp.materialized_view(comment="Invalid records and registrations with the names of the rules that they fail")
def quarantine() -> DataFrame:
    """Every record that is neither in silver nor a repeat."""
    return quarantined(spark.read.table("bronze"), spark.read.table("registrations"))
