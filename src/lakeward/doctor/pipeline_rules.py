"""The findings on pipelines: from the planning information of events, and from checkpoints."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lakeward.doctor import finding_table as limits
from lakeward.doctor.diagnosis import Diagnosis, diagnose
from lakeward.report import StoredEvents, dataset_of, details_of, read_events, seconds_between

# Reasons that the next update has, too: they are in the query or its sources, not in what happened.
_LASTING = frozenset(
    {
        "PLAN_NOT_INCREMENTALIZABLE", "PLAN_NOT_DETERMINISTIC", "INPUT_NOT_IN_DELTA",
        "MAP_TYPE_NOT_SUPPORTED",
        "EXPECTATIONS_NOT_SUPPORTED", "ROW_TRACKING_NOT_ENABLED", "CHANGE_DATA_FEED_NOT_ENABLED",
        "INCREMENTAL_PLAN_REJECTED_BY_COST_MODEL",
    }
)  # fmt: skip
_UPDATES = 50


@dataclass
class _View:
    updates: int = 0
    recomputed: int = 0
    seconds: float = 0.0
    reason: str = ""


def stored_updates(storage: Path) -> StoredEvents:
    """Return the newest updates of a pipeline."""
    return read_events(storage, _UPDATES)


def written_datasets(stored: StoredEvents) -> set[str]:
    """Return the names of the datasets of the newest update, in lower case."""
    newest = next(reversed(stored.updates.values()), [])
    return {name.lower() for event in newest if (name := dataset_of(event))}


def recomputed_views(stored: StoredEvents) -> Iterator[Diagnosis]:
    """Yield the views of a pipeline that updates recompute for a lasting reason."""
    views: dict[str, _View] = defaultdict(_View)
    for events in stored.updates.values():
        _add_update(views, events)
    for name, view in views.items():
        if view.recomputed >= limits.RECOMPUTED_UPDATES:
            evidence: dict[str, float | str] = {
                "updates": view.updates,
                "recomputed": view.recomputed,
                "seconds": round(view.seconds, 1),
                "reason": view.reason,
            }
            yield diagnose("full-recompute", name, evidence)


def _add_update(views: MutableMapping[str, _View], events: Iterable[dict[str, Any]]) -> None:
    """Add an update to the views that it planned."""
    recomputing: set[str] = set()
    running: dict[str, str] = {}
    for event in events:
        name, details = dataset_of(event), details_of(event)
        if event["event_type"] == "planning_information" and name:
            view = views[name]
            view.updates += 1
            reason = _lasting_reason(details)
            if reason:
                recomputing.add(name)
                view.reason = reason
                view.recomputed += 1
        elif event["event_type"] == "flow_progress" and name in recomputing:
            status = details.get("status")
            if status == "RUNNING":
                running[name] = event["timestamp"]
            elif status == "COMPLETED" and name in running:
                views[name].seconds += seconds_between(running.pop(name), event["timestamp"]) or 0.0


def _lasting_reason(details: Mapping[str, Any]) -> str:
    """Return the first lasting reason of a complete recomputation; empty if another technique was chosen."""
    techniques = [each for each in details.get("technique_information") or () if isinstance(each, Mapping)]
    chosen = next((each.get("maintenance_type") for each in techniques if each.get("is_chosen")), "")
    if chosen != "MAINTENANCE_TYPE_COMPLETE_RECOMPUTE":
        return ""
    for technique in techniques:
        for issue in technique.get("incrementalization_issues") or ():
            if issue.get("issue_type") in _LASTING and issue.get("prevent_incrementalization", True):
                return str(issue.get("message") or issue["issue_type"])
    return ""


def grown_checkpoints(storage: Path) -> Iterator[Diagnosis]:
    """Yield the checkpoints below a folder that have very many files."""
    for folder, _, _ in os.walk(storage):
        offsets = Path(folder, "offsets")
        if not offsets.is_dir():
            continue
        batches = [int(each.name) for each in offsets.iterdir() if each.name.isdigit()]
        done = [each for each in Path(folder).glob("commits/*") if each.name.isdigit()]
        if len(batches) + len(done) >= limits.CHECKPOINT_FILES:
            subject = Path(folder).relative_to(storage).as_posix()
            evidence = {"files": len(batches) + len(done), "batches": max(batches)}
            yield diagnose("checkpoint-growth", subject, evidence)
