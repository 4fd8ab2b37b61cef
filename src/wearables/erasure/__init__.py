"""The right to be forgotten: requests, what is removed for them, and the evidence that it is gone."""

from wearables.erasure.evidence import finish, overdue
from wearables.erasure.landing import clean_landing, landed_matches
from wearables.erasure.removal import RAW, matches, raw_tables, remove
from wearables.erasure.requests import collect, in_computed_tables, mark_erased, note_found, suppress
from wearables.erasure.tables import DEADLINE, create_tables

__all__ = [
    "DEADLINE",
    "RAW",
    "clean_landing",
    "collect",
    "create_tables",
    "finish",
    "in_computed_tables",
    "landed_matches",
    "mark_erased",
    "matches",
    "note_found",
    "overdue",
    "raw_tables",
    "remove",
    "suppress",
]
