"""Lookup tables that are computed from the code alone."""

from pyspark import pipelines as dp
from pyspark.sql import DataFrame, SparkSession

from wearables.transforms import dates, quality_rules

spark = SparkSession.active()


@dp.materialized_view(
    comment="Days from 2010 to 2039 with ISO week, first day of the week and day of the week"
)
def date_lookup() -> DataFrame:
    """One row per day."""
    return dates(spark)


@dp.materialized_view(
    name="quality_rules", comment="The rules of quarantine: feed, topic, name, condition, tag"
)
def published_rules() -> DataFrame:
    """The declarations of `wearables.rules`, for joins and reports."""
    return quality_rules(spark)
