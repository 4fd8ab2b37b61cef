"""Pipelines, their updates and events. Source: https://docs.databricks.com/api/workspace/pipelines"""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable

from lakeward.databricks_shims.local_workspace import (
    MAX_INTEGER,
    ApiError,
    Route,
    exclusively,
    invalid_parameter,
    is_like,
    missing,
    paginate,
    paginate_query,
)
from lakeward.update_states import UPDATE_ENDS
from lakeward.workspace.api.job_validation import check_environments
from lakeward.workspace.api.permissions import delete_permissions, has_permission, run_as_name
from lakeward.workspace.api.pipeline_records import (
    StoredPipeline,
    require_pipeline,
    require_stored,
    standalone_pipelines,
)
from lakeward.workspace.api.request_types import parse_object
from lakeward.workspace.context import ServerRequest
from lakeward.workspace.runs.run_messages import RunMessage
from lakeward.workspace.runs.run_process import ProcessResult
from lakeward.workspace.runs.run_spec import build_pipeline_update_spec
from lakeward.workspace.runs.update_recorder import UpdateRecorder, filter_events
from lakeward.workspace.state.store import Document, now

_FLAGS = (
    *("refresh_selection", "full_refresh_selection", "full_refresh", "validate_only"),
    "reset_checkpoint_selection",
)
_SELECTED_BY_PATH = ("refresh_selection_by_path", "full_refresh_selection_by_path")
_MAX_RESULTS = 100
_FILTER = re.compile(
    r"\s*(?:name\s+LIKE\s+'(?P<name>[^']*)'|notebook\s*=\s*'(?P<path>[^']*)')\s*", re.IGNORECASE
)
_NO_SETTINGS = ("allow_duplicate_names", "dry_run", "expected_last_modified", "pipeline_id")


@exclusively
def create(call: ServerRequest) -> Document:
    """Create a pipeline."""
    spec = _spec(call, "pipelines/create")
    _refuse_duplicate(call, spec)
    if call.flag("dry_run"):
        return {"effective_settings": spec}
    pipeline_id = str(uuid.uuid4())
    pipeline = {
        "pipeline_id": pipeline_id,
        "creator_user_name": call.caller,
        "run_as_user_name": run_as_name(spec, call.caller),
        "last_modified": now(),
        "spec": {**spec, "id": pipeline_id},
    }
    call.store.put("pipeline", pipeline_id, pipeline)
    return {"pipeline_id": pipeline_id}


def get(call: ServerRequest) -> Document:
    """Return a pipeline with its settings and newest updates."""
    return require_pipeline(call, "CAN_VIEW").to_json()


def list_pipelines(call: ServerRequest) -> Document:
    """Return all pipelines that the user may see and that match `filter`."""
    matches = compile_filter(call.query.get("filter", ""))
    call.number("max_results", 0, most=_MAX_RESULTS)
    standalone = (each.to_json() for each in standalone_pipelines(call.environment.settings()))
    stored = (
        StoredPipeline(call.store, each).to_json()
        for each in call.store.find("pipeline", newest_first=True)
        if matches(each["spec"]) and has_permission(call, "pipelines", each["pipeline_id"], "CAN_VIEW")
    )
    documents = [*(each for each in standalone if matches(each["spec"])), *stored]
    shown = [{key: value for key, value in each.items() if key != "spec"} for each in documents]
    return paginate(call, shown, "statuses", default=25)


def compile_filter(text: str) -> Callable[[Document], bool]:
    """Return a predicate over settings for `name LIKE '…'` or `notebook='…'`.

    Raises ApiError for a filter that the platform does not have.

    >>> compile_filter("name LIKE 'a%'")({"name": "ab"}), compile_filter("name LIKE 'b'")({"name": "ab"})
    (True, False)
    """
    if not text.strip():
        return lambda _: True
    found = _FILTER.fullmatch(text)
    if found is None:
        raise invalid_parameter(
            f"The filter {text[:100]!r} is not supported: use name LIKE '…' or notebook='…'."
        )
    name, path = found["name"], found["path"]
    if name is not None:
        return lambda spec: is_like(str(spec.get("name")), name)
    return lambda spec: any(
        (each.get("notebook") or {}).get("path") == path for each in spec.get("libraries") or ()
    )


