"""Heart rates and workout events, each once."""

from __future__ import annotations

from pyspark.sql import DataFrame

from wearables.rules import HEART_RATE, WORKOUT
from wearables.transforms.payloads import ORDER
from wearables.transforms.repeats import first_of

__all__ = ["heart_rates_once", "workout_events_once"]

# All fields: with (user_id, time) alone, a stop and a start in the same second would be one event.
_EVENT = ("user_id", "workout_id", "time", "action", "session_id")


def heart_rates_once(heart_rates: DataFrame) -> DataFrame:
    """Keep one heart rate per device and time; see `first_of` for which, and for invalid ones."""
    readings = heart_rates.filter("readable").select("device_id", "time", "heartrate", *ORDER)
    unique = first_of(readings, key=("device_id", "time"), order=ORDER, rules=HEART_RATE)
    return unique.select("device_id", "time", "heartrate", "repeats")


def workout_events_once(events: DataFrame) -> DataFrame:
    """Keep each start and stop once: events that agree in all of their fields are one."""
    readable = events.filter("readable").select(*_EVENT, *ORDER)
    return first_of(readable, key=_EVENT, order=ORDER, rules=WORKOUT).select(*_EVENT, "repeats")
