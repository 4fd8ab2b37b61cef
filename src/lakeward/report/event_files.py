"""The stored events of a pipeline, read from its files: Spark is not needed to look back."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from io import BytesIO
from pathlib import Path
from typing import Any

from lakeward.atomic_files import read_regular

Event = dict[str, Any]


@dataclass
class StoredEvents:
    """Events by update, the updates and their events from old to new; `unreadable` names damaged files."""

    updates: dict[str, list[Event]] = field(default_factory=dict)
    unreadable: list[str] = field(default_factory=list)


def read_events(storage: Path, limit: int) -> StoredEvents:
    """Return the events of the newest updates.

    The event log is a Delta table that is only appended to, so its data files are its content. The newest
    update is also in the event file, which is complete while the update still runs.

    Args:
        storage: Storage folder of the pipeline.
        limit: Maximum of updates.
    """
    found = StoredEvents()
    events: dict[str, Event] = {}
    files = sorted((storage / "event_log").glob("*.parquet"), key=lambda path: path.stat().st_mtime)
    updates: set[str] = set()
    for path in reversed(files):
        try:
            rows = list(_rows(path))
        except (OSError, ValueError, NotImplementedError, AttributeError) as error:
            found.unreadable.append(f"{path.name}: {(str(error) or type(error).__name__).splitlines()[0]}")
            continue
        new = {_update_of(event) for event in rows} - updates
        if len(updates) >= limit and new:
            break
        updates |= new
        events.update((event["id"], event) for event in rows)
    events.update((event["id"], event) for event in _lines(storage / "events.jsonl", found))
    for event in sorted(events.values(), key=lambda event: (event["timestamp"], _number(event))):
        found.updates.setdefault(_update_of(event), []).append(event)
    for update in list(found.updates)[:-limit]:
        del found.updates[update]
    return found


def _rows(path: Path) -> Iterator[Event]:
    import pyarrow.parquet as pq

    # Not by its path: reading a named pipe would never end.
    for row in pq.read_table(BytesIO(read_regular(path))).to_pylist():
        details = row.get("details")
        event = {
            **row,
            "timestamp": _as_text(row.get("timestamp")),
            "details": json.loads(details) if isinstance(details, str) else details or {},
        }
        if _is_event(event):
            yield event


def _lines(path: Path, found: StoredEvents) -> Iterator[Event]:
    try:
        text = read_regular(path).decode()
    except FileNotFoundError:
        return
    except (OSError, UnicodeDecodeError) as error:
        found.unreadable.append(f"{path.name}: {error}")
        return
    for line in text.splitlines():
        try:
            event = json.loads(line)
        except (ValueError, RecursionError):
            continue  # a line that was cut off
        if _is_event(event):
            yield event


def _is_event(event: Any) -> bool:
    """Return whether the fields that all events have are there, with their types."""
    if not isinstance(event, dict) or not isinstance(event.get("origin"), dict):
        return False
    texts = (
        event.get("id"),
        event.get("timestamp"),
        event.get("event_type"),
        event["origin"].get("update_id"),
    )
    return all(isinstance(each, str) and each for each in texts)


def _update_of(event: Event) -> str:
    return str(event["origin"]["update_id"])


def _number(event: Event) -> int:
    try:
        return int(event["sequence"]["data_plane_id"]["seq_no"])
    except (KeyError, TypeError, ValueError):
        return 0


def _as_text(value: Any) -> str:
    return value.isoformat() if isinstance(value, datetime) else str(value)
