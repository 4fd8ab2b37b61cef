"""Lines of the daily files as Kafka records: what bronze holds."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from wearables.transforms.lookups import week_part

__all__ = ["RECORD_SCHEMA", "kafka_records"]

# Key and value are read as text: a value that is no base64 must not cost the rest of its record.
RECORD_SCHEMA = (
    "key STRING, value STRING, topic STRING, partition BIGINT, offset BIGINT, timestamp BIGINT, "
    "_corrupt_record STRING"
)

_FIELDS = ("topic", "partition", "offset", "timestamp")


def kafka_records(lines: DataFrame) -> DataFrame:
    """Turn lines read with `RECORD_SCHEMA`, plus `file_name` and `_rescued_data`, into records of bronze.

    Key and value are decoded; `date` (UTC) and `week_part` (ISO year and week, `YYYY-WW`) say when the record
    was sent. What cannot be read, be it the line or its base64, stands as delivered in `unreadable`: no line
    is lost and none is two rows.
    """
    intact = F.col("_corrupt_record").isNull()
    key, value = (_decoded(name) for name in ("key", "value"))
    undecodable = (F.col("key").isNotNull() & key.isNull()) | (F.col("value").isNotNull() & value.isNull())
    as_delivered = F.to_json(F.struct("key", "value"))
    days = F.expr("try_cast(floor(timestamp / 86400000D) AS INT)")
    return lines.select(
        F.when(intact, key).alias("key"),
        F.when(intact, value).alias("value"),
        *(F.when(intact, F.col(name)).alias(name) for name in _FIELDS),
        # Arithmetic on the epoch: the time zone of the session has no say in it.
        F.when(intact, F.date_from_unix_date(days)).alias("date"),
        F.col("file_name").alias("source_file"),
        F.coalesce("_corrupt_record", F.when(undecodable, as_delivered)).alias("unreadable"),
        F.col("_rescued_data"),
    ).select(
        *("key", "value", *_FIELDS, "date"),
        week_part("date").alias("week_part"),
        *("source_file", "unreadable", "_rescued_data"),
    )


def _decoded(name: str) -> Column:
    return F.try_to_binary(F.col(name), F.lit("base64"))
