"""Which columns are personal, and what that means for the files of a table.

Every column of every table is classified: with a tag when it is personal, else as plain. A test fails for a
column without a class, and for a personal column in a table for analysts.
"""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import SparkSession

__all__ = ["ANALYSTS", "PERSONAL", "PLAIN", "RETENTION", "properties"]

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
_RATE = {"device_id": "identifier", "heartrate": "health"}
_WINDOW = {"device_id": "identifier", "total": "health", "lowest": "health", "highest": "health"}

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
    "heart_rate": _RATE,
    "workouts": _EVENT,
    "completed_workouts": _EVENT,
    "workout_bpm": {**_EVENT, "device_id": "identifier", "heartrate": "health"},
    "workout_bpm_summary": {**_EVENT, "min_bpm": "health", "avg_bpm": "health", "max_bpm": "health"},
    "users": _USER,
    "users_history": _USER,
    "user_keys": {"user_id": "identifier", "pseudonym": "pseudonym"},
    "user_bins": {"pseudonym": "pseudonym", "gender": "sensitive", "state": "region"},
    "training_load": {"pseudonym": "pseudonym", "max_bpm": "health"},
    "erasure_requests": {"user_id": "identifier", "subject": "pseudonym"},
    "suppressed": {"token": "pseudonym", "subject": "pseudonym"},
    "erasure_audit": {"subject": "pseudonym"},
    "user_tokens": {"user_id": "identifier", "token": "pseudonym"},
    "user_directory": {
        "token": "pseudonym",
        "first_name": "name",
        "last_name": "name",
        "street_address": "address",
        "city": "address",
        "state": "region",
    },
    "heart_rate_stream": _RATE,
    "heart_rate_stream_late": _RATE,
    "workouts_stream": _EVENT,
    "workouts_stream_late": _EVENT,
    "heart_rate_minutes": _WINDOW,
    "heart_rate_sliding": _WINDOW,
    "heart_rate_sittings": _WINDOW,
    "heart_rate_zones": {"device_id": "identifier", "zone": "health"},
    "workout_rates": {**_EVENT, **_RATE},
    "wearers": {"device_id": "identifier", "user_id": "identifier"},
    "heart_rate_wearers": {**_RATE, "user_id": "identifier"},
}
"""Personal columns of each table with their tags; those of other jobs exist after their first run."""

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
    "erasure_requests": ("request_id", "source", "requested", "deadline", "status", "found", "rewritten"),
    "suppressed": ("until", "key_name"),
    "erasure_audit": (
        *("request_id", "source", "requested", "deadline", "status", "found", "remaining", "returned"),
        *("vacuumed", "rewritten", "finished", "in_time"),
    ),
    "user_tokens": ("timestamp",),
    "user_directory": (),
    "heart_rate_stream": ("time",),
    "heart_rate_stream_late": ("time", "found"),
    "workouts_stream": ("time", "action", "workout_id"),
    "workouts_stream_late": ("time", "action", "workout_id", "found"),
    "heart_rate_minutes": ("start", "end", "rates"),
    "heart_rate_sliding": ("start", "end", "rates"),
    "heart_rate_sittings": ("start", "end", "rates"),
    "heart_rate_zones": ("count",),
    "workout_rates": ("start_time", "time"),
    "wearers": (),
    "heart_rate_wearers": ("time", "lookup_version"),
    "stream_progress": (
        *("query", "batch", "finished", "input_rows", "state_rows", "state_bytes", "late_rows", "watermark"),
    ),
    "quality_rules": ("feed", "topic", "name", "condition", "tag"),
}
"""The other columns of each table; the first one is what files are skipped by."""

ANALYSTS = ("fitness_by_group", "date_lookup", "quality_rules")
"""Tables for everybody in the company: they have no personal column."""

RETENTION = "delta.deletedFileRetentionDuration"
"""The table property with the time for which replaced files are kept."""


def properties(spark: SparkSession, table: str) -> dict[str, str]:
    """Return the table properties that keep personal values out of the log of `table`.

    Delta's log holds the lowest and highest value of a column for each file, and keeps them after the file is
    gone: there are none of personal columns. Replaced files are kept for the retention of the pipeline's
    configuration, so that VACUUM needs no retention below the limit of the platform.
    """
    return {
        "delta.dataSkippingStatsColumns": PLAIN[table][0],
        RETENTION: str(spark.conf.get("wearables.retention", "interval 7 days")),
    }
