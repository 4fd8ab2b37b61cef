"""What makes a record valid: one place, as SQL, for expectations and for quarantine alike.

A rule that is NULL for a record does not hold: the expectation drops the record, quarantine names the rule.
"""

from __future__ import annotations

__all__ = ["HEART_RATE", "PAYLOAD", "RECORD", "REGISTRATION", "REGISTRATION_LINE", "TOPICS", "WORKOUT"]

# `user_info` stays in bronze for now, as it was delivered.
TOPICS = ("bpm", "workout", "user_info")

RECORD = {
    "record_readable": "unreadable IS NULL",
    "topic_known": f"topic IN {TOPICS}",
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

REGISTRATION_LINE = {"record_readable": "unreadable IS NULL"}

REGISTRATION = {
    "device_id_present": "device_id IS NOT NULL",
    "user_id_present": "user_id IS NOT NULL",
}
