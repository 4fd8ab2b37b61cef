"""The rules of the lakehouse as functions from frames to frames: none of them reads or writes."""

from wearables.transforms.payloads import heart_rates, workout_events
from wearables.transforms.quarantine import quarantined, quarantined_records, quarantined_registrations
from wearables.transforms.recordings import recordings
from wearables.transforms.records import RECORD_SCHEMA, kafka_records
from wearables.transforms.registrations import (
    REGISTRATION_SCHEMA,
    registration_lines,
    registrations_once,
)
from wearables.transforms.repeats import first_of
from wearables.transforms.sessions import sessions
from wearables.transforms.silver import heart_rates_once, workout_events_once
from wearables.transforms.summary import summary

__all__ = [
    "RECORD_SCHEMA",
    "REGISTRATION_SCHEMA",
    "first_of",
    "heart_rates",
    "heart_rates_once",
    "kafka_records",
    "quarantined",
    "quarantined_records",
    "quarantined_registrations",
    "recordings",
    "registration_lines",
    "registrations_once",
    "sessions",
    "summary",
    "workout_events",
    "workout_events_once",
]
