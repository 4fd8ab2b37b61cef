"""The micro-batches of streaming queries, from the progress that Spark reports."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from lakeward.report.event_files import Event, dataset_of, details_of, seconds_between

MAX_BATCHES = 40


def stream_batches(events: Iterable[Event]) -> list[dict[str, Any]]:
    """Return the flows that reported micro-batches, each with its newest `MAX_BATCHES`, from old to new."""
    found: dict[str, dict[str, Any]] = {}
    for event in events:
        if event["event_type"] != "stream_progress":
            continue
        progress = details_of(event).get("progress")
        if not isinstance(progress, dict):
            continue
        flow = str(event["origin"].get("flow_name") or progress.get("name") or "")
        stream = found.setdefault(flow, {"flow": flow, "dataset": dataset_of(event) or flow, "batches": []})
        stream["batches"].append(batch_of(progress))
    for stream in found.values():
        del stream["batches"][:-MAX_BATCHES]
    return list(found.values())


def batch_of(progress: Mapping[str, Any]) -> dict[str, Any]:
    """Return the figures of one micro-batch; None where Spark or the source reports none.

    >>> batch = batch_of({"batchId": 3, "numInputRows": 10, "batchDuration": 250,
    ...     "timestamp": "2026-05-01T06:00:10.000Z", "eventTime": {"watermark": "2026-05-01T06:00:00.000Z"}})
    >>> batch["seconds"], batch["watermark_lag"], batch["backlog_files"]
    (0.25, 10.0, None)
    """
    sources = [each for each in progress.get("sources") or () if isinstance(each, dict)]
    operators = [each for each in progress.get("stateOperators") or () if isinstance(each, dict)]
    started = str(progress.get("timestamp") or "")
    watermark = (progress.get("eventTime") or {}).get("watermark")
    # Until the first row Spark reports the epoch.
    watermark = None if not watermark or str(watermark).startswith("1970-01-01T00:00:00") else str(watermark)
    milliseconds = progress.get("batchDuration")
    return {
        "batch": progress.get("batchId"),
        "started": started,
        "seconds": None if milliseconds is None else milliseconds / 1000,
        "rows": progress.get("numInputRows"),
        "input_rate": _total(each.get("inputRowsPerSecond") for each in sources),
        "processing_rate": _total(each.get("processedRowsPerSecond") for each in sources),
        "backlog_files": _total(_metric(each, "numFilesOutstanding") for each in sources),
        "backlog_bytes": _total(_metric(each, "numBytesOutstanding") for each in sources),
        "state_rows": _total(each.get("numRowsTotal") for each in operators),
        "late_rows": _total(each.get("numRowsDroppedByWatermark") for each in operators),
        "watermark": watermark,
        "watermark_lag": seconds_between(watermark, started),
    }


def _metric(source: Mapping[str, Any], name: str) -> float | None:
    try:
        return float((source.get("metrics") or {})[name])
    except (KeyError, TypeError, ValueError):
        return None


def _total(values: Iterable[object]) -> float | None:
    known = [value for value in values if isinstance(value, (int, float))]
    return sum(known) if known else None
