"""Lines of the file feeds."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from wearables.feeds import Feed
from wearables.transforms.repeats import first_of

__all__ = ["delivered_lines", "lines_once"]


def delivered_lines(lines: DataFrame, feed: Feed) -> DataFrame:
    """Turn lines read with the feed's schema, plus `file_name` and `_rescued_data`, into rows of its table.

    A line that is not JSON is kept as delivered in `unreadable`, and its fields are NULL.
    """
    intact = F.col("_corrupt_record").isNull()
    return lines.select(
        *(F.when(intact, F.col(name)).alias(name) for name in feed.fields),
        F.col("file_name").alias("source_file"),
        F.col("_corrupt_record").alias("unreadable"),
        "_rescued_data",
    )


def lines_once(lines: DataFrame, feed: Feed) -> DataFrame:
    """Keep each valid line once, the one from the earliest file; invalid ones all remain."""
    readable = lines.filter(F.col("unreadable").isNull())
    unique = first_of(readable, key=tuple(feed.fields), order=("source_file",), rules=feed.rules)
    return unique.select(*feed.fields, "repeats")
