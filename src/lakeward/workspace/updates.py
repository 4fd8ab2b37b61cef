"""An update of a pipeline as the workspace keeps it: its state, its events, and the graph that it found."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Any

from lakeward.workspace.call import now
from lakeward.workspace.pipeline_events import events_of_progress, flow_events, update_event
from lakeward.workspace.store import Document, Store

__all__ = ["Recording"]


class Recording:
    """The update `update` of `pipeline`, written down as it goes on."""

    def __init__(self, store: Store, pipeline: Document, update: Document) -> None:
        self._store, self._pipeline, self._id = store, pipeline, str(update["update_id"])

    @classmethod
    def begin(
        cls, store: Store, pipeline: Document, *, cause: str, **facts: Any
    ) -> tuple[Document, Recording]:
        """A new update, which waits to begin."""
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
        recording._note(update_event(pipeline, recording._id, "QUEUED"))
        return update, recording

    def started(self) -> None:
        """Its process comes up."""
        self._moved("INITIALIZING")
        self._note(update_event(self._pipeline, self._id, "INITIALIZING"))

    def hear(self, progress: Mapping[str, Any]) -> None:
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
            self._store.put("graph", key, {"datasets": []})
        elif progress["state"] == "QUEUED":
            node = {name: progress[name] for name in ("kind", "inputs")} | {"name": progress["dataset"]}
            self._store.change("graph", key, lambda body: body["datasets"].append(node))

    def _moved(self, state: str, *, active: bool | None = None, **facts: Any) -> None:
        self._store.change("update", self._id, lambda body: body.update(state=state, **facts), active=active)

    def _note(self, event: Document) -> None:
        self._store.put("event", event["id"], event, parent=event["origin"]["pipeline_id"])
