"""Lookup tables: the calendar and the rules of quality."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from wearables.feeds import FEEDS
from wearables.rules import LINE, PAYLOAD, RECORD
from wearables.topics import TOPICS

__all__ = ["dates", "quality_rules", "week_part"]


def week_part(date: str) -> Column:
    """Return the ISO year and week of a date, `YYYY-WW`; NULL for NULL.

    ISO weeks belong to the year of their Thursday: the calendar year would be wrong around New Year.
    """
    week = F.format_string("%04d-%02d", F.expr(f"extract(YEAROFWEEK FROM {date})"), F.weekofyear(date))
    return F.when(F.col(date).isNotNull(), week)


def dates(spark: SparkSession) -> DataFrame:
    """Make one row per day from 2010 to 2039: date, week_part, week_start (Monday), weekday (1 is Monday)."""
    days = spark.sql("SELECT explode(sequence(DATE '2010-01-01', DATE '2039-12-31', INTERVAL 1 DAY)) AS date")
    return days.select(
        "date",
        week_part("date").alias("week_part"),
        F.expr("CAST(date_trunc('WEEK', date) AS DATE)").alias("week_start"),
        F.expr("weekday(date) + 1").alias("weekday"),
    )


def quality_rules(spark: SparkSession) -> DataFrame:
    """Make one row per rule: feed, topic, name, condition, tag.

    The tag is `readable` for rules that need no field of the record, else `valid`: other rules are applied to
    readable records only.
    """
    names = ("feed", "topic", "name", "condition", "tag")
    rows = (f"struct({', '.join(map(_literal, row))})" for row in _declared())
    # Literals and not local data: with equal literals an update writes nothing.
    return spark.range(1).selectExpr(f"inline(array({', '.join(rows)})) AS ({', '.join(names)})")


def _literal(value: str | None) -> str:
    text = "NULL" if value is None else "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
    return f"CAST({text} AS STRING)"


def _declared() -> Iterator[tuple[str, str | None, str, str, str]]:
    def rows(
        feed: str, topic: str | None, tag: str, rules: Mapping[str, str]
    ) -> Iterator[tuple[str, str | None, str, str, str]]:
        for name, condition in rules.items():
            yield feed, topic, name, condition, tag

    yield from rows("daily", None, "readable", RECORD)
    for topic in TOPICS.values():
        yield from rows("daily", topic.name, "readable", PAYLOAD)
        yield from rows("daily", topic.name, "valid", topic.rules)
    for feed in FEEDS:
        yield from rows(feed.name, None, "readable", LINE)
        yield from rows(feed.name, None, "valid", feed.rules)
