"""Pipelines, their updates and events. Source: https://docs.databricks.com/api/workspace/pipelines"""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Any

from lakeward.standins.local_workspace import Failure, missing
from lakeward.workspace.call import ServerCall, now, page
from lakeward.workspace.orders import pipeline_order
from lakeward.workspace.permissions import forget, may, require
from lakeward.workspace.pipeline_events import selected
from lakeward.workspace.store import Document
from lakeward.workspace.updates import Recording
from lakeward.workspace.worker import Ending

__all__ = [
    "create",
    "delete",
    "edit",
    "get",
    "get_update",
    "graph",
    "list_events",
    "list_pipelines",
    "list_updates",
    "start_update",
    "stop",
]

_FLAGS = (
    *("refresh_selection", "full_refresh_selection", "full_refresh", "validate_only"),
    "reset_checkpoint_selection",
)


def create(call: ServerCall) -> Any:
    """A new pipeline."""
    spec = _spec(call.body)
    same = [each for each in call.store.find("pipeline") if each["spec"].get("name") == spec["name"]]
    if same and not call.flag("allow_duplicate_names"):
        message = f"The pipeline name '{spec['name']}' is already used by another pipeline."
        raise Failure(409, "RESOURCE_CONFLICT", message)
    pipeline_id = str(uuid.uuid4())
    pipeline = {
        "pipeline_id": pipeline_id,
        "creator_user_name": call.asker,
        "run_as_user_name": _run_as(spec, call.asker),
        "last_modified": now(),
        "spec": {**spec, "id": pipeline_id},
    }
    call.store.put("pipeline", pipeline_id, pipeline)
    return {"pipeline_id": pipeline_id}


def get(call: ServerCall) -> Any:
    """A pipeline with its settings and newest updates."""
    pipeline = _pipeline(call, "CAN_VIEW")
    return _shown(call, pipeline)


def list_pipelines(call: ServerCall) -> Any:
    """All pipelines that the user may see; `filter` is `name LIKE '…'`."""
    pipelines = [
        each
        for each in call.store.find("pipeline", newest_first=True)
        if may(call, "pipelines", each["pipeline_id"], "CAN_VIEW")
    ]
    wanted = call.query.get("filter", "")
    if wanted:
        name = wanted.partition("'")[2].rpartition("'")[0].strip("%")
        pipelines = [each for each in pipelines if name in str(each["spec"].get("name"))]
    shown = []
    for each in pipelines:
        row = _shown(call, each)
        row.pop("spec")
        shown.append(row)
    return page(call, shown, "statuses", default=25)


def edit(call: ServerCall) -> None:
    """Other settings; what is left out is gone."""
    pipeline = _pipeline(call, "CAN_MANAGE")
    pipeline_id = pipeline["pipeline_id"]
    spec = {**_spec(call.body), "id": pipeline_id}

    def change(body: Document) -> None:
        body.update(spec=spec, last_modified=now(), run_as_user_name=_run_as(spec, body["run_as_user_name"]))

    call.store.change("pipeline", pipeline_id, change)


def delete(call: ServerCall) -> None:
    """Forget a pipeline; its tables stay."""
    pipeline_id = _pipeline(call, "CAN_MANAGE")["pipeline_id"]
    for update in call.store.find("update", parent=pipeline_id, active=True):
        _cancel(call, update)
    call.store.delete("pipeline", pipeline_id)
    forget(call, "pipelines", pipeline_id)


def start_update(call: ServerCall) -> Any:
    """Start an update; one at a time."""
    pipeline = _pipeline(call, "CAN_RUN")
    pipeline_id = pipeline["pipeline_id"]
    if call.store.find("update", parent=pipeline_id, active=True):
        raise Failure(
            409, "RESOURCE_CONFLICT", f"An active update already exists for pipeline {pipeline_id}."
        )
    asked = {name: call.body[name] for name in _FLAGS if name in call.body}
    update, recording = Recording.begin(call.store, pipeline, cause="API_CALL", **asked)
    _launch(call, pipeline, update, recording)
    return {"update_id": update["update_id"]}


