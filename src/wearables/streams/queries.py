"""The queries: each is one function for streams and for batches, so that both can be compared."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from wearables.topics import Topic
from wearables.transforms import typed_payloads
from wearables.transforms.validity import holds

__all__ = ["HORIZON", "PERIOD", "events", "minutes", "sittings", "sliding", "with_rates", "zones"]

HORIZON = "3 days"
"""Watermark of all queries. Watches that were offline deliver up to two days late, and files come daily."""

PERIOD = "1 hour"
"""Heart rates up to so long after a start belong to it."""


def events(bronze: DataFrame, topic: Topic) -> DataFrame:
    """Decode the valid events of `topic`, repeats included.

    An event that is more than a day ahead of the gateway's clock is left out: it would move the watermark,
    and everything that is delivered afterwards would be late.
    """
    received = F.timestamp_millis("timestamp")
    valid = typed_payloads(bronze, topic).filter("readable").filter(holds(topic.rules))
    return valid.filter(F.col("time") <= received + F.expr("INTERVAL 1 DAY")).select(*topic.columns)


def minutes(rates: DataFrame) -> DataFrame:
    """Tumbling windows: statistics of each device and minute."""
    return _windows(rates, F.window("time", "1 minute"))


def sliding(rates: DataFrame) -> DataFrame:
    """Sliding windows: statistics of each device for five minutes, every minute."""
    return _windows(rates, F.window("time", "5 minutes", "1 minute"))


def sittings(rates: DataFrame) -> DataFrame:
    """Session windows: statistics of each device until it is silent for five minutes."""
    return _windows(rates, F.session_window("time", "5 minutes"))


def _windows(rates: DataFrame, window: Column) -> DataFrame:
    # Decimals: the order of rows does not change a sum.
    rate = F.col("heartrate").cast("DECIMAL(9, 3)")
    return (
        rates.withWatermark("time", HORIZON)
        .groupBy("device_id", window.alias("window"))
        .agg(
            F.count(F.lit(1)).alias("rates"),
            F.sum(rate).alias("total"),
            F.min(rate).alias("lowest"),
            F.max(rate).alias("highest"),
        )
        .select("device_id", "window.start", "window.end", "rates", "total", "lowest", "highest")
    )


def zones(rates: DataFrame) -> DataFrame:
    """Count the heart rates of each device by the tens of their value; the state has a row per zone."""
    return rates.groupBy("device_id", F.expr("CAST(floor(heartrate / 10) AS INT) * 10").alias("zone")).count()


def with_rates(starts: DataFrame, rates: DataFrame) -> DataFrame:
    """Join each start of a workout to the heart rates of its device within `PERIOD`, or to none.

    `starts` has device_id, user_id, session_id and start_time. The interval bounds the state on both sides.
    """
    left = starts.withWatermark("start_time", HORIZON)
    right = rates.withWatermark("time", HORIZON).withColumnRenamed("device_id", "rate_device_id")
    near = f"time BETWEEN start_time AND start_time + INTERVAL {PERIOD}"
    joined = left.join(right, F.expr(f"device_id = rate_device_id AND {near}"), "left_outer")
    return joined.select("user_id", "session_id", "device_id", "start_time", "time", "heartrate")
