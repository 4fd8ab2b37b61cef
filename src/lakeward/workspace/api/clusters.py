"""Clusters: records that all run on the local Spark.

One cluster, `lakeward-local`, exists from the start and is running. Clients that create clusters get a record
that starts at once; commands sent to any running cluster execute on this machine. Autotermination and sizes
are kept and not applied.

Source: https://docs.databricks.com/api/workspace/clusters
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import replace as with_fields
from datetime import datetime, timezone
from typing import Any

import orjson

from lakeward.databricks_shims.local_workspace import ApiError, Route
from lakeward.workspace.api import cluster_kinds
from lakeward.workspace.api.cluster_kinds import LOCAL_NODE, local_version, require_node_type, require_version
from lakeward.workspace.api.fields import Types, read_fields
from lakeward.workspace.api.job_validation import check_environments
from lakeward.workspace.api.permissions import forget, is_admin, require
from lakeward.workspace.context import ServerRequest, paginate
from lakeward.workspace.identifiers import LOCAL_CLUSTER
from lakeward.workspace.state.store import Document, now

FIELDS: Types = {
    "cluster_name": str,
    "spark_version": str,
    "node_type_id": str,
    "driver_node_type_id": str,
    "num_workers": int,
    "autoscale": dict,
    "autotermination_minutes": int,
    "spark_conf": dict,
    "spark_env_vars": dict,
    "custom_tags": dict,
    "init_scripts": list,
    "ssh_public_keys": list,
    "cluster_log_conf": dict,
    "data_security_mode": str,
    "single_user_name": str,
    "runtime_engine": str,
    "policy_id": str,
    "apply_policy_default_values": bool,
    "instance_pool_id": str,
    "driver_instance_pool_id": str,
    "enable_elastic_disk": bool,
    "enable_local_disk_encryption": bool,
    "aws_attributes": dict,
    "azure_attributes": dict,
    "gcp_attributes": dict,
    "docker_image": dict,
    "workload_type": dict,
    "kind": str,
    "is_single_node": bool,
    "use_ml_runtime": bool,
}
"""The settings of a cluster that a client may send."""

_RUNNING, _TERMINATED = "RUNNING", "TERMINATED"
_MOST_EVENTS = 500


def create(call: ServerRequest) -> Any:
    """Create a cluster; it is running when the answer arrives."""
    settings = _settings(call)
    stamp = datetime.now(timezone.utc).strftime("%m%d-%H%M%S")
    cluster_id = f"{stamp}-{secrets.token_hex(4)}"
    settings.setdefault("cluster_name", "")
    _insert(call, cluster_id, settings, "API", call.caller)
    return {"cluster_id": cluster_id}


def get(call: ServerRequest) -> Any:
    """Return one cluster."""
    return require_cluster(call, _cluster_id(call))


def list_clusters(call: ServerRequest) -> Any:
    """List clusters, newest first, pinned ones ahead; filtered by state, source, policy and pin."""
    _require_local(call)
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
    cluster_id, settings = _cluster_id(call), _settings(call)
    _require_editable(_permitted(call, "CAN_MANAGE"))

    def change(body: Document) -> None:
        for name in FIELDS:
            body.pop(name, None)
        body.update(settings, spec=settings)

    _change(call, cluster_id, change)
    _note(call, cluster_id, "EDITED", {"attributes": settings})


def update(call: ServerRequest) -> None:
    """Change the settings that `update_mask` names."""
    cluster_id = _cluster_id(call)
    mask = call.body.get("update_mask")
    given = read_fields(call.body, {"cluster": dict}).get("cluster") or {}
    names = [each.strip() for each in mask.split(",")] if isinstance(mask, str) else []
    unknown = [name for name in names if name != "*" and name.partition(".")[0] not in FIELDS]
    if not names or unknown:
        raise ApiError(
            400, "INVALID_PARAMETER_VALUE", f"update_mask names fields of a cluster, not {mask!r}."
        )
    _permitted(call, "CAN_MANAGE")
    settings = _checked(read_fields(given, FIELDS))
    _require_policy(call, settings)
    chosen = FIELDS if "*" in names else names

    def change(body: Document) -> None:
        _replace_size(body, {name: settings[name] for name in chosen if name in settings})
        for name in chosen:
            _copy_field(settings, body, name)

    _change(call, cluster_id, change)
    _note(call, cluster_id, "EDITED")


def _copy_field(source: Document, target: Document, path: str) -> None:
    """Set a field of `target`, or one within it (`aws_attributes.availability`), as `source` has it."""
    name, _, rest = path.partition(".")
    if rest:
        inner = dict(target.get(name) or {})
        _copy_field(source.get(name) or {}, inner, rest)
        target[name] = inner
    elif name in source:
        target[name] = source[name]
    else:
        target.pop(name, None)


def resize(call: ServerRequest) -> None:
    """Keep another size; the local Spark does not change with it."""
    size = _checked(read_fields(call.body, {"num_workers": int, "autoscale": dict}))
    _permitted(call, "CAN_MANAGE")
    cluster = require_running(call, _cluster_id(call))

    def change(body: Document) -> None:
        _replace_size(body, size)
        body.update(size)

    _change(call, cluster["cluster_id"], change)
    _note(call, cluster["cluster_id"], "RESIZING")


def _replace_size(body: Document, given: Document) -> None:
    """Remove the fixed size or the range that another one replaces: a cluster has one of both."""
    if "num_workers" in given:
        body.pop("autoscale", None)
    elif "autoscale" in given:
        body.pop("num_workers", None)


def start(call: ServerRequest) -> None:
    """Start a terminated cluster. Raises ApiError for a running one."""
    cluster = _permitted(call, "CAN_RESTART")
    if cluster["state"] != _TERMINATED:
        message = f"Cluster {cluster['cluster_id']} is in unexpected state {cluster['state'].capitalize()}."
        raise ApiError(400, "INVALID_STATE", message)
    _move(call, cluster["cluster_id"], _RUNNING)


def restart(call: ServerRequest) -> None:
    """Restart a running cluster: its execution contexts end."""
    _permitted(call, "CAN_RESTART")
    cluster = require_running(call, _cluster_id(call))
    _end_contexts(call, cluster["cluster_id"])
    _note(call, cluster["cluster_id"], "RESTARTING")
    _move(call, cluster["cluster_id"], _RUNNING)


def terminate(call: ServerRequest) -> None:
    """Terminate a cluster; the record stays and can be started again."""
    cluster = _permitted(call, "CAN_RESTART")
    _end_contexts(call, cluster["cluster_id"])
    if cluster["state"] != _TERMINATED:
        _move(call, cluster["cluster_id"], _TERMINATED)


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
    _end_contexts(call, cluster_id)
    call.store.delete("cluster", cluster_id)
    call.store.delete_children("cluster_event", cluster_id)
    forget(call, "clusters", cluster_id)


def pin(call: ServerRequest) -> None:
    """Pin a cluster: it is listed first."""
    _permitted(call, "CAN_MANAGE")
    _change(call, _cluster_id(call), lambda body: body.update(pinned_by_user_name=call.caller))
    _note(call, _cluster_id(call), "PINNED")


def unpin(call: ServerRequest) -> None:
    """Remove a pin."""
    _permitted(call, "CAN_MANAGE")
    _change(call, _cluster_id(call), lambda body: body.pop("pinned_by_user_name", None))
    _note(call, _cluster_id(call), "UNPINNED")


def change_owner(call: ServerRequest) -> None:
    """Change the owner of a terminated cluster; for administrators."""
    owner = read_fields(call.body, {"owner_username": str}, required=["owner_username"])["owner_username"]
    cluster = require_cluster(call, _cluster_id(call))
    if not is_admin(call):
        raise ApiError(403, "PERMISSION_DENIED", "Only administrators change the owner of a cluster.")
    if cluster["state"] != _TERMINATED:
        raise ApiError(400, "INVALID_STATE", f"Cluster {cluster['cluster_id']} must be terminated first.")
    _change(call, cluster["cluster_id"], lambda body: body.update(creator_user_name=owner))


def events(call: ServerRequest) -> Any:
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
    cluster = require_cluster(call, _cluster_id(call))
    order = given.get("order", "DESC")
    if order not in ("ASC", "DESC"):
        raise ApiError(400, "INVALID_PARAMETER_VALUE", f"order is ASC or DESC, not {order}.")
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
        raise ApiError(400, "INVALID_PARAMETER_VALUE", "offset is not negative, and limit from 0 to 500.")
    size = size or 50
    answer = {"events": found[begin : begin + size], "total_count": total}
    if begin + size < total:
        following = {**given, "cluster_id": cluster["cluster_id"], "offset": begin + size, "limit": size}
        answer["next_page"] = following
    return answer


def _permitted(call: ServerRequest, level: str) -> Document:
    """Return the cluster of the request. Raises ApiError where the caller lacks this level on it."""
    cluster = require_cluster(call, _cluster_id(call))
    require(call, "clusters", cluster["cluster_id"], level)
    return cluster


def require_cluster(call: ServerRequest, cluster_id: str) -> Document:
    """Return a cluster. Raises ApiError, with the platform's code, for an unknown id."""
    _require_local(call)
    found = call.store.get("cluster", cluster_id)
    if found is None:
        raise ApiError(400, "INVALID_PARAMETER_VALUE", f"Cluster {cluster_id} does not exist")
    return found


