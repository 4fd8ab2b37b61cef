"""SQL warehouses: records that all run statements in the one process of the local warehouse.

The warehouse `local` always exists. Others are running as soon as they are created, and start again with
their next statement; sizes and limits of clusters are kept and not applied.

Source: https://docs.databricks.com/api/workspace/warehouses
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from lakeward.bundle import is_placeholder
from lakeward.databricks_shims.local_workspace import ApiError, Route, exclusively, invalid_parameter, missing
from lakeward.workspace.api.fields import read_fields, types_of
from lakeward.workspace.api.permissions import delete_permissions, require
from lakeward.workspace.context import ServerRequest
from lakeward.workspace.identifiers import WAREHOUSE_ID, WAREHOUSE_PREFIX
from lakeward.workspace.state.store import Document

_KIND, _ACL = "warehouse", "warehouses"
_LOCAL_NAME = "local"
_FIELDS = types_of("warehouse")
_CHOICES = {
    "cluster_size": (
        *("2X-Small", "X-Small", "Small", "Medium", "Large", "X-Large", "2X-Large", "3X-Large", "4X-Large"),
        "5X-Large",
    ),
    "warehouse_type": ("TYPE_UNSPECIFIED", "CLASSIC", "PRO", "REALTIME"),
    "spot_instance_policy": ("POLICY_UNSPECIFIED", "COST_OPTIMIZED", "RELIABILITY_OPTIMIZED"),
}
_DEFAULTS = {
    "auto_stop_mins": 120,
    "min_num_clusters": 1,
    "enable_photon": True,
    "enable_serverless_compute": False,
    "warehouse_type": "CLASSIC",
}
_PLATFORM_ID = re.compile(r"[0-9a-f]{16}")
_LONGEST_NAME, _SHORTEST_STOP, _MOST_CLUSTERS, _MOST_MINIMUM = 99, 10, 40, 30


def list_warehouses(call: ServerRequest) -> Document:
    """List the local warehouse and those that were created."""
    created = (_shown(call, each) for each in call.store.find(_KIND))
    return {"warehouses": [_local(call), *created]}


def get(call: ServerRequest) -> Document:
    """Describe a warehouse."""
    key = call.path_parameter
    return _local(call, key) if _is_local(key) else _shown(call, _created(call, key))


@exclusively
def create(call: ServerRequest) -> Document:
    """Create a warehouse; its process starts with the first statement."""
    key = f"{WAREHOUSE_PREFIX}{secrets.token_hex(4)}"
    settings = _settings(call)
    _refuse_duplicate(call, settings["name"])
    body = {**settings, "id": key, "state": "RUNNING", "creator_user_name": call.caller}
    call.store.put(_KIND, key, body)
    return {"id": key}


@exclusively
def edit(call: ServerRequest) -> Document:
    """Change the settings that the request names."""
    kept = _changeable(call)
    settings = _settings(call, {name: kept[name] for name in _FIELDS if name in kept})
    if settings["name"] != kept["name"]:
        _refuse_duplicate(call, settings["name"])
    call.store.change(_KIND, kept["id"], lambda body: body.update(settings))
    return {}


@exclusively
def delete(call: ServerRequest) -> None:
    """Remove a warehouse and cancel its statements."""
    key = _changeable(call)["id"]
    _cancel_statements(call, key)
    call.store.delete(_KIND, key)
    delete_permissions(call, _ACL, key)


def start(call: ServerRequest) -> None:
    """Start a warehouse: the local one's process, or a record."""
    if _is_local(call.path_parameter):
        call.context.warehouse.start()
    else:
        wake_warehouse(call, _created(call, call.path_parameter)["id"])


def stop(call: ServerRequest) -> None:
    """Stop a warehouse and its statements; with the local one, the process of all ends."""
    if _is_local(call.path_parameter):
        call.context.warehouse.stop()
        return
    key = _created(call, call.path_parameter)["id"]
    _cancel_statements(call, key)
    call.store.change(_KIND, key, lambda body: body.update(state="STOPPED"))


def require_warehouse(call: ServerRequest, key: str) -> None:
    """Raise ApiError for a warehouse that does not exist."""
    if not _is_local(key):
        _created(call, key)


def wake_warehouse(call: ServerRequest, key: str) -> None:
    """Mark a warehouse as running, which a statement starts if it was stopped."""
    found = call.store.get(_KIND, key)
    if found is not None and found["state"] != "RUNNING":
        call.store.change(_KIND, key, lambda body: body.update(state="RUNNING"))


def _is_local(key: str) -> bool:
    """Return whether the local warehouse answers to an id.

    Code and bundles name warehouses of the workspace that they are deployed to. The local one answers
    to every id in the form of the platform's, and to lookups by name; ids of local workspaces are their own.
    """
    is_elsewhere = _PLATFORM_ID.fullmatch(key) is not None and not key.startswith(WAREHOUSE_PREFIX)
    return key == WAREHOUSE_ID or is_elsewhere or is_placeholder(key, ("warehouse",))


