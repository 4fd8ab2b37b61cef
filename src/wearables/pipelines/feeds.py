"""The file feeds: every line as it was delivered, and each valid line once."""

from pyspark import pipelines as dp
from pyspark.sql import DataFrame, SparkSession

from wearables import layout, privacy
from wearables.feeds import FEEDS, Feed
from wearables.landing import landed, without_erased
from wearables.transforms import delivered_lines, lines_once

spark = SparkSession.active()


def declare(feed: Feed) -> None:
    """Declare the two tables of `feed`; a function of its own, so that each dataset keeps its feed."""

    @dp.table(
        name=feed.name,
        comment=f"Lines of the files in {feed.name}, repeats included",
        table_properties={
            "pipelines.reset.allowed": "false",
            **privacy.properties(spark, feed.name),
            **layout.MARKED,
        },
    )
    def delivered() -> DataFrame:
        """Append what has landed since the last update."""
        folder = f"{spark.conf.get('wearables.landing')}/{feed.name}"
        return without_erased(spark, delivered_lines(landed(spark, folder, feed.schema), feed))

    @dp.materialized_view(
        name=feed.target,
        comment=f"Valid lines of {feed.name}, each once",
        table_properties=privacy.properties(spark, feed.target),
    )
    @dp.expect_all_or_drop(feed.rules)
    def once() -> DataFrame:
        """Valid lines; what is dropped here is in `quarantine`."""
        return lines_once(spark.read.table(feed.name), feed)


for each in FEEDS:
    declare(each)
