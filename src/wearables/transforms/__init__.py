"""The rules of the lakehouse as functions from frames to frames: none of them reads or writes."""

from wearables.transforms.lines import delivered_lines, lines_once
from wearables.transforms.lookups import dates, quality_rules
from wearables.transforms.payloads import events_once, typed_payloads
from wearables.transforms.quarantine import quarantined, quarantined_lines, quarantined_records
from wearables.transforms.recordings import recordings
from wearables.transforms.records import RECORD_SCHEMA, kafka_records
from wearables.transforms.repeats import first_of
from wearables.transforms.sessions import sessions
from wearables.transforms.summary import summary
from wearables.transforms.training import SMALLEST_GROUP, fitness_by_group, training_load
from wearables.transforms.users import age_bands, pseudonyms, user_changes

__all__ = [
    "RECORD_SCHEMA",
    "SMALLEST_GROUP",
    "age_bands",
    "dates",
    "delivered_lines",
    "events_once",
    "first_of",
    "fitness_by_group",
    "kafka_records",
    "lines_once",
    "pseudonyms",
    "quality_rules",
    "quarantined",
    "quarantined_lines",
    "quarantined_records",
    "recordings",
    "sessions",
    "summary",
    "training_load",
    "typed_payloads",
    "user_changes",
]
