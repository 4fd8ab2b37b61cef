"""Which user wears which device: lines of the registration files."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from wearables.rules import REGISTRATION
from wearables.transforms.repeats import first_of

__all__ = ["REGISTRATION_SCHEMA", "registration_lines", "registrations_once"]

REGISTRATION_SCHEMA = (
    "device_id BIGINT, mac_address STRING, registration_timestamp DOUBLE, user_id BIGINT, "
    "_corrupt_record STRING"
)

_FIELDS = ("device_id", "mac_address", "registration_timestamp", "user_id")


def registration_lines(lines: DataFrame) -> DataFrame:
    """Turn lines read with `REGISTRATION_SCHEMA`, plus `file_name` and `_rescued_data`, into registrations.

    A line that is no registration stands as delivered in `unreadable`, and its fields are NULL.
    """
    intact = F.col("_corrupt_record").isNull()
    return lines.select(
        *(F.when(intact, F.col(name)).alias(name) for name in _FIELDS),
        F.col("file_name").alias("source_file"),
        F.col("_corrupt_record").alias("unreadable"),
        "_rescued_data",
    )


def registrations_once(registrations: DataFrame) -> DataFrame:
    """Keep each valid registration once, the one from the earliest file; invalid ones all stay."""
    readable = registrations.filter(F.col("unreadable").isNull())
    unique = first_of(readable, key=_FIELDS, order=("source_file",), rules=REGISTRATION)
    return unique.select(*_FIELDS, "repeats")
