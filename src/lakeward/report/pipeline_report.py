"""The report of one pipeline as a document: its datasets, its latest update and the updates before it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timezone
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from lakeward.report.event_files import Event, dataset_of, details_of, error_of, read_events, seconds_between
from lakeward.report.page import embedded_size
from lakeward.report.samples import read_sample, read_tags
from lakeward.report.stream_batches import stream_batches
from lakeward.update_states import UPDATE_ENDS

_T = TypeVar("_T")
MAX_UPDATES = 30
_MAX_NOTES = 10
_MAX_EVENTS = 2_000
_MAX_TEXT = 4_000
_MAX_SAMPLES = 250_000
_MAX_OPERATORS = 20
_MAX_OPERATOR = 200
_OPERATOR_FIGURES = ("milliseconds", "queries", "rows", "read_bytes", "shuffled_bytes", "spilled_bytes")
_DATASET_ENDS = ("COMPLETED", "FAILED", "SKIPPED", "EXCLUDED")


def build_report(
    name: str,
    storage: Path,
    *,
    warehouse: Path | None = None,
    rows: bool = True,
) -> dict[str, Any] | None:
    """Return the report as JSON values; None if the pipeline has no events.

    Args:
        name: Display name of the pipeline.
        storage: Storage folder of the pipeline.
        warehouse: Folder of the catalogs, for tags and sample rows of the datasets; None leaves them out.
        rows: Whether to add sample rows.

    Returns:
        `pipeline`, `generated`, `updates` (new to old, at most `MAX_UPDATES`), `datasets` of the newest
        update that got as far as defining them, `quality` (passed and failed records of each expectation
        by update), `operators` (the slowest), `streams` and `events` of the newest update, and `notes` on
        what could not be read.
    """
    found = read_events(storage, MAX_UPDATES)
    if not found.updates:
        return None
    notes = [f"A file of the event log cannot be read: {text}" for text in found.unreadable[:5]]

    def readable(what: str, build: Callable[[], _T]) -> _T | None:
        try:
            return build()
        except (TypeError, AttributeError, ValueError, LookupError) as error:
            notes.append(f"{what} cannot be read, since an event is damaged: {error}")
            return None

    updates = []
    for identifier, events in found.updates.items():
        update = readable(f"The update {identifier}", partial(_update, identifier, events))
        updates += [update] if update else []
    updates.reverse()
    newest = list(found.updates.values())[-1]
    datasets = readable("The graph", lambda: _datasets(found.updates.values())) or []
    if warehouse is not None:
        _add_contents(datasets, warehouse, rows=rows)
    return {
        "pipeline": name,
        "generated": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "updates": updates,
        "datasets": datasets,
        "quality": readable("The expectations", lambda: _quality(updates)) or [],
        "operators": readable("The operators", lambda: _operators(newest)) or [],
        "streams": readable("The streaming queries", lambda: stream_batches(newest)) or [],
        "events": [_shown(event) for event in newest[:_MAX_EVENTS]],
        "omitted_events": max(0, len(newest) - _MAX_EVENTS),
        "notes": notes[:_MAX_NOTES],
    }


def page_document(report: Mapping[str, Any]) -> dict[str, Any]:
    """Return the part of a report that its page shows: results of datasets in the newest update and the one
    that it is compared with.
    """
    older = report["updates"][1:]
    before = next((each for each in older if each["state"] == "COMPLETED"), None)
    shown = [
        each if each is before else {key: value for key, value in each.items() if key != "datasets"}
        for each in older
    ]
    return {**report, "updates": [*report["updates"][:1], *shown]}


def _quality(updates: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the expectations with points (index in `updates`, passed, failed), from old to new."""
    series: dict[tuple[str, str], list[tuple[int, int, int]]] = {}
    for index in reversed(range(len(updates))):
        for dataset, result in updates[index]["datasets"].items():
            for each in result.get("expectations", ()):
                points = series.setdefault((dataset, str(each["name"])), [])
                points.append((index, each["passed"] or 0, each["failed"] or 0))
    return [
        {"dataset": dataset, "name": name, "points": points} for (dataset, name), points in series.items()
    ]


