"""The stored events of a pipeline, read from its files: Spark is not needed to look back."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import orjson

from lakeward.atomic_files import read_regular

Event = dict[str, Any]

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
# What the history of updates shows; graph, streams and messages are those of the newest one.
_RESULTS = ("create_update", "update_progress", "flow_progress", "planning_information")


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
    whole: set[str] = set()
    has_graph = False
    for path in reversed(files):
        try:
            rows = list(_rows(path, whole if has_graph else None))
        except (OSError, ValueError, LookupError, NotImplementedError, AttributeError) as error:
            found.unreadable.append(f"{path.name}: {(str(error) or type(error).__name__).splitlines()[0]}")
            continue
        new = {_update_of(event) for event in rows} - updates
        if len(updates) >= limit and new:
            break
        updates |= new
        if not has_graph:
            whole |= new
            has_graph = any(event["event_type"] == "dataset_definition" for event in rows)
        events.update((event["id"], event) for event in rows)
    events.update((event["id"], event) for event in _lines(storage / "events.jsonl", found))
    for event in sorted(events.values(), key=lambda event: (event["timestamp"], _number(event))):
        found.updates.setdefault(_update_of(event), []).append(event)
    for update in list(found.updates)[:-limit]:
        del found.updates[update]
    return found


def _rows(path: Path, whole: Collection[str] | None) -> Iterator[Event]:
    """Yield the events of a file; of updates that are not in `whole`, those that give their results."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    # Not by its path: reading a named pipe would never end. `pq.read_table`, Arrow's scalars and timestamps
    # as Python objects would import pandas. Without threads: one of Arrow's that still holds the bytes, which
    # are Python's, at the end of the process would abort it (apache/arrow#34314).
    with pq.ParquetFile(pa.BufferReader(read_regular(path))) as parquet:
        table = parquet.read(use_threads=False)
    if whole is not None:
        result = pc.match_substring_regex(table["event_type"], _one_of(_RESULTS))
        of_whole = pc.match_substring_regex(pc.struct_field(table["origin"], "update_id"), _one_of(whole))
        table = table.filter(pc.or_(result, of_whole))
    if "timestamp" in table.column_names and pa.types.is_timestamp(table["timestamp"].type):
        micros = table["timestamp"].cast(pa.timestamp("us", "UTC"), safe=False).cast(pa.int64())
        table = table.set_column(table.column_names.index("timestamp"), "timestamp", micros)
    for row in table.to_pylist():
        details, moment = row.get("details"), row.get("timestamp")
        event = {
            **row,
            "timestamp": _moment(moment) if isinstance(moment, int) else str(moment),
            "details": orjson.loads(details) if isinstance(details, str) else details or {},
        }
        if _is_event(event):
            yield event


def _moment(micros: int) -> str:
    return (_EPOCH + timedelta(microseconds=micros)).isoformat()


def _one_of(words: Collection[str]) -> str:
    return f"^({'|'.join(map(re.escape, words))})$"


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


def _is_event(event: object) -> bool:
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


def dataset_of(event: Event) -> str:
    """Return the name of the dataset that an event is about; empty for none."""
    return str(event["origin"].get("dataset_name") or "")


def details_of(event: Event) -> dict[str, Any]:
    """Return the details of an event, which are stored under its type; empty where they are damaged."""
    details = event.get("details") or {}
    found = details.get(event["event_type"]) if isinstance(details, dict) else None
    return found if isinstance(found, dict) else {}


def error_of(event: Event) -> str:
    """Return the message of the error that an event reports; empty for none."""
    exceptions = (event.get("error") or {}).get("exceptions") or ()
    return next((str(each["message"]) for each in exceptions if each.get("message")), "")


def seconds_between(start: str | None, end: str | None) -> float | None:
    """Return the seconds between two times, which are in UTC unless they have a zone; None for damaged ones.

    >>> seconds_between("2026-05-01T06:00:00Z", "2026-05-01T06:00:01.500")
    1.5
    """
    try:
        return (_time(end or "") - _time(start or "")).total_seconds()
    except ValueError:
        return None


def _time(text: str) -> datetime:
    # Python 3.10 reads no `Z`.
    time = datetime.fromisoformat(text.replace("Z", "+00:00"))
    return time if time.tzinfo else time.replace(tzinfo=timezone.utc)


def _update_of(event: Event) -> str:
    return str(event["origin"]["update_id"])


def _number(event: Event) -> int:
    try:
        return int(event["sequence"]["data_plane_id"]["seq_no"])
    except (KeyError, TypeError, ValueError):
        return 0
