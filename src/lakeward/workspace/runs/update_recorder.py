"""Updates of pipelines, alone or as tasks: state, graph, events, and the filters of the events API."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from lakeward.databricks_shims.local_workspace import invalid_parameter
from lakeward.update_states import UPDATE_ENDS
from lakeward.workspace.state.store import Document, Store, now, time_text


class UpdateRecorder:
    """Records the progress of an update: its state, its events and the pipeline's graph."""

    def __init__(self, store: Store, pipeline: Document, update: Document) -> None:
        self._store, self._pipeline, self._id = store, pipeline, str(update["update_id"])

    @classmethod
    def begin(
        cls, store: Store, pipeline: Document, *, cause: str, **facts: object
    ) -> tuple[Document, UpdateRecorder]:
        """Create an update, which waits to begin."""
        update = {
            "update_id": str(uuid.uuid4()),
            "pipeline_id": pipeline["pipeline_id"],
            "state": "QUEUED",
            "cause": cause,
            "creation_time": now(),
            **facts,
        }
        store.put("update", update["update_id"], update, parent=pipeline["pipeline_id"], active=True)
        recorder = cls(store, pipeline, update)
        recorder._add_event(created_event(pipeline, recorder._id, cause, facts))
        recorder._add_event(update_event(pipeline, recorder._id, "QUEUED"))
        return update, recorder

    def record_start(self) -> bool:
        """Record that its process starts; returns False for an update that has ended meanwhile."""
        update = self._store.get("update", self._id)
        if update is None or update["state"] in UPDATE_ENDS:
            return False
        self._set_state("INITIALIZING")
        self._add_event(update_event(self._pipeline, self._id, "INITIALIZING"))
        return True

    def record_progress(self, progress: Mapping[str, Any]) -> None:
        """Record one step of the update."""
        self._update_graph(progress)
        if progress["state"] == "RUNNING":
            self._set_state("RUNNING")
        for event in events_of_progress(self._pipeline, self._id, progress):
            self._add_event(event)

    def record_end(self, result: Mapping[str, Any], *, canceled: bool = False, reason: str = "") -> None:
        """Record the end: `result` is the runner's, `reason` explains a missing one."""
        state = "CANCELED" if canceled else str(result.get("state") or "FAILED")
        for event in flow_events(self._pipeline, self._id, result):
            self._add_event(event)
        failed = [each for each in result.get("datasets") or () if each.get("error")]
        error = result.get("refused") or result.get("error") or reason
        error = error or (f"{failed[0]['name']}: {failed[0]['error']}" if failed else "")
        failure = error if state == "FAILED" else ""
        self._add_event(update_event(self._pipeline, self._id, state, failure))
        self._set_state(state, active=False, datasets=result.get("datasets") or [], failure=failure)

    def _update_graph(self, progress: Mapping[str, Any]) -> None:
        key = self._pipeline["pipeline_id"]
        if progress["state"] == "PLANNING" and not progress["dataset"]:
            self._store.put("graph", key, {"datasets": []}, retry=True)
        elif progress["state"] == "QUEUED":
            node = {name: progress[name] for name in ("kind", "inputs")} | {"name": progress["dataset"]}
            self._store.change("graph", key, lambda body: body["datasets"].append(node), retry=True)

    def _set_state(self, state: str, *, active: bool | None = None, **facts: object) -> None:
        self._store.change(
            "update", self._id, lambda body: body.update(state=state, **facts), active=active, retry=True
        )

    def _add_event(self, event: Document) -> None:
        self._store.put("event", event["id"], event, parent=event["origin"]["pipeline_id"], retry=True)


class TaskUpdates:
    """The updates of one run, by the task that makes them."""

    def __init__(self, store: Store, run_id: int) -> None:
        self._store, self._run_id = store, run_id
        self._open: dict[tuple[str, str], UpdateRecorder] = {}

    def on_event(self, task: str, pipeline_id: str, progress: Mapping[str, Any]) -> None:
        """Record a step of the update that `task` makes of a pipeline; the first one begins it."""
        recorder = self._open.get((task, pipeline_id))
        if recorder is None:
            pipeline = self._store.get("pipeline", pipeline_id)
            if pipeline is None:  # deleted meanwhile
                return
            _, recorder = UpdateRecorder.begin(
                self._store, pipeline, cause="JOB_TASK", job_run_id=self._run_id
            )
            recorder.record_start()
            self._open[task, pipeline_id] = recorder
        recorder.record_progress(progress)

    def task_changed(self, task: str, state: str, update: Mapping[str, Any] | None) -> None:
        """Close the updates of a task that has started again or ended; `update` is the result of its own."""
        how = "is tried again" if state in ("RUNNING", "WAITING_FOR_RETRY") else f"ended as {state}"
        self._close(task, update or {}, canceled=state == "CANCELED", reason=f"The task {task} {how}.")

    def close(self, *, canceled: bool, reason: str) -> None:
        """Close all updates at the end of the run."""
        for task in {task for task, _ in self._open}:
            self._close(task, {}, canceled=canceled, reason=reason)

    def _close(self, task: str, update: Mapping[str, Any], *, canceled: bool, reason: str) -> None:
        for key in [key for key in self._open if key[0] == task]:
            self._open.pop(key).record_end(update, canceled=canceled, reason=reason)


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


def filter_events(events: Sequence[Document], wanted: str) -> list[Document]:
    """Return the events that a filter such as `update_id = '…' AND level in ('ERROR')` lets through.

    >>> filter_events([{"level": "INFO", "timestamp": "", "id": "1"}], "level='ERROR'")
    []
    """
    if not wanted.strip():
        return list(events)
    conditions = []
    for part in _AND.split(wanted.strip()):
        match = _FILTER.fullmatch(part)
        if match is None:
            raise invalid_parameter(f"The filter {part!r} is not understood.")
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
        "timestamp": time_text(now()),
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