def _update(identifier: str, events: Sequence[Event]) -> dict[str, Any]:
    states = [event for event in events if event["event_type"] == "update_progress"]
    last = details_of(states[-1]).get("state") if states else None
    state = last if last in UPDATE_ENDS else "UNFINISHED"
    results = _results(events)
    if state in UPDATE_ENDS:
        # Views have no state of their own, and the datasets behind a failure were not reached.
        results = {name: result for name, result in results.items() if result["state"] != "QUEUED"}
    created = next((details_of(event) for event in events if event["event_type"] == "create_update"), {})
    return {
        "id": identifier,
        "cause": created.get("cause", ""),
        "started": events[0]["timestamp"],
        "seconds": _seconds(events[0], events[-1]),
        "state": state,
        "error": _error(states[-1]) if states else "",
        "rows": sum(each["rows"] or 0 for each in results.values()),
        "failed": sum(each["state"] == "FAILED" for each in results.values()),
        "datasets": results,
    }


def _results(events: Iterable[Event]) -> dict[str, dict[str, Any]]:
    """Return state, rows, seconds, expectations and technique by dataset; flows of a dataset are added up."""
    results: dict[str, dict[str, Any]] = {}
    started: dict[str, Event] = {}
    for event in events:
        name = dataset_of(event)
        if not name:
            continue
        details = details_of(event)
        result = results.setdefault(
            name,
            {"state": "", "rows": None, "deleted": None, "seconds": None, "dropped": None, "error": ""},
        )
        if event["event_type"] == "planning_information":
            result["technique"] = _technique(details)
        if event["event_type"] != "flow_progress":
            continue
        status = str(details.get("status", ""))
        _add_figures(result, details)
        if not details.get("metrics"):
            # One failed flow fails the dataset, whatever the others do.
            result["state"] = "FAILED" if result["state"] == "FAILED" else status
        result["error"] = result["error"] or _error(event)
        if status == "RUNNING":
            started.setdefault(name, event)
        if status in _DATASET_ENDS and name in started:
            result["seconds"] = _seconds(started[name], event)
    return {name: result for name, result in results.items() if result["state"]}


def _add_figures(result: dict[str, Any], details: Mapping[str, Any]) -> None:
    """Add rows and expectations of a flow's progress to the result of its dataset."""
    metrics = details.get("metrics") or {}
    if metrics:
        rows = metrics.get("num_output_rows", metrics.get("num_upserted_rows"))
        result["rows"] = _sum(result["rows"], rows)
        result["deleted"] = _sum(result["deleted"], metrics.get("num_deleted_rows"))
    quality = details.get("data_quality") or {}
    if quality:
        result["dropped"] = _sum(result["dropped"], quality.get("dropped_records"))
        result.setdefault("expectations", []).extend(
            {
                "name": each.get("name"),
                "passed": each.get("passed_records"),
                "failed": each.get("failed_records"),
            }
            for each in quality.get("expectations", ())
        )


def _technique(details: dict[str, Any]) -> str | None:
    for each in details.get("technique_information") or ():
        if each.get("is_chosen"):
            return str(each.get("maintenance_type", "")).removeprefix("MAINTENANCE_TYPE_")
    return None


def _datasets(updates: Iterable[Sequence[Event]]) -> list[dict[str, Any]]:
    """Return the datasets of the newest update that defined any, with schema, flows and inputs."""
    definitions = (_definitions(events) for events in reversed(list(updates)))
    return next((datasets for datasets in definitions if datasets), [])


def _definitions(events: Iterable[Event]) -> list[dict[str, Any]]:
    """Return the datasets that an update defined."""
    found: dict[str, dict[str, Any]] = {}
    for event in events:
        name, details = dataset_of(event), details_of(event)
        if event["event_type"] == "dataset_definition":
            found[name] = {
                "name": name,
                "kind": str(details.get("dataset_type", "")).lower(),
                "schema": [_column(field) for field in details.get("schema") or ()],
                "flows": [],
            }
        elif event["event_type"] == "flow_definition" and name in found:
            found[name]["flows"].append(
                {
                    "name": (event["origin"].get("flow_name") or "").rpartition(".")[2],
                    "type": details.get("flow_type", ""),
                    "inputs": [each.get("name") for each in details.get("input_datasets") or ()],
                    "lineage": _lineage(details),
                    "plan": str(details.get("explain_text") or "")[:_MAX_TEXT],
                }
            )
    for flow in [flow for dataset in found.values() for flow in dataset["flows"]]:
        flow["inputs"] = [_full_name(str(name), found) for name in flow["inputs"]]
        flow["lineage"]["tables"] = [_full_name(name, found) for name in flow["lineage"]["tables"]]
    return list(found.values())


