"""SQL alerts: a query on a schedule, whose result is compared with a threshold.

With `--with-schedules` the query runs by the schedule, and the alert has the state that its result gives.
No notification is sent.
Source: https://docs.databricks.com/api/workspace/alertsv2
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

from lakeward.databricks_shims.local_workspace import Route, exclusively, invalid_parameter, paginate
from lakeward.jobs import ALERT_ERROR, ALERT_UNKNOWN, alert_state
from lakeward.workspace.api.job_validation import check_cron
from lakeward.workspace.api.request_types import parse_object
from lakeward.workspace.api.statements import read_rows, submit_statement
from lakeward.workspace.api.trash import ACTIVE, Trash
from lakeward.workspace.api.update_mask import copy_field, read_update_mask
from lakeward.workspace.api.warehouses import require_warehouse
from lakeward.workspace.context import ServerRequest
from lakeward.workspace.state.store import Document, Store, now, time_text

KIND = "alert"
PATH = "/api/2.0/alerts"
_REQUIRED = ("display_name", "query_text", "warehouse_id", "evaluation", "schedule")
_SETTABLE = (
    *_REQUIRED,
    *("custom_description", "custom_summary", "custom_template_format", "parameters", "parent_path"),
    *("run_as", "run_as_user_name"),
)
_TRASH = Trash(KIND, "alert", "DELETED")


def list_alerts(call: ServerRequest) -> Document:
    """List the alerts that are not in the trash."""
    return paginate(call, _TRASH.active_records(call.store), "alerts", default=100)


@exclusively
def create(call: ServerRequest) -> Document:
    """Keep an alert; it is UNKNOWN until it is evaluated."""
    given = _read(call)
    for name in _REQUIRED:
        if not given.get(name):
            raise invalid_parameter(f"Missing required field: {name}")
    _check(call, given)
    created = time_text(now())
    alert = {
        "parent_path": f"/Workspace/Users/{call.caller}",
        "run_as_user_name": call.caller,
        **given,
        "id": str(uuid.uuid4()),
        "lifecycle_state": ACTIVE,
        "owner_user_name": call.caller,
        "effective_run_as": given.get("run_as") or {"user_name": call.caller},
        "create_time": created,
        "update_time": created,
    }
    alert["evaluation"] = {**given["evaluation"], "state": ALERT_UNKNOWN}
    call.store.put(KIND, alert["id"], alert)
    return alert


def get(call: ServerRequest) -> Document:
    """Return an alert; one in the trash has the state DELETED."""
    return _TRASH.find_record(call)


@exclusively
def update(call: ServerRequest) -> Document:
    """Change the fields that `update_mask` names; `*` is all."""
    alert, given = _TRASH.require_active(call), _read(call)
    mask = call.text("update_mask")
    changed = dict(alert)
    for path in read_update_mask(mask, _SETTABLE, resource="an alert", declared_type="sql.AlertV2"):
        if path in given or path not in _REQUIRED:
            copy_field(given, changed, path)
    _check(call, changed)
    if changed["evaluation"] is not alert["evaluation"]:
        changed["evaluation"] = {**changed["evaluation"], "state": ALERT_UNKNOWN}
    changed["update_time"] = time_text(now())
    call.store.put(KIND, alert["id"], changed)
    return changed


@exclusively
def trash(call: ServerRequest) -> None:
    """Move an alert to the trash, where it is not evaluated; `purge` removes it for good."""
    if call.flag("purge"):
        call.store.delete(KIND, _TRASH.find_record(call)["id"])
    else:
        _TRASH.add(call.store, _TRASH.require_active(call))


def schedules(store: Store) -> Iterator[Document]:
    """Yield the schedules of all alerts, in the form of jobs."""
    for alert in _TRASH.active_records(store):
        schedule = dict(alert["schedule"])
        schedule["quartz_cron_expression"] = schedule.pop("quartz_cron_schedule")
        yield {"job_id": alert["id"], "settings": {"schedule": schedule}}


def evaluate(call: ServerRequest, alert_id: str) -> None:
    """Run the query of an alert and store the state that its result gives, once the query has ended."""
    alert = call.store.get(KIND, alert_id)
    if alert is None:
        return
    request = {
        "statement": alert["query_text"],
        "warehouse_id": alert["warehouse_id"],
        "parameters": [
            {name: each[name] for name in ("name", "value", "type") if each.get(name) is not None}
            for each in alert.get("parameters") or ()
        ],
    }

    def ended(statement: Document) -> None:
        state = statement["status"]["state"]
        if state in ("SUCCEEDED", "FAILED"):
            call.store.change(KIND, alert_id, lambda body: _evaluated(call, body, statement), retry=True)

    submit_statement(replace(call, data=json.dumps(request).encode()), on_end=ended)


def _evaluated(call: ServerRequest, alert: Document, statement: Document) -> None:
    state = ALERT_ERROR
    if statement["status"]["state"] == "SUCCEEDED":
        with suppress(OSError, ValueError):
            columns = statement["manifest"]["schema"].get("columns") or []
            state = alert_state(alert["evaluation"], columns, read_rows(call, statement))
    alert["evaluation"] = {**alert["evaluation"], "state": state, "last_evaluated_at": time_text(now())}


def _read(call: ServerRequest) -> Document:
    given = parse_object(call.body, "sql.AlertV2")
    return {name: given[name] for name in _SETTABLE if name in given}


def _check(call: ServerRequest, alert: Document) -> None:
    require_warehouse(call, alert["warehouse_id"])
    evaluation, schedule = alert["evaluation"], alert["schedule"]
    if not (evaluation.get("source") or {}).get("name") or not evaluation.get("comparison_operator"):
        raise invalid_parameter("evaluation needs the name of its source and a comparison_operator.")
    for name in ("quartz_cron_schedule", "timezone_id"):
        if not schedule.get(name):
            raise invalid_parameter(f"Missing required field: schedule.{name}")
    check_cron(schedule["quartz_cron_schedule"], schedule["timezone_id"])


ROUTES = (
    Route("GET", PATH, list_alerts),
    Route("POST", PATH, create),
    Route("GET", f"{PATH}/{{}}", get),
    Route("PATCH", f"{PATH}/{{}}", update),
    Route("DELETE", f"{PATH}/{{}}", trash),
)