@exclusively
def edit(call: ServerRequest) -> None:
    """Replace all settings of a pipeline. Raises ApiError if another client has changed them."""
    pipeline = require_stored(call, "CAN_MANAGE").body
    pipeline_id = pipeline["pipeline_id"]
    spec = {**_spec(call, "pipelines/edit"), "id": pipeline_id}
    if spec["name"] != pipeline["spec"].get("name"):
        _refuse_duplicate(call, spec)
    if pipeline["last_modified"] > call.number("expected_last_modified", MAX_INTEGER):
        message = f"The settings of pipeline {pipeline_id} were modified since expected_last_modified."
        raise ApiError(409, "RESOURCE_CONFLICT", message)

    def change(body: Document) -> None:
        user = run_as_name(spec, body["run_as_user_name"])
        body.update(spec=spec, last_modified=now(), run_as_user_name=user)

    call.store.change("pipeline", pipeline_id, change)


def delete(call: ServerRequest) -> None:
    """Delete a pipeline; its tables are kept."""
    pipeline_id = require_stored(call, "CAN_MANAGE").pipeline_id
    for update in call.store.find("update", parent=pipeline_id, active=True):
        _cancel(call, update)
    call.store.delete("pipeline", pipeline_id)
    delete_permissions(call, "pipelines", pipeline_id)


@exclusively
def start_update(call: ServerRequest) -> Document:
    """Start an update; one at a time."""
    pipeline = require_stored(call, "CAN_RUN").body
    pipeline_id = pipeline["pipeline_id"]
    if call.store.find("update", parent=pipeline_id, active=True):
        raise ApiError(
            409, "RESOURCE_CONFLICT", f"An active update already exists for pipeline {pipeline_id}."
        )
    request = parse_object(call.body, "pipelines/start-update")
    by_path = [name for name in _SELECTED_BY_PATH if request.get(name)]
    if by_path:
        raise ApiError(
            501,
            "NOT_IMPLEMENTED",
            f"{by_path[0]} is not supported here. Name the tables in {by_path[0].removesuffix('_by_path')}.",
        )
    options = {name: request[name] for name in _FLAGS if name in request}
    update, recorder = UpdateRecorder.begin(call.store, pipeline, cause="API_CALL", **options)
    _launch(call, pipeline, update, recorder)
    return {"update_id": update["update_id"]}


def stop(call: ServerRequest) -> None:
    """Stop the active update, if there is one."""
    pipeline_id = require_pipeline(call, "CAN_RUN").pipeline_id
    for update in call.store.find("update", parent=pipeline_id, active=True):
        call.store.change("update", update["update_id"], _stopping, retry=True)
        _cancel(call, update)


def _stopping(update: Document) -> None:
    if update["state"] not in UPDATE_ENDS:
        update["state"] = "STOPPING"


def _cancel(call: ServerRequest, update: Document) -> None:
    # One that a job's task makes goes with the run.
    if not call.context.runner.cancel(update.get("job_run_id") or update["update_id"]):
        pipeline = call.store.get("pipeline", update["pipeline_id"])
        if pipeline is not None:
            UpdateRecorder(call.store, pipeline, update).record_end({}, canceled=True)


def get_update(call: ServerRequest) -> Document:
    """Return the current state of an update."""
    pipeline = require_pipeline(call, "CAN_VIEW")
    update_id = call.path_parameter.partition("/")[2]
    update = pipeline.find_update(update_id)
    if update is None:
        raise missing(f"The update {update_id} of pipeline {pipeline.pipeline_id}")
    return {"update": update}