def _lineage(details: dict[str, Any]) -> dict[str, Any]:
    """Return the tables that a flow reads, and by column its sources as (index of the table, column).

    >>> _lineage({"column_lineage": {"total": [["c.s.a", "x"], ["c.s.b", "y"], ["c.s.a", "z"]]}})
    {'tables': ['c.s.a', 'c.s.b'], 'columns': {'total': [(0, 'x'), (1, 'y'), (0, 'z')]}}
    """
    tables: dict[str, int] = {}
    columns = {
        str(column): [(tables.setdefault(str(table), len(tables)), str(name)) for table, name in sources]
        for column, sources in (details.get("column_lineage") or {}).items()
        if sources
    }
    return {"tables": list(tables), "columns": columns}


def _operators(events: Iterable[Event]) -> list[dict[str, Any]]:
    """Return the slowest operators of an update, the slowest first."""
    found = [
        each
        for event in events
        if event["event_type"] == "operator_metrics"
        for each in details_of(event).get("operators") or ()
    ]
    return [
        {
            "dataset": str(each.get("dataset") or ""),
            "operator": str(each.get("operator"))[:_MAX_OPERATOR],
            **{name: int(each[name]) for name in _OPERATOR_FIGURES if each.get(name) is not None},
        }
        for each in found[:_MAX_OPERATORS]
    ]


def _add_contents(datasets: Iterable[dict[str, Any]], warehouse: Path, *, rows: bool) -> None:
    """Add tags, and sample rows until the page is large enough, to the datasets that are tables."""
    left = _MAX_SAMPLES if rows else 0
    for dataset in datasets:
        tags, columns = read_tags(warehouse, dataset["name"])
        if tags:
            dataset["tags"] = tags
        for column in dataset["schema"]:
            if text := columns.get(str(column["name"]).lower()):
                column["tags"] = text
        sample = read_sample(warehouse, dataset["name"]) if left > 0 else None
        if sample is not None:
            dataset["sample"] = sample.as_json()
            left -= embedded_size(dataset["sample"])


def _full_name(name: str, datasets: Iterable[str]) -> str:
    """Return the full name of an input; flows name datasets as the code does, with one part or two.

    >>> _full_name("Silver", ["main.shop.silver"]), _full_name("other.silver", ["main.shop.silver"])
    ('main.shop.silver', 'other.silver')
    """
    known = list(datasets)
    if name in known:
        return name
    wanted = name.replace("`", "").lower()
    found = [each for each in known if f".{each.lower()}".endswith(f".{wanted}")]
    return found[0] if len(found) == 1 else name


def _column(field: dict[str, Any]) -> dict[str, Any]:
    kind = field.get("type")
    comment = (field.get("metadata") or {}).get("comment")
    shown = {"name": field.get("name"), "type": kind if isinstance(kind, str) else _type_name(kind)}
    return {**shown, "comment": comment} if comment else shown


def _type_name(kind: object) -> str:
    """Return a nested type as DDL writes it.

    >>> _type_name({"type": "array", "elementType": "long"})
    'array<long>'
    """
    if not isinstance(kind, dict):
        return str(kind)
    if kind.get("type") == "array":
        return f"array<{_type_name(kind.get('elementType'))}>"
    if kind.get("type") == "map":
        return f"map<{_type_name(kind.get('keyType'))}, {_type_name(kind.get('valueType'))}>"
    if kind.get("type") == "struct":
        inside = (f"{field.get('name')}: {_type_name(field.get('type'))}" for field in kind.get("fields", ()))
        return f"struct<{', '.join(inside)}>"
    return str(kind.get("type"))


def _shown(event: Event) -> dict[str, Any]:
    shown = {
        "time": event["timestamp"],
        "level": event.get("level", ""),
        "type": event["event_type"],
        "message": str(event.get("message", ""))[:_MAX_TEXT],
    }
    dataset = dataset_of(event)
    return {**shown, "dataset": dataset} if dataset else shown


def _error(event: Event) -> str:
    return error_of(event)[:_MAX_TEXT]


def _seconds(first: Event, last: Event) -> float | None:
    seconds = seconds_between(first["timestamp"], last["timestamp"])
    return None if seconds is None else round(seconds, 3)


def _sum(total: int | None, more: int | None) -> int | None:
    return total if more is None else (total or 0) + int(more)
