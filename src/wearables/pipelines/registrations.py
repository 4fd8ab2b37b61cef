"""Every line of the registration files, as it was delivered."""

from pyspark import pipelines as dp
from pyspark.sql import DataFrame, SparkSession

from wearables.landing import landed
from wearables.transforms import REGISTRATION_SCHEMA, registration_lines

spark = SparkSession.active()


@dp.table(
    comment="Lines of the registration files, repeats included",
    table_properties={"pipelines.reset.allowed": "false"},
)
def registrations() -> DataFrame:
    """Append what has landed since the last update."""
    folder = f"{spark.conf.get('wearables.landing')}/registrations"
    return registration_lines(landed(spark, folder, REGISTRATION_SCHEMA))