def list_updates(call: ServerRequest) -> Document:
    """Return the updates of a pipeline, the newest first."""
    return paginate(call, require_pipeline(call, "CAN_VIEW").updates(), "updates", default=5)


def list_events(call: ServerRequest) -> Document:
    """Return the events of a pipeline, newest first. Raises ApiError for an unknown filter."""
    newest_first = "timestamp asc" not in call.query.get("order_by", "")
    pipeline = require_pipeline(call, "CAN_VIEW")
    wanted = call.query.get("filter", "")
    if wanted.strip():
        found = filter_events(pipeline.events(newest_first=newest_first), wanted)
        return paginate(call, found, "events", default=25, most=250)

    def stored(limit: int, offset: int) -> list[Document]:
        return pipeline.events(newest_first=newest_first, limit=limit, offset=offset)

    return paginate_query(call, stored, "events", default=25, most=250)


def graph(call: ServerRequest) -> Document:
    """Return the datasets of a pipeline and what each reads, as its newest update found them."""
    pipeline_id = require_stored(call, "CAN_VIEW").pipeline_id
    return call.store.get("graph", pipeline_id) or {"datasets": []}


def _launch(call: ServerRequest, pipeline: Document, update: Document, recorder: UpdateRecorder) -> None:
    context, update_id = call.context, update["update_id"]
    flags = {
        "refresh": update.get("refresh_selection") or [],
        "full_refresh": update.get("full_refresh_selection") or [],
        "full_refresh_all": bool(update.get("full_refresh")),
        "reset_checkpoints": update.get("reset_checkpoint_selection") or [],
        "dry_run": bool(update.get("validate_only")),
    }

    def on_event(event: RunMessage) -> None:
        if "progress" in event:
            recorder.record_progress(event["progress"])

    def ended(ending: ProcessResult) -> None:
        recorder.record_end(ending.result or {}, canceled=ending.canceled, reason=ending.reason)

    try:
        context.runner.start(
            update_id,
            build_pipeline_update_spec(call.environment.settings(), pipeline, flags),
            began=recorder.record_start,
            on_event=on_event,
            ended=ended,
        )
    except Exception as error:  # noqa: BLE001  # the update is recorded: it has to end
        context.report_fault(error)
        recorder.record_end({}, reason=f"The update could not be started: {type(error).__name__}: {error}")


def _spec(call: ServerRequest, request: str) -> Document:
    """Return the settings of a request. Raises ApiError for those that the platform refuses."""
    given = parse_object(call.body, request)
    spec = {name: value for name, value in given.items() if name not in _NO_SETTINGS}
    if not spec.get("name"):
        raise invalid_parameter("A pipeline needs a name.")
    check_environments(spec.get("clusters") or ())
    return spec


def _refuse_duplicate(call: ServerRequest, spec: Document) -> None:
    same = any(each["spec"].get("name") == spec["name"] for each in call.store.find("pipeline"))
    if same and not call.flag("allow_duplicate_names"):
        message = f"The pipeline name '{spec['name']}' is already used by another pipeline."
        raise ApiError(409, "RESOURCE_CONFLICT", message)


ROUTES = (
    Route("GET", "/api/2.0/lakeward/graph/{}", graph),
    Route("GET", "/api/2.0/pipelines", list_pipelines),
    Route("POST", "/api/2.0/pipelines", create),
    Route("GET", "/api/2.0/pipelines/{}", get),
    Route("PUT", "/api/2.0/pipelines/{}", edit),
    Route("DELETE", "/api/2.0/pipelines/{}", delete),
    Route("GET", "/api/2.0/pipelines/{}/updates", list_updates),
    Route("POST", "/api/2.0/pipelines/{}/updates", start_update),
    Route("GET", "/api/2.0/pipelines/{}/updates/{}", get_update),
    Route("POST", "/api/2.0/pipelines/{}/stop", stop),
    Route("GET", "/api/2.0/pipelines/{}/events", list_events),
)
