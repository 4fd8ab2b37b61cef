"""The bridge between people and pseudonyms: the only table that has both."""

from databricks.sdk.runtime import dbutils
from pyspark import pipelines as dp
from pyspark.sql import DataFrame, SparkSession

from wearables import privacy
from wearables.transforms import pseudonyms

spark = SparkSession.active()


@dp.materialized_view(
    comment="The pseudonym of each user; what analysts see is computed through it",
    table_properties=privacy.properties(spark, "user_keys"),
)
def user_keys() -> DataFrame:
    """Pseudonyms by the key that the configuration names; another key gives all tables other pseudonyms."""
    name, scope = (str(spark.conf.get(f"wearables.{each}")) for each in ("pseudonym_key", "scope"))
    key = dbutils.secrets.get(scope=scope, key=name)
    known = spark.read.table("users").select("user_id")
    registered = spark.read.table("registered_users").select("user_id")
    return pseudonyms(known.unionByName(registered), key=key, key_name=name)