def require_running(call: ServerRequest, cluster_id: str) -> Document:
    """Return a running cluster. Raises ApiError for any other."""
    cluster = require_cluster(call, cluster_id)
    if cluster["state"] != _RUNNING:
        message = f"Cluster {cluster_id} is in unexpected state {cluster['state'].capitalize()}."
        raise ApiError(400, "INVALID_STATE", message)
    return cluster


def _require_local(call: ServerRequest) -> None:
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
    _insert(call, LOCAL_CLUSTER, settings, "API", call.owner)


def _insert(call: ServerRequest, cluster_id: str, settings: Document, source: str, creator: str) -> None:
    made = now()
    name = settings.get("cluster_name", "")
    tags = {"Vendor": "Databricks", "Creator": creator, "ClusterName": name, "ClusterId": cluster_id}
    body = {
        **settings,
        "cluster_id": cluster_id,
        "creator_user_name": creator,
        "cluster_source": source,
        "state": _RUNNING,
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
    _note(call, cluster_id, "CREATING", {"user": creator})
    _note(call, cluster_id, "STARTING", {"user": creator})
    _note(call, cluster_id, "RUNNING", {"current_num_workers": 0, "target_num_workers": 0})


def _move(call: ServerRequest, cluster_id: str, state: str) -> None:
    made = now()

    def change(body: Document) -> None:
        body["state"] = state
        if state == _RUNNING:
            body.update(start_time=made, last_restarted_time=made, state_message="")
            body.pop("terminated_time", None)
            body.pop("termination_reason", None)
        else:
            reason = {"code": "USER_REQUEST", "type": "SUCCESS", "parameters": {"username": call.caller}}
            body.update(terminated_time=made, termination_reason=reason, state_message="Terminated by user")

    _note(call, cluster_id, "STARTING" if state == _RUNNING else "TERMINATING", {"user": call.caller})
    _change(call, cluster_id, change)
    if state == _RUNNING:
        _note(call, cluster_id, "RUNNING", {"current_num_workers": 0, "target_num_workers": 0})


def _note(call: ServerRequest, cluster_id: str, kind: str, details: Document | None = None) -> None:
    event = {"cluster_id": cluster_id, "timestamp": now(), "type": kind, "details": details or {}}
    call.store.put("cluster_event", call.store.number(), event, parent=cluster_id)


def _change(call: ServerRequest, cluster_id: str, change: Callable[[Document], Any]) -> None:
    call.store.change("cluster", cluster_id, change)


def _require_editable(cluster: Document) -> None:
    if cluster["cluster_id"] == LOCAL_CLUSTER:
        raise ApiError(
            400, "INVALID_STATE", f"The cluster {LOCAL_CLUSTER} is this machine: create another one."
        )


def _cluster_id(call: ServerRequest) -> str:
    value = call.query.get("cluster_id") or call.body.get("cluster_id")
    if not value or not isinstance(value, str):
        raise ApiError(400, "INVALID_PARAMETER_VALUE", "Missing required field: cluster_id")
    return value


def _settings(call: ServerRequest) -> Document:
    settings = _checked(read_fields(call.body, FIELDS, required=["spark_version"]))
    _require_policy(call, settings)
    return settings


def _require_policy(call: ServerRequest, settings: Document) -> None:
    """Raise ApiError for a cluster policy that does not exist."""
    policy_id = settings.get("policy_id")
    if policy_id and call.store.get("cluster_policy", policy_id.lower()) is None:
        message = f"Cluster policy {policy_id[:100]} does not exist."
        raise ApiError(400, "INVALID_PARAMETER_VALUE", message)


def _checked(settings: Document) -> Document:
    if "spark_version" in settings:
        require_version(settings["spark_version"])
    for name in ("node_type_id", "driver_node_type_id"):
        if name in settings:
            require_node_type(settings[name])
    if settings.get("num_workers", 0) < 0 or settings.get("autotermination_minutes", 0) < 0:
        raise ApiError(
            400, "INVALID_PARAMETER_VALUE", "num_workers and autotermination_minutes cannot be negative."
        )
    _check_range(settings.get("autoscale") or {})
    for name in ("spark_conf", "spark_env_vars", "custom_tags"):
        if not all(isinstance(value, str) for value in settings.get(name, {}).values()):
            raise ApiError(400, "INVALID_PARAMETER_VALUE", f"The values of {name} must be strings.")
    check_environments([settings])
    return settings


def _check_range(autoscale: Document) -> None:
    sizes = read_fields(autoscale, {"min_workers": int, "max_workers": int})
    low, high = sizes.get("min_workers", 0), sizes.get("max_workers", 0)
    if low < 0 or (autoscale and low > high):
        message = "autoscale: min_workers is not negative, and at most max_workers."
        raise ApiError(400, "INVALID_PARAMETER_VALUE", message)


def _end_contexts(call: ServerRequest, cluster_id: str) -> None:
    call.context.contexts.end_of_cluster(cluster_id)


ROUTES = (
    *cluster_kinds.ROUTES,
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
