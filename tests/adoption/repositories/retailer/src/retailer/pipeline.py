"""A pipeline source; its functions are unit-tested as functions."""

import dlt
from pyspark.sql import SparkSession
from pyspark.sql import functions as F


@dlt.table(name="cheap_orders", comment="below three")
@dlt.expect_or_drop("priced", "price IS NOT NULL")
def cheap_orders():
    spark = SparkSession.getActiveSession()
    return spark.table("orders_raw").where(F.col("price") < 3)
