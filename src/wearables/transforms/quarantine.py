"""Records that are not in silver, with the reasons."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from wearables.rules import HEART_RATE, PAYLOAD, RECORD, REGISTRATION, REGISTRATION_LINE, WORKOUT
from wearables.transforms.payloads import heart_rates, workout_events
from wearables.transforms.validity import failed_rules, holds

__all__ = ["quarantined", "quarantined_records", "quarantined_registrations"]

_COLUMNS = ("source_file", "topic", "partition", "offset", "timestamp", "record", "failed_rules")


def quarantined(bronze: DataFrame, registrations: DataFrame) -> DataFrame:
    """Gather what failed, of the daily files and of the registrations; `feed` says which."""
    return quarantined_records(bronze).unionByName(quarantined_registrations(registrations))


def quarantined_records(bronze: DataFrame) -> DataFrame:
    """Name for each invalid record of bronze the rules that it fails; `record` is its text.

    Other rules are not applied to a record that cannot be read.
    """
    text = F.coalesce("unreadable", F.col("value").cast("string"))
    foreign = bronze.withColumns({"record": text, "failed_rules": _failed(RECORD)})
    parts = [foreign]
    for payloads, rules in ((heart_rates(bronze), HEART_RATE), (workout_events(bronze), WORKOUT)):
        parts.append(payloads.withColumn("failed_rules", _failed({**PAYLOAD, **rules})))
    records = parts[0].select(*_COLUMNS)
    for part in parts[1:]:
        records = records.unionByName(part.select(*_COLUMNS))
    return _only_failed(records, feed="daily")


def quarantined_registrations(registrations: DataFrame) -> DataFrame:
    """Name for each invalid registration the rules that it fails; it has no topic and no offset."""
    fields = F.struct("device_id", "mac_address", "registration_timestamp", "user_id")
    records = registrations.withColumns(
        {
            "topic": F.lit(None).cast("string"),
            **{name: F.lit(None).cast("bigint") for name in ("partition", "offset", "timestamp")},
            "record": F.coalesce("unreadable", F.to_json(fields)),
            "failed_rules": _failed({**REGISTRATION_LINE, **REGISTRATION}),
        }
    )
    return _only_failed(records.select(*_COLUMNS), feed="registrations")


def _failed(rules: Mapping[str, str]) -> Column:
    # The first rule says that there is something to read; the others ask what stands there.
    readable = dict([next(iter(rules.items()))])
    return F.when(holds(readable), failed_rules(rules)).otherwise(failed_rules(readable))


def _only_failed(records: DataFrame, *, feed: str) -> DataFrame:
    return records.filter(F.size("failed_rules") > 0).select(F.lit(feed).alias("feed"), *_COLUMNS)