def _created(call: ServerRequest, key: str) -> Document:
    found = call.store.get(_KIND, key)
    if found is None:
        raise missing(f"SQL warehouse {key}")
    return found


def _changeable(call: ServerRequest) -> Document:
    """Return the warehouse of the request. Raises ApiError for the local one, and without CAN_MANAGE."""
    if call.path_parameter == WAREHOUSE_ID:
        message = f"The SQL warehouse {WAREHOUSE_ID} is this machine: create another one."
        raise ApiError(400, "INVALID_STATE", message)
    found = _created(call, call.path_parameter)
    require(call, _ACL, found["id"], "CAN_MANAGE")
    return found


def _cancel_statements(call: ServerRequest, key: str) -> None:
    for statement in call.store.find("statement", active=True):
        if statement.get("warehouse_id") == key:
            call.context.warehouse.cancel(statement["statement_id"])


def _settings(call: ServerRequest, kept: Document | None = None) -> Document:
    """Return the request's settings; omitted ones keep their value in `kept`. Raises ApiError."""
    given = {**(kept or {}), **read_fields(call.body, _FIELDS)}
    read_fields(given, {}, required=("name", "cluster_size"))
    settings: Document = {**_DEFAULTS, **given}
    settings.setdefault("max_num_clusters", settings["min_num_clusters"])
    if len(settings["name"]) > _LONGEST_NAME:
        raise invalid_parameter(f"name has at most {_LONGEST_NAME} characters.")
    for name, choices in _CHOICES.items():
        if settings.get(name, choices[0]) not in choices:
            raise invalid_parameter(f"{name} is one of {', '.join(choices)}, not {settings[name][:50]!r}.")
    if settings["auto_stop_mins"] != 0 and settings["auto_stop_mins"] < _SHORTEST_STOP:
        raise invalid_parameter(f"auto_stop_mins is 0 or at least {_SHORTEST_STOP}.")
    least, most = settings["min_num_clusters"], settings["max_num_clusters"]
    if not 0 < least <= min(most, _MOST_MINIMUM) or most > _MOST_CLUSTERS:
        raise invalid_parameter(
            f"min_num_clusters is between 1 and {_MOST_MINIMUM} and at most max_num_clusters, "
            f"which is at most {_MOST_CLUSTERS}."
        )
    return settings


def _refuse_duplicate(call: ServerRequest, name: str) -> None:
    if name in (_LOCAL_NAME, *(each["name"] for each in call.store.find(_KIND))):
        raise ApiError(400, "RESOURCE_ALREADY_EXISTS", f"SQL warehouse with name `{name}` already exists.")


def _shown(call: ServerRequest, body: Document) -> Document:
    shown = {name: value for name, value in body.items() if name != "creator_user_name"}
    return {
        **shown,
        "num_clusters": int(body["state"] == "RUNNING"),
        "creator_name": body["creator_user_name"],
        **_addresses(call, body["id"]),
    }


def _local(call: ServerRequest, key: str = WAREHOUSE_ID) -> Document:
    running = call.context.warehouse.is_running
    return {
        "id": key,
        "name": _LOCAL_NAME,
        "state": "RUNNING" if running else "STOPPED",
        "cluster_size": "2X-Small",
        "warehouse_type": "PRO",
        "enable_serverless_compute": True,
        "num_clusters": int(running),
        "creator_name": call.owner,
        **_addresses(call, key),
    }


def _addresses(call: ServerRequest, key: str) -> Document:
    """Return where drivers find a warehouse."""
    server, path = urlsplit(call.host), f"/sql/1.0/warehouses/{key}"
    tls = int(server.scheme == "https")
    parameters = f"transportMode=http;ssl={tls};AuthMech=3;httpPath={path};"
    return {
        "jdbc_url": f"jdbc:spark://{server.netloc}/default;{parameters}",
        "odbc_params": {
            "hostname": server.hostname,
            "path": path,
            "port": server.port,
            "protocol": server.scheme,
        },
    }


_PATH = "/api/2.0/sql/warehouses"
_HANDLERS: tuple[tuple[str, str, Callable[[ServerRequest], Any]], ...] = (
    ("GET", "", list_warehouses),
    ("POST", "", create),
    ("GET", "/{}", get),
    ("DELETE", "/{}", delete),
    ("POST", "/{}/edit", edit),
    ("POST", "/{}/start", start),
    ("POST", "/{}/stop", stop),
)
ROUTES = tuple(Route(method, f"{_PATH}{tail}", handler) for method, tail, handler in _HANDLERS)
