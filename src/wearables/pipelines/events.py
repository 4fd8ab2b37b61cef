"""A silver table for each topic of events: validated and unique."""

from pyspark import pipelines as dp
from pyspark.sql import DataFrame, SparkSession

from wearables import layout, privacy
from wearables.topics import EVENTS, Topic
from wearables.transforms import events_once

spark = SparkSession.active()


def declare(topic: Topic) -> None:
    """Declare the table of `topic`; a function of its own, so that each dataset keeps its topic."""

    @dp.materialized_view(
        name=topic.target,
        comment=topic.comment,
        cluster_by=layout.CLUSTER_BY,
        table_properties={**privacy.properties(spark, topic.target), **layout.FILE_SIZE},
    )
    @dp.expect_all_or_drop(topic.rules)
    def silver() -> DataFrame:
        """Valid events; what is dropped here is in `quarantine`."""
        return events_once(spark.read.table("bronze"), topic)


for each in EVENTS:
    declare(each)
