"""Every record of every topic, as it was delivered."""

from pyspark import pipelines as dp
from pyspark.sql import DataFrame, SparkSession

from wearables import layout, privacy
from wearables.landing import landed, without_erased
from wearables.transforms import RECORD_SCHEMA, kafka_records

spark = SparkSession.active()


@dp.table(
    comment="Kafka records of all topics, repeats included, with day of sending and source file",
    partition_cols=["topic", "week_part"],
    # The files may be gone one day: this is the only history.
    table_properties={
        "pipelines.reset.allowed": "false",
        **privacy.properties(spark, "bronze"),
        **layout.MARKED,
    },
)
def bronze() -> DataFrame:
    """Append what has landed since the last update."""
    folder = f"{spark.conf.get('wearables.landing')}/daily"
    return without_erased(spark, kafka_records(landed(spark, folder, RECORD_SCHEMA)))
