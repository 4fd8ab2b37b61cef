"""What makes a record valid: one place, as SQL, for expectations and for quarantine alike.

A rule that is NULL for a record does not hold: the expectation drops the record, quarantine names the rule.
"""

from __future__ import annotations

__all__ = [
    "GYM_VISIT",
    "HEART_RATE",
    "LINE",
    "PAYLOAD",
    "RECORD",
    "REGISTRATION",
    "TOPIC_NAMES",
    "USER_INFO",
    "WORKOUT",
]

TOPIC_NAMES = ("bpm", "workout", "user_info")

RECORD = {
    "record_readable": "unreadable IS NULL",
    "topic_known": f"topic IN {TOPIC_NAMES}",
}

PAYLOAD = {"payload_readable": "readable"}

HEART_RATE = {
    "device_id_present": "device_id IS NOT NULL",
    "device_id_in_range": "device_id > 110000",
    "heartrate_present": "heartrate IS NOT NULL",
    "heartrate_positive": "heartrate > 0",
    # Watches that lost their clock report 1989 or 1970.
    "time_plausible": "time >= TIMESTAMP '2010-01-01 00:00:00Z'",
}

WORKOUT = {
    "user_id_present": "user_id IS NOT NULL",
    "session_id_present": "session_id IS NOT NULL",
    "action_present": "action IS NOT NULL",
    "time_present": "time IS NOT NULL",
}

USER_INFO = {
    "user_id_present": "user_id IS NOT NULL",
    "update_type_known": "update_type IN ('new', 'update', 'delete')",
    # A change from the future would win over every later change of its user.
    "updated_plausible": (
        "updated >= TIMESTAMP '2010-01-01 00:00:00Z' AND updated <= received + INTERVAL 1 DAY"
    ),
}

LINE = {"record_readable": "unreadable IS NULL"}

REGISTRATION = {
    "device_id_present": "device_id IS NOT NULL",
    "user_id_present": "user_id IS NOT NULL",
}

GYM_VISIT = {
    "mac_present": "mac IS NOT NULL",
    "gym_present": "gym IS NOT NULL",
    "times_in_order": "first_timestamp <= last_timestamp",
}
