"""Structured Streaming on bronze: deduplication, windows in every output mode, joins."""

from wearables.streams.continuous import StreamsBusyError, StreamsControl
from wearables.streams.progress import ProgressListener
from wearables.streams.queries import HORIZON, PERIOD, events, minutes, sittings, sliding, with_rates, zones
from wearables.streams.runner import TABLES, Streams, reset

__all__ = [
    "HORIZON",
    "PERIOD",
    "TABLES",
    "ProgressListener",
    "Streams",
    "StreamsBusyError",
    "StreamsControl",
    "events",
    "minutes",
    "reset",
    "sittings",
    "sliding",
    "with_rates",
    "zones",
]
