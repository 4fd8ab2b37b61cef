"""Which user wears which device."""

from pyspark import pipelines as dp
from pyspark.sql import DataFrame, SparkSession

from wearables import rules
from wearables.transforms import registrations_once

spark = SparkSession.active()


@dp.materialized_view(comment="Registrations of devices, each once")
@dp.expect_all_or_drop(rules.REGISTRATION)
def registered_users() -> DataFrame:
    """Valid registrations; what is dropped here is in `quarantine`."""
    return registrations_once(spark.read.table("registrations"))
