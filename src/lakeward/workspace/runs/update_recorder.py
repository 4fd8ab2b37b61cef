"""Record of a pipeline update: its state, its events and the pipeline's graph."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Any

from lakeward.workspace.runs.pipeline_events import (
    created_event,
    events_of_progress,
    flow_events,
    update_event,
)
from lakeward.workspace.state.store import Document, Store, now

ENDED = ("COMPLETED", "FAILED", "CANCELED")
"""The final states of an update."""


class UpdateRecorder:
    """Records the progress of an update: its state, its events and the pipeline's graph."""

    def __init__(self, store: Store, pipeline: Document, update: Document) -> None:
        self._store, self._pipeline, self._id = store, pipeline, str(update["update_id"])

    @classmethod
    def begin(
        cls, store: Store, pipeline: Document, *, cause: str, **facts: Any
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
        recording = cls(store, pipeline, update)
        recording._note(created_event(pipeline, recording._id, cause, facts))
        recording._note(update_event(pipeline, recording._id, "QUEUED"))
        return update, recording

    def started(self) -> bool:
        """Record that its process starts; returns False for an update that has ended meanwhile."""
        update = self._store.get("update", self._id)
        if update is None or update["state"] in ENDED:
            return False
        self._moved("INITIALIZING")
        self._note(update_event(self._pipeline, self._id, "INITIALIZING"))
        return True

    def on_event(self, progress: Mapping[str, Any]) -> None:
        """One step of it."""
        self._draw(progress)
        if progress["state"] == "RUNNING":
            self._moved("RUNNING")
        for event in events_of_progress(self._pipeline, self._id, progress):
            self._note(event)

    def ended(self, result: Mapping[str, Any], *, canceled: bool = False, reason: str = "") -> None:
        """It is over: `result` is what the runner says of it, `reason` why it could say nothing."""
        state = "CANCELED" if canceled else str(result.get("state") or "FAILED")
        for event in flow_events(self._pipeline, self._id, result):
            self._note(event)
        failed = [each for each in result.get("datasets") or () if each.get("error")]
        error = result.get("refused") or result.get("error") or reason
        error = error or (f"{failed[0]['name']}: {failed[0]['error']}" if failed else "")
        self._note(update_event(self._pipeline, self._id, state, error if state == "FAILED" else ""))
        self._moved(state, active=False, datasets=result.get("datasets") or [])

    def _draw(self, progress: Mapping[str, Any]) -> None:
        key = self._pipeline["pipeline_id"]
        if progress["state"] == "PLANNING" and not progress["dataset"]:
            self._store.put("graph", key, {"datasets": []}, retry=True)
        elif progress["state"] == "QUEUED":
            node = {name: progress[name] for name in ("kind", "inputs")} | {"name": progress["dataset"]}
            self._store.change("graph", key, lambda body: body["datasets"].append(node), retry=True)

    def _moved(self, state: str, *, active: bool | None = None, **facts: Any) -> None:
        self._store.change(
            "update", self._id, lambda body: body.update(state=state, **facts), active=active, retry=True
        )

    def _note(self, event: Document) -> None:
        self._store.put("event", event["id"], event, parent=event["origin"]["pipeline_id"], retry=True)
