"""The payloads of the topics `bpm` and `workout`, typed."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

__all__ = ["ORDER", "heart_rates", "workout_events"]

# Among repeats the first by these columns stays.
ORDER = ("source_file", "partition", "offset")

# Epoch seconds are decimals: FLOAT makes one second of 1576482430 and 1576482431, DOUBLE loses microseconds.
_SECONDS = "DECIMAL(18, 6)"

_SOURCE = (*ORDER, "topic", "timestamp", "record", "readable")


def heart_rates(bronze: DataFrame) -> DataFrame:
    """Decode the heart rates of bronze: device_id, time, heartrate, and the columns of their source.

    `record` is the payload as text; `readable` tells whether it is a JSON object with values of these types.
    """
    payloads = _decoded(bronze, "bpm", f"device_id BIGINT, time {_SECONDS}, heartrate DOUBLE")
    return payloads.select(
        "payload.device_id",
        F.timestamp_seconds("payload.time").alias("time"),
        "payload.heartrate",
        *_SOURCE,
    )


def workout_events(bronze: DataFrame) -> DataFrame:
    """Decode the starts and stops of bronze: user_id, workout_id, time, action, session_id, and as above."""
    fields = f"user_id BIGINT, workout_id BIGINT, timestamp {_SECONDS}, action STRING, session_id BIGINT"
    payloads = _decoded(bronze, "workout", fields)
    return payloads.select(
        "payload.user_id",
        "payload.workout_id",
        F.timestamp_seconds("payload.timestamp").alias("time"),
        "payload.action",
        "payload.session_id",
        *_SOURCE,
    )


def _decoded(bronze: DataFrame, topic: str, fields: str) -> DataFrame:
    text = F.col("value").cast("string")
    # NaN is no measurement, and NaN > 0 is true in SQL.
    options = {"columnNameOfCorruptRecord": "_unparsed", "allowNonNumericNumbers": "false"}
    payload = F.from_json(text, f"{fields}, _unparsed STRING", options)
    return (
        bronze.filter((F.col("topic") == topic) & F.col("unreadable").isNull())
        .withColumns({"record": text, "payload": payload})
        .withColumn("readable", F.col("payload").isNotNull() & F.col("payload._unparsed").isNull())
    )
