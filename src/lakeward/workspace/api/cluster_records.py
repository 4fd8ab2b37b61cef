"""Clusters in the store: their records, states and events. One, `lakeward-local`, exists from the start."""

from __future__ import annotations

import re
from dataclasses import replace as with_fields

import orjson

from lakeward.bundle import is_placeholder
from lakeward.databricks_shims.local_workspace import ApiError, invalid_parameter, paginate
from lakeward.workspace.api.cluster_settings import LOCAL_NODE, local_version
from lakeward.workspace.api.fields import read_fields
from lakeward.workspace.context import ServerRequest
from lakeward.workspace.identifiers import CLUSTER_PREFIX, LOCAL_CLUSTER
from lakeward.workspace.state.store import Document, now

_PLATFORM_ID = re.compile(r"\d{4}-\d{6}-(?P<digits>[a-z0-9]{6,10})")
RUNNING, TERMINATED = "RUNNING", "TERMINATED"


def require_cluster(call: ServerRequest, cluster_id: str) -> Document:
    """Return a cluster. Raises ApiError, with the platform's code, for an unknown id."""
    require_local(call)
    found = call.store.get("cluster", cluster_id)
    if found is None:
        raise invalid_parameter(f"Cluster {cluster_id} does not exist")
    return found


def find_cluster(call: ServerRequest, cluster_id: str) -> Document:
    """Return a cluster to read or to run code on. Raises ApiError for an unknown id.

    Code and projects name clusters of the workspace that they are deployed to. The local one answers to
    every id in the form of the platform's; ids of local workspaces are their own.
    """
    if call.store.get("cluster", cluster_id) is None and _is_elsewhere(cluster_id):
        return {**require_cluster(call, LOCAL_CLUSTER), "cluster_id": cluster_id}
    return require_cluster(call, cluster_id)


def _is_elsewhere(cluster_id: str) -> bool:
    parts = _PLATFORM_ID.fullmatch(cluster_id)
    is_own = parts is not None and parts["digits"].startswith(CLUSTER_PREFIX)
    return (parts is not None and not is_own) or is_placeholder(cluster_id, ("cluster",))


def require_running(call: ServerRequest, cluster_id: str) -> Document:
    """Return a running cluster. Raises ApiError for any other."""
    cluster = find_cluster(call, cluster_id)
    if cluster["state"] != RUNNING:
        message = f"Cluster {cluster_id} is in unexpected state {cluster['state'].capitalize()}."
        raise ApiError(400, "INVALID_STATE", message)
    return cluster


def require_local(call: ServerRequest) -> None:
    """Create the record of the cluster that always exists."""
    if call.store.get("cluster", LOCAL_CLUSTER) is not None:
        return
    settings = {
        "cluster_name": "lakeward",
        "spark_version": local_version(call),
        "node_type_id": LOCAL_NODE,
        "driver_node_type_id": LOCAL_NODE,
        "num_workers": 0,
        "autotermination_minutes": 0,
        "data_security_mode": "SINGLE_USER",
        "single_user_name": call.owner,
        "is_single_node": True,
    }
    insert_cluster(call, LOCAL_CLUSTER, settings, call.owner)


def insert_cluster(call: ServerRequest, cluster_id: str, settings: Document, creator: str) -> None:
    """Keep a new cluster, which is running at once."""
    made = now()
    name = settings.get("cluster_name", "")
    tags = {"Vendor": "Databricks", "Creator": creator, "ClusterName": name, "ClusterId": cluster_id}
    body = {
        **settings,
        "cluster_id": cluster_id,
        "creator_user_name": creator,
        "cluster_source": "API",
        "state": RUNNING,
        "state_message": "",
        "start_time": made,
        "last_restarted_time": made,
        "last_state_loss_time": 0,
        "spark_context_id": call.store.number(),
        "driver": {"node_id": cluster_id, "private_ip": "127.0.0.1", "start_timestamp": made},
        "executors": [],
        "cluster_cores": 1.0,
        "default_tags": tags,
        "spec": settings,
    }
    body.setdefault("driver_node_type_id", body.get("node_type_id", LOCAL_NODE))
    body.setdefault("node_type_id", LOCAL_NODE)
    if "autoscale" not in body:
        body.setdefault("num_workers", 0)
    call.store.put("cluster", cluster_id, body)
    note_event(call, cluster_id, "CREATING", {"user": creator})
    note_event(call, cluster_id, "STARTING", {"user": creator})
    note_event(call, cluster_id, "RUNNING", {"current_num_workers": 0, "target_num_workers": 0})


def note_event(call: ServerRequest, cluster_id: str, kind: str, details: Document | None = None) -> None:
    """Record an event of a cluster."""
    event = {"cluster_id": cluster_id, "timestamp": now(), "type": kind, "details": details or {}}
    call.store.put("cluster_event", call.store.number(), event, parent=cluster_id)


def requested_id(call: ServerRequest) -> str:
    """Return the cluster that the request names. Raises ApiError where it names none."""
    value = call.query.get("cluster_id") or call.body.get("cluster_id")
    if not value or not isinstance(value, str):
        raise invalid_parameter("Missing required field: cluster_id")
    return value


_MOST_EVENTS = 500


def events(call: ServerRequest) -> Document:
    """List events of a cluster, newest first unless `order` is ASC."""
    given = read_fields(
        call.body,
        {
            "event_types": list,
            "order": str,
            "start_time": int,
            "end_time": int,
            "limit": int,
            "offset": int,
            "page_size": int,
            "page_token": str,
        },
    )
    cluster = require_cluster(call, requested_id(call))
    order = given.get("order", "DESC")
    if order not in ("ASC", "DESC"):
        raise invalid_parameter(f"order is ASC or DESC, not {order}.")
    found = call.store.find("cluster_event", parent=cluster["cluster_id"], newest_first=order == "DESC")
    kinds = given.get("event_types")
    low, high = given.get("start_time", 0), given.get("end_time", now())
    found = [
        each for each in found if (not kinds or each["type"] in kinds) and low <= each["timestamp"] <= high
    ]
    total = len(found)
    if "page_size" in given or "page_token" in given:
        call.number("page_size", 0, most=_MOST_EVENTS)
        page: dict[str, str] = {
            name: str(given[name]) for name in ("page_size", "page_token") if name in given
        }
        listing = with_fields(call, query=page)
        answer = paginate(listing, found, "events", default=50, most=_MOST_EVENTS, identify=orjson.dumps)
        return {**answer, "total_count": total}
    begin, size = given.get("offset", 0), given.get("limit", 50)
    if begin < 0 or not 0 <= size <= _MOST_EVENTS:
        raise invalid_parameter("offset is not negative, and limit from 0 to 500.")
    size = size or 50
    answer = {"events": found[begin : begin + size], "total_count": total}
    if begin + size < total:
        following = {**given, "cluster_id": cluster["cluster_id"], "offset": begin + size, "limit": size}
        answer["next_page"] = following
    return answer
