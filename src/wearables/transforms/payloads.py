"""The payloads of the topics, typed."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from wearables.topics import Topic
from wearables.transforms.repeats import first_of

__all__ = ["events_once", "typed_payloads"]

# Among repeats the first by these columns stays.
_ORDER = ("source_file", "partition", "offset")
_SOURCE = (*_ORDER, "topic", "timestamp", "record", "readable")


def typed_payloads(bronze: DataFrame, topic: Topic) -> DataFrame:
    """Decode the records of `topic`: its columns, and those of their source.

    `record` is the payload as text; `readable` is true for a JSON object with values of the topic's types.
    """
    text = F.col("value").cast("string")
    # NaN is no measurement, and NaN > 0 is true in SQL.
    options = {"columnNameOfCorruptRecord": "_unparsed", "allowNonNumericNumbers": "false"}
    payload = F.from_json(text, f"{topic.payload}, _unparsed STRING", options)
    return (
        bronze.filter((F.col("topic") == topic.name) & F.col("unreadable").isNull())
        # Out of an array: Spark would parse the text once more for each condition on the payload.
        .select("*", text.alias("record"), F.explode(F.array(payload)).alias("payload"))
        .withColumn("readable", F.col("payload").isNotNull() & F.col("payload._unparsed").isNull())
        .select(*(F.expr(text).alias(name) for name, text in topic.columns.items()), *_SOURCE)
    )


def events_once(bronze: DataFrame, topic: Topic) -> DataFrame:
    """Keep each event of `topic` once, see `first_of` for which, and for invalid ones."""
    columns = list(topic.columns)
    readable = typed_payloads(bronze, topic).filter("readable").select(*columns, *_ORDER)
    unique = first_of(readable, key=topic.key, order=_ORDER, rules=topic.rules)
    return unique.select(*columns, "repeats")
