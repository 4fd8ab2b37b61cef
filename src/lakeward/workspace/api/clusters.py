"""Clusters: records that all run on the local Spark.

One cluster, `lakeward-local`, exists from the start and is running. Clients that create clusters get a record
that starts at once; commands sent to any running cluster execute on this machine. Autotermination and sizes
are kept and not applied.

Source: https://docs.databricks.com/api/workspace/clusters
"""

from __future__ import annotations

import secrets
from datetime import datetime, timezone

from lakeward.databricks_shims.local_workspace import ApiError, Route, paginate
from lakeward.workspace.api import libraries
from lakeward.workspace.api.cluster_records import (
    RUNNING,
    TERMINATED,
    events,
    find_cluster,
    insert_cluster,
    note_event,
    requested_id,
    require_cluster,
    require_local,
    require_running,
)
from lakeward.workspace.api.cluster_settings import (
    FIELDS,
    check_settings,
    read_settings,
    replace_size,
    require_policy,
)
from lakeward.workspace.api.fields import read_fields
from lakeward.workspace.api.permissions import delete_permissions, require, require_admin
from lakeward.workspace.api.update_mask import copy_field, read_update_mask
from lakeward.workspace.context import ServerRequest
from lakeward.workspace.identifiers import CLUSTER_PREFIX, LOCAL_CLUSTER
from lakeward.workspace.runs.run_spec import CLUSTER_LIBRARY
from lakeward.workspace.state.store import Document, now


def create(call: ServerRequest) -> Document:
    """Create a cluster; it is running when the answer arrives."""
    settings = read_settings(call)
    stamp = datetime.now(timezone.utc).strftime("%m%d-%H%M%S")
    cluster_id = f"{stamp}-{CLUSTER_PREFIX}{secrets.token_hex(2)}"
    settings.setdefault("cluster_name", "")
    insert_cluster(call, cluster_id, settings, call.caller)
    return {"cluster_id": cluster_id}


def get(call: ServerRequest) -> Document:
    """Return one cluster."""
    return find_cluster(call, requested_id(call))


def list_clusters(call: ServerRequest) -> Document:
    """List clusters, newest first, pinned ones ahead; filtered by state, source, policy and pin."""
    require_local(call)
    found = call.store.find("cluster", newest_first=True)
    for name, field in (
        ("cluster_states", "state"),
        ("cluster_sources", "cluster_source"),
        ("policy_id", "policy_id"),
    ):
        wanted = call.query.get(f"filter_by.{name}")
        if wanted:
            found = [each for each in found if each.get(field) in wanted.split(",")]
    if call.query.get("filter_by.is_pinned") == "true":
        found = [each for each in found if each.get("pinned_by_user_name")]
    if call.query.get("sort_by.field") == "CLUSTER_NAME":
        found.sort(key=lambda each: str(each.get("cluster_name")).lower())
    if call.query.get("sort_by.direction") == "DESC":
        found.reverse()
    found.sort(key=lambda each: not each.get("pinned_by_user_name"))
    return paginate(call, found, "clusters")


def edit(call: ServerRequest) -> None:
    """Replace the settings of a cluster; a running one stays running."""
    cluster_id, settings = requested_id(call), read_settings(call)
    _permitted(call, "CAN_MANAGE")
    if cluster_id == LOCAL_CLUSTER:
        message = f"The cluster {LOCAL_CLUSTER} is this machine: create another one."
        raise ApiError(400, "INVALID_STATE", message)

    def change(body: Document) -> None:
        for name in FIELDS:
            body.pop(name, None)
        body.update(settings, spec=settings)

    call.store.change("cluster", cluster_id, change)
    note_event(call, cluster_id, "EDITED", {"attributes": settings})


def update(call: ServerRequest) -> None:
    """Change the settings that `update_mask` names."""
    cluster_id = requested_id(call)
    settings = read_fields(read_fields(call.body, {"cluster": dict}).get("cluster") or {}, FIELDS)
    mask = call.body.get("update_mask")
    paths = read_update_mask(mask, FIELDS, resource="a cluster", declared_type="compute.ClusterSpec")
    _permitted(call, "CAN_MANAGE")
    require_policy(call, settings)

    def change(body: Document) -> None:
        names = {path.partition(".")[0] for path in paths}
        replace_size(body, {name: settings[name] for name in names if name in settings})
        for path in paths:
            copy_field(settings, body, path)
        check_settings({name: body[name] for name in FIELDS if name in body})

    call.store.change("cluster", cluster_id, change)
    note_event(call, cluster_id, "EDITED")


def resize(call: ServerRequest) -> None:
    """Keep another size; the local Spark does not change with it."""
    size = check_settings(read_fields(call.body, {"num_workers": int, "autoscale": dict}))
    _permitted(call, "CAN_MANAGE")
    cluster = require_running(call, requested_id(call))

    def change(body: Document) -> None:
        replace_size(body, size)
        body.update(size)

    call.store.change("cluster", cluster["cluster_id"], change)
    note_event(call, cluster["cluster_id"], "RESIZING")


