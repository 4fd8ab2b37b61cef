"""The files that arrive outside of Kafka: a new kind of file is one declaration here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from wearables import rules

__all__ = ["FEEDS", "GYM_LOGS", "REGISTRATIONS", "Feed"]


@dataclass(frozen=True)
class Feed:
    """A folder of JSON lines in the landing volume, and the table that holds its lines.

    `fields` maps columns to types. Valid lines that agree in all fields are one row of the table `target`.
    """

    name: str
    target: str
    fields: Mapping[str, str]
    rules: Mapping[str, str]

    @property
    def schema(self) -> str:
        """Return the schema with which the files are read."""
        return ", ".join(f"{name} {kind}" for name, kind in self.fields.items()) + ", _corrupt_record STRING"


REGISTRATIONS = Feed(
    name="registrations",
    target="registered_users",
    fields={
        "device_id": "BIGINT",
        "mac_address": "STRING",
        "registration_timestamp": "DOUBLE",
        "user_id": "BIGINT",
    },
    rules=rules.REGISTRATION,
)

GYM_LOGS = Feed(
    name="gym_logs",
    target="gym_visits",
    fields={"mac": "STRING", "gym": "STRING", "first_timestamp": "DOUBLE", "last_timestamp": "DOUBLE"},
    rules=rules.GYM_VISIT,
)

FEEDS = (REGISTRATIONS, GYM_LOGS)
