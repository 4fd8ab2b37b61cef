"""The topics of the gateway: a new topic is one declaration here.

`bronze` holds every topic. For each `Topic` of kind `events` the pipeline makes a silver table and sends what
is invalid to `quarantine`; changes of kind `changes` are folded by AUTO CDC (`pipelines/users.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from wearables import rules

__all__ = ["BPM", "EVENTS", "TOPICS", "USER_INFO", "WORKOUT", "Topic"]

# Epoch seconds are decimals: FLOAT makes one second of 1576482430 and 1576482431, DOUBLE loses microseconds.
_SECONDS = "DECIMAL(18, 6)"


@dataclass(frozen=True)
class Topic:
    """A topic of Kafka.

    `payload` is the type of its JSON payload. `columns` are the typed columns as SQL of `payload` and of the
    columns of bronze, in their order. A record that breaks one of `rules` is in quarantine; records of kind
    `events` with the same `key` are one row of the table `target`.
    """

    name: str
    target: str
    comment: str
    payload: str
    columns: Mapping[str, str]
    key: tuple[str, ...]
    rules: Mapping[str, str]
    kind: str = "events"


BPM = Topic(
    name="bpm",
    target="heart_rate",
    comment="One heart rate per device and time; `repeats` counts the further records of it",
    payload=f"device_id BIGINT, time {_SECONDS}, heartrate DOUBLE",
    columns={
        "device_id": "payload.device_id",
        "time": "timestamp_seconds(payload.time)",
        "heartrate": "payload.heartrate",
    },
    key=("device_id", "time"),
    rules=rules.HEART_RATE,
)

WORKOUT = Topic(
    name="workout",
    target="workouts",
    comment="Each start and stop once; `repeats` counts the further records of it",
    payload=f"user_id BIGINT, workout_id BIGINT, timestamp {_SECONDS}, action STRING, session_id BIGINT",
    columns={
        "user_id": "payload.user_id",
        "workout_id": "payload.workout_id",
        "time": "timestamp_seconds(payload.timestamp)",
        "action": "payload.action",
        "session_id": "payload.session_id",
    },
    # All fields: with (user_id, time) alone, a stop and a start in the same second would be one event.
    key=("user_id", "workout_id", "time", "action", "session_id"),
    rules=rules.WORKOUT,
)

USER_INFO = Topic(
    name="user_info",
    target="users",
    comment="Users as they are now",
    payload=(
        f"user_id BIGINT, update_type STRING, timestamp {_SECONDS}, dob STRING, sex STRING, gender STRING, "
        "first_name STRING, last_name STRING, "
        "address STRUCT<street_address STRING, city STRING, state STRING, zip INT>"
    ),
    columns={
        "user_id": "payload.user_id",
        "update_type": "payload.update_type",
        "updated": "timestamp_seconds(payload.timestamp)",
        "dob": "CAST(try_to_timestamp(payload.dob, 'MM/dd/yyyy') AS DATE)",
        "sex": "payload.sex",
        "gender": "payload.gender",
        "first_name": "payload.first_name",
        "last_name": "payload.last_name",
        "street_address": "payload.address.street_address",
        "city": "payload.address.city",
        "state": "payload.address.state",
        "zip": "payload.address.zip",
        "received": "timestamp_millis(timestamp)",
    },
    key=("user_id",),
    rules=rules.USER_INFO,
    kind="changes",
)

TOPICS = {topic.name: topic for topic in (BPM, WORKOUT, USER_INFO)}
EVENTS = tuple(topic for topic in TOPICS.values() if topic.kind == "events")