def stop(call: ServerCall) -> None:
    """Stop the active update, if there is one."""
    pipeline_id = _pipeline(call, "CAN_RUN")["pipeline_id"]
    for update in call.store.find("update", parent=pipeline_id, active=True):
        call.store.change("update", update["update_id"], lambda body: body.update(state="STOPPING"))
        _cancel(call, update)


def _cancel(call: ServerCall, update: Document) -> None:
    # One that a job's task makes goes with the run.
    call.office.runner.cancel(update.get("job_run_id") or update["update_id"])


def get_update(call: ServerCall) -> Any:
    """An update as it stands."""
    pipeline_id = _pipeline(call, "CAN_VIEW")["pipeline_id"]
    update_id = call.at.partition("/")[2]
    update = call.store.get("update", update_id)
    if update is None or update["pipeline_id"] != pipeline_id:
        raise missing(f"The update {update_id} of pipeline {pipeline_id}")
    return {"update": update}


def list_updates(call: ServerCall) -> Any:
    """The updates of a pipeline, the newest first."""
    updates = call.store.find("update", parent=_pipeline(call, "CAN_VIEW")["pipeline_id"], newest_first=True)
    return page(call, updates, "updates", default=5)


def list_events(call: ServerCall) -> Any:
    """The events of a pipeline, the newest first; Raises Failure for a filter that is not understood."""
    pipeline = _pipeline(call, "CAN_VIEW")
    events = call.store.find("event", parent=pipeline["pipeline_id"], newest_first=True)
    if "timestamp asc" in call.query.get("order_by", ""):
        events.reverse()
    return page(call, selected(events, call.query.get("filter", "")), "events", default=25, most=250)


def graph(call: ServerCall) -> Any:
    """The datasets of a pipeline and what each reads, as its newest update found them."""
    pipeline_id = _pipeline(call, "CAN_VIEW")["pipeline_id"]
    return call.store.get("graph", pipeline_id) or {"datasets": []}


def _launch(call: ServerCall, pipeline: Document, update: Document, recording: Recording) -> None:
    office, update_id = call.office, update["update_id"]
    flags = {
        "refresh": update.get("refresh_selection") or [],
        "full_refresh": update.get("full_refresh_selection") or [],
        "full_refresh_all": bool(update.get("full_refresh")),
        "reset_checkpoints": update.get("reset_checkpoint_selection") or [],
        "dry_run": bool(update.get("validate_only")),
    }

    def hear(event: Mapping[str, Any]) -> None:
        if "progress" in event:
            recording.hear(event["progress"])

    def ended(ending: Ending) -> None:
        recording.ended(ending.result or {}, canceled=ending.canceled, reason=ending.reason)

    office.runner.start(
        update_id,
        pipeline_order(call.environment.settings(), pipeline, flags),
        began=recording.started,
        hear=hear,
        ended=ended,
    )


def _pipeline(call: ServerCall, level: str) -> Document:
    """The pipeline of the request, where the user has this level on it."""
    pipeline_id = call.at.partition("/")[0]
    pipeline = call.store.get("pipeline", pipeline_id)
    if pipeline is None:
        raise Failure(404, "RESOURCE_DOES_NOT_EXIST", f"The specified pipeline {pipeline_id} was not found.")
    require(call, "pipelines", pipeline_id, level)
    return pipeline


def _spec(body: Document) -> Document:
    spec = {name: value for name, value in body.items() if name not in ("allow_duplicate_names", "dry_run")}
    if not spec.get("name"):
        raise Failure(400, "INVALID_PARAMETER_VALUE", "A pipeline needs a name.")
    return spec


def _run_as(spec: Document, otherwise: str) -> str:
    run_as = spec.get("run_as") or {}
    return str(run_as.get("user_name") or run_as.get("service_principal_name") or otherwise)


def _shown(call: ServerCall, pipeline: Document) -> Document:
    updates = call.store.find("update", parent=pipeline["pipeline_id"], newest_first=True, limit=5)
    active = bool(updates) and updates[0]["state"] not in ("COMPLETED", "FAILED", "CANCELED")
    state = "RUNNING" if active else "FAILED" if updates and updates[0]["state"] == "FAILED" else "IDLE"
    return {
        **pipeline,
        "name": pipeline["spec"].get("name"),
        "state": state,
        "latest_updates": [
            {name: each[name] for name in ("update_id", "state", "creation_time")} for each in updates
        ],
    }