def start(call: ServerRequest) -> None:
    """Start a terminated cluster. Raises ApiError for a running one."""
    cluster = _permitted(call, "CAN_RESTART")
    if cluster["state"] != TERMINATED:
        message = f"Cluster {cluster['cluster_id']} is in unexpected state {cluster['state'].capitalize()}."
        raise ApiError(400, "INVALID_STATE", message)
    _move(call, cluster["cluster_id"], RUNNING)
    libraries.restart_libraries(call, cluster["cluster_id"])


def restart(call: ServerRequest) -> None:
    """Restart a running cluster: its execution contexts end."""
    _permitted(call, "CAN_RESTART")
    cluster = require_running(call, requested_id(call))
    call.context.contexts.end_of_cluster(cluster["cluster_id"])
    note_event(call, cluster["cluster_id"], "RESTARTING")
    _move(call, cluster["cluster_id"], RUNNING)
    libraries.restart_libraries(call, cluster["cluster_id"])


def terminate(call: ServerRequest) -> None:
    """Terminate a cluster; the record stays and can be started again."""
    cluster = _permitted(call, "CAN_RESTART")
    call.context.contexts.end_of_cluster(cluster["cluster_id"])
    if cluster["state"] != TERMINATED:
        _move(call, cluster["cluster_id"], TERMINATED)


def permanent_delete(call: ServerRequest) -> None:
    """Remove a cluster. Raises ApiError for the local one and for a pinned one."""
    cluster = _permitted(call, "CAN_MANAGE")
    cluster_id = cluster["cluster_id"]
    if cluster_id == LOCAL_CLUSTER:
        raise ApiError(
            400, "INVALID_STATE", f"The cluster {LOCAL_CLUSTER} is this machine: terminate it instead."
        )
    if cluster.get("pinned_by_user_name"):
        raise ApiError(400, "INVALID_STATE", f"Cluster {cluster_id} is pinned: unpin it first.")
    call.context.contexts.end_of_cluster(cluster_id)
    call.store.delete("cluster", cluster_id)
    call.store.delete_children("cluster_event", cluster_id)
    call.store.delete_children(CLUSTER_LIBRARY, cluster_id)
    delete_permissions(call, "clusters", cluster_id)


def pin(call: ServerRequest) -> None:
    """Pin a cluster: it is listed first."""
    cluster_id = _permitted(call, "CAN_MANAGE")["cluster_id"]
    call.store.change("cluster", cluster_id, lambda body: body.update(pinned_by_user_name=call.caller))
    note_event(call, cluster_id, "PINNED")


def unpin(call: ServerRequest) -> None:
    """Remove a pin."""
    cluster_id = _permitted(call, "CAN_MANAGE")["cluster_id"]
    call.store.change("cluster", cluster_id, lambda body: body.pop("pinned_by_user_name", None))
    note_event(call, cluster_id, "UNPINNED")


def change_owner(call: ServerRequest) -> None:
    """Change the owner of a terminated cluster; for administrators."""
    owner = read_fields(call.body, {"owner_username": str}, required=["owner_username"])["owner_username"]
    cluster = require_cluster(call, requested_id(call))
    require_admin(call, "change the owner of a cluster")
    if cluster["state"] != TERMINATED:
        raise ApiError(400, "INVALID_STATE", f"Cluster {cluster['cluster_id']} must be terminated first.")
    call.store.change("cluster", cluster["cluster_id"], lambda body: body.update(creator_user_name=owner))


def _permitted(call: ServerRequest, level: str) -> Document:
    """Return the cluster of the request. Raises ApiError where the caller lacks this level on it."""
    cluster = require_cluster(call, requested_id(call))
    require(call, "clusters", cluster["cluster_id"], level)
    return cluster


def _move(call: ServerRequest, cluster_id: str, state: str) -> None:
    made = now()

    def change(body: Document) -> None:
        body["state"] = state
        if state == RUNNING:
            body.update(start_time=made, last_restarted_time=made, state_message="")
            body.pop("terminated_time", None)
            body.pop("termination_reason", None)
        else:
            reason = {"code": "USER_REQUEST", "type": "SUCCESS", "parameters": {"username": call.caller}}
            body.update(terminated_time=made, termination_reason=reason, state_message="Terminated by user")

    note_event(call, cluster_id, "STARTING" if state == RUNNING else "TERMINATING", {"user": call.caller})
    call.store.change("cluster", cluster_id, change)
    if state == RUNNING:
        note_event(call, cluster_id, "RUNNING", {"current_num_workers": 0, "target_num_workers": 0})


ROUTES = (
    *(
        Route(method, f"/api/{version}/clusters/{name}", handler)
        for version in ("2.0", "2.1")
        for method, name, handler in (
            ("POST", "create", create),
            ("GET", "get", get),
            ("GET", "list", list_clusters),
            ("POST", "edit", edit),
            ("POST", "update", update),
            ("POST", "resize", resize),
            ("POST", "start", start),
            ("POST", "restart", restart),
            ("POST", "delete", terminate),
            ("POST", "permanent-delete", permanent_delete),
            ("POST", "pin", pin),
            ("POST", "unpin", unpin),
            ("POST", "change-owner", change_owner),
            ("POST", "events", events),
        )
    ),
)
