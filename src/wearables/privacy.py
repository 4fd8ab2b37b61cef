"""Which columns are personal, and what that means for the files of a table.

Every column of every table is classified: with a tag when it is personal, else as plain. A test fails for a
column without a class, and for a personal column in a table for analysts.
"""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import SparkSession

__all__ = ["ANALYSTS", "PERSONAL", "PLAIN", "properties"]

_USER = {
    "user_id": "identifier",
    "dob": "birthday",
    "sex": "sensitive",
    "gender": "sensitive",
    "first_name": "name",
    "last_name": "name",
    "street_address": "address",
    "city": "address",
    "state": "region",
    "zip": "address",
}
_EVENT = {"user_id": "identifier", "session_id": "activity"}

PERSONAL: Mapping[str, Mapping[str, str]] = {
    "bronze": {"key": "identifier", "value": "payload", "unreadable": "payload", "_rescued_data": "payload"},
    "quarantine": {"record": "payload"},
    "registrations": {
        "device_id": "identifier",
        "mac_address": "identifier",
        "user_id": "identifier",
        "unreadable": "payload",
        "_rescued_data": "payload",
    },
    "registered_users": {"device_id": "identifier", "mac_address": "identifier", "user_id": "identifier"},
    "gym_logs": {"mac": "identifier", "unreadable": "payload", "_rescued_data": "payload"},
    "gym_visits": {"mac": "identifier"},
    "heart_rate": {"device_id": "identifier", "heartrate": "health"},
    "workouts": _EVENT,
    "completed_workouts": _EVENT,
    "workout_bpm": {**_EVENT, "device_id": "identifier", "heartrate": "health"},
    "workout_bpm_summary": {**_EVENT, "min_bpm": "health", "avg_bpm": "health", "max_bpm": "health"},
    "users": _USER,
    "users_history": _USER,
    "user_keys": {"user_id": "identifier", "pseudonym": "pseudonym"},
    "user_bins": {"pseudonym": "pseudonym", "gender": "sensitive", "state": "region"},
    "training_load": {"pseudonym": "pseudonym", "max_bpm": "health"},
}
"""Personal columns of each table with their tags."""

PLAIN: Mapping[str, tuple[str, ...]] = {
    "bronze": ("timestamp", "date", "source_file", "topic", "partition", "offset", "week_part"),
    "quarantine": ("timestamp", "source_file", "feed", "topic", "partition", "offset", "failed_rules"),
    "registrations": ("registration_timestamp", "source_file"),
    "registered_users": ("registration_timestamp", "repeats"),
    "gym_logs": ("first_timestamp", "last_timestamp", "gym", "source_file"),
    "gym_visits": ("first_timestamp", "last_timestamp", "gym", "repeats"),
    "heart_rate": ("time", "repeats"),
    "workouts": ("time", "action", "workout_id", "repeats"),
    "completed_workouts": ("start_time", "end_time", "workout_id", "in_progress"),
    "workout_bpm": ("time", "workout_id"),
    "workout_bpm_summary": ("num_recordings", "workout_id"),
    "users": ("updated",),
    "users_history": ("updated", "__START_AT", "__END_AT"),
    "user_keys": ("key_name",),
    "user_bins": ("age_band",),
    "training_load": ("week_part", "seconds", "points"),
    "fitness_by_group": ("week_part", "age_band", "people", "seconds", "points"),
    "date_lookup": ("date", "week_part", "week_start", "weekday"),
    "quality_rules": ("feed", "topic", "name", "condition", "tag"),
}
"""The other columns of each table; the first one is what files are skipped by."""

ANALYSTS = ("fitness_by_group", "date_lookup", "quality_rules")
"""Tables for everybody in the company: they have no personal column."""


def properties(spark: SparkSession, table: str) -> dict[str, str]:
    """Return the table properties that keep personal values out of the log of `table`.

    Delta's log holds the lowest and highest value of a column for each file, and keeps them after the file is
    gone: there are none of personal columns. Replaced files are kept for the retention of the pipeline's
    configuration, so that VACUUM needs no retention below the limit of the platform.
    """
    return {
        "delta.dataSkippingStatsColumns": PLAIN[table][0],
        "delta.deletedFileRetentionDuration": str(spark.conf.get("wearables.retention", "interval 7 days")),
    }
