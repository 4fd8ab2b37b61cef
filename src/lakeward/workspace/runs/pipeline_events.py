"""Events of pipelines as the events API shows them, and the filters that it understands."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timezone
from typing import Any

from lakeward.databricks_shims.local_workspace import ApiError
from lakeward.workspace.state.store import Document

# The lookbehind makes it linear: a run of blanks is tried once, not once for each blank.
_AND = re.compile(r"(?<!\s)\s+and\s+", re.IGNORECASE)
_FILTER = re.compile(
    r"\s*(level|timestamp|update_id|id)\s*(=|>=|<=|>|<|in)\s*(\([^)]*\)|'[^']*')\s*", re.IGNORECASE
)


def created_event(pipeline: Document, update_id: str, cause: str, facts: Mapping[str, Any]) -> Document:
    """Return the event that an update was requested, with its cause."""
    text = f"Update {update_id[:6]} started by {cause}."
    details = {"cause": cause, "full_refresh": bool(facts.get("full_refresh"))}
    return _event(pipeline, update_id, "create_update", text, details)


def update_event(pipeline: Document, update_id: str, state: str, error: str = "") -> Document:
    """Return the event for a new state of the whole update."""
    text = f"Update {update_id[:6]} is {state}."
    return _event(pipeline, update_id, "update_progress", text, {"state": state}, error=error)


def events_of_progress(pipeline: Document, update_id: str, progress: Mapping[str, Any]) -> Iterable[Document]:
    """Yield the events for a new state of a dataset during an update."""
    if progress["dataset"] and progress["state"] in ("QUEUED", "PLANNING", "RUNNING"):
        name, state = progress["dataset"], progress["state"]
        yield _event(
            pipeline,
            update_id,
            "flow_progress",
            f"Flow '{name}' is {state}.",
            {"status": state},
            dataset=name,
        )


def flow_events(pipeline: Document, update_id: str, result: Mapping[str, Any]) -> Iterable[Document]:
    """Return how each dataset of an update ended."""
    for dataset in result.get("datasets") or ():
        name, state, error = dataset["name"], dataset["state"], dataset.get("error")
        details: Document = {"status": state, "metrics": {"num_output_rows": dataset["rows_written"]}}
        if dataset["expectations"]:
            details["data_quality"] = {
                "dropped_records": dataset["dropped"],
                "expectations": [
                    {
                        "name": each["name"],
                        "dataset": name,
                        "passed_records": each["passed"],
                        "failed_records": each["failed"],
                    }
                    for each in dataset["expectations"]
                ],
            }
        text = f"Flow '{name}' is {state}." if not error else f"Flow '{name}' has FAILED."
        yield _event(
            pipeline,
            update_id,
            "flow_progress",
            text,
            details,
            dataset=name,
            error=error or "" if state == "FAILED" else "",
        )


def selected(events: Sequence[Document], wanted: str) -> list[Document]:
    """Return the events that a filter such as `update_id = '…' AND level in ('ERROR')` lets through.

    >>> selected([{"level": "INFO", "timestamp": "", "id": "1"}], "level='ERROR'")
    []
    """
    if not wanted.strip():
        return list(events)
    conditions = []
    for part in _AND.split(wanted.strip()):
        match = _FILTER.fullmatch(part)
        if match is None:
            raise ApiError(400, "INVALID_PARAMETER_VALUE", f"The filter {part!r} is not understood.")
        values = re.findall(r"'([^']*)'", match[3])
        conditions.append((match[1].lower(), match[2].lower(), values))
    return [event for event in events if all(_holds(event, *each) for each in conditions)]


def _holds(event: Document, field: str, sign: str, values: list[str]) -> bool:
    actual = str(event["origin"].get("update_id") if field == "update_id" else event.get(field))
    if sign in ("=", "in"):
        return actual in values
    value = values[0]
    return {">": actual > value, "<": actual < value, ">=": actual >= value, "<=": actual <= value}[sign]


def _event(
    pipeline: Document,
    update_id: str,
    kind: str,
    message: str,
    details: Document,
    *,
    dataset: str = "",
    error: str = "",
) -> Document:
    moment = datetime.now(timezone.utc)
    origin = {
        "pipeline_id": pipeline["pipeline_id"],
        "pipeline_name": pipeline["spec"].get("name"),
        "pipeline_type": "WORKSPACE",
        "update_id": update_id,
    }
    if dataset:
        origin.update(dataset_name=dataset, flow_name=dataset)
    event: Document = {
        "id": str(uuid.uuid4()),
        "timestamp": moment.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "origin": origin,
        "message": message,
        "level": "ERROR" if error else "INFO",
        "maturity_level": "STABLE",
        "event_type": kind,
        "details": {kind: details},
    }
    if error:
        event["error"] = {
            "fatal": kind == "update_progress",
            "exceptions": [{"class_name": "", "message": error}],
        }
    return event
