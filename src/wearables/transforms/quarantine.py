"""Records that are not in silver, with the reasons."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from wearables.feeds import FEEDS, Feed
from wearables.rules import LINE, PAYLOAD, RECORD
from wearables.topics import TOPICS
from wearables.transforms.payloads import typed_payloads
from wearables.transforms.validity import failed_rules, holds

__all__ = ["quarantined", "quarantined_lines", "quarantined_records"]

_COLUMNS = ("source_file", "topic", "partition", "offset", "timestamp", "record", "failed_rules")


def quarantined(bronze: DataFrame, feeds: Mapping[str, DataFrame]) -> DataFrame:
    """Gather what failed of the daily files and of the feeds, by name; the column `feed` has the name."""
    lines = [quarantined_lines(feeds[feed.name], feed) for feed in FEEDS]
    return reduce(DataFrame.unionByName, lines, quarantined_records(bronze))


def quarantined_records(bronze: DataFrame) -> DataFrame:
    """Name for each invalid record of bronze the rules that it fails; `record` is its text.

    Other rules are not applied to a record that cannot be read.
    """
    text = F.coalesce("unreadable", F.col("value").cast("string"))
    parts = [bronze.withColumns({"record": text, "failed_rules": _failed(RECORD)})]
    for topic in TOPICS.values():
        rules = {**PAYLOAD, **topic.rules}
        parts.append(typed_payloads(bronze, topic).withColumn("failed_rules", _failed(rules)))
    records = reduce(DataFrame.unionByName, (part.select(*_COLUMNS) for part in parts))
    return _only_failed(records, feed="daily")


def quarantined_lines(lines: DataFrame, feed: Feed) -> DataFrame:
    """Name for each invalid line of a feed the rules that it fails; it has no topic and no offset."""
    records = lines.withColumns(
        {
            "topic": F.lit(None).cast("string"),
            **{name: F.lit(None).cast("bigint") for name in ("partition", "offset", "timestamp")},
            "record": F.coalesce("unreadable", F.to_json(F.struct(*feed.fields))),
            "failed_rules": _failed({**LINE, **feed.rules}),
        }
    )
    return _only_failed(records.select(*_COLUMNS), feed=feed.name)


def _failed(rules: Mapping[str, str]) -> Column:
    # The first rule requires that the record is readable; the others examine its fields.
    readable = dict([next(iter(rules.items()))])
    return F.when(holds(readable), failed_rules(rules)).otherwise(failed_rules(readable))


def _only_failed(records: DataFrame, *, feed: str) -> DataFrame:
    return records.filter(F.size("failed_rules") > 0).select(F.lit(feed).alias("feed"), *_COLUMNS)
