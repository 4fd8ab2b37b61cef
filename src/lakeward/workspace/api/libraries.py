"""Libraries of clusters: Python packages, which new execution contexts and tasks on the cluster import.

A package is INSTALLED when the layer with the cluster's packages has been built. JARs, Maven and CRAN
packages end in FAILED with the reason: one JVM serves all clusters here, and R is not available.
Source: https://docs.databricks.com/api/workspace/libraries
"""

from __future__ import annotations

import hashlib
import json
import threading

from lakeward.databricks_shims.local_workspace import Route, exclusively, invalid_parameter
from lakeward.errors import LakewardError
from lakeward.workspace.api.cluster_records import RUNNING, find_cluster, requested_id, require_cluster
from lakeward.workspace.api.fields import read_fields
from lakeward.workspace.api.permissions import require
from lakeward.workspace.api.request_types import parse_object
from lakeward.workspace.context import ServerRequest
from lakeward.workspace.runs.run_spec import CLUSTER_LIBRARY, INSTALLED, installed_lines
from lakeward.workspace.state.store import Document

_PATH = "/api/2.0/libraries"
_PENDING, _INSTALLING, _FAILED = "PENDING", "INSTALLING", "FAILED"
_LEAVING = "UNINSTALL_ON_RESTART"
_REASONS = {
    "jar": "JARs are not loaded here: one JVM serves all clusters. Set `spark.jars`.",
    "maven": "Maven packages are not loaded here: one JVM serves all clusters. Set `spark.jars.packages`.",
    "cran": "R is not available here.",
    "egg": "Eggs are not supported by runtimes from 14.0 on: build a wheel.",
}
_PYTHON = ("pypi", "whl", "requirements")
_installing: set[str] = set()
_lock = threading.Lock()


@exclusively
def install(call: ServerRequest) -> None:
    """Add libraries to a cluster; a running one installs them at once, another one when it starts."""
    cluster, libraries = _requested(call)
    for library in libraries:
        key = _key(cluster["cluster_id"], library)
        known = call.store.get(CLUSTER_LIBRARY, key)
        if known is None or known["status"] in (_FAILED, _LEAVING):
            status = INSTALLED if known is not None and known["status"] == _LEAVING else _PENDING
            made = {"cluster_id": cluster["cluster_id"], "library": library, "status": status}
            call.store.put(CLUSTER_LIBRARY, key, made, parent=cluster["cluster_id"])
    install_pending(call, cluster)


@exclusively
def uninstall(call: ServerRequest) -> None:
    """Remove libraries from a cluster; what a running one has installed stays until it restarts."""
    cluster, libraries = _requested(call)
    for library in libraries:
        key = _key(cluster["cluster_id"], library)
        known = call.store.get(CLUSTER_LIBRARY, key)
        if known is None:
            continue
        if cluster["state"] == RUNNING and known["status"] == INSTALLED:
            call.store.put(CLUSTER_LIBRARY, key, {**known, "status": _LEAVING}, parent=cluster["cluster_id"])
        else:
            call.store.delete(CLUSTER_LIBRARY, key)


def cluster_status(call: ServerRequest) -> Document:
    """Return the libraries of a cluster, with their states."""
    cluster = find_cluster(call, requested_id(call))
    install_pending(call, cluster)
    return _statuses(call, cluster["cluster_id"])


def all_statuses(call: ServerRequest) -> Document:
    """Return the libraries of all clusters that have some."""
    clusters = dict.fromkeys(each["cluster_id"] for each in call.store.find(CLUSTER_LIBRARY))
    return {"statuses": [_statuses(call, each) for each in clusters]}


def restart_libraries(call: ServerRequest, cluster_id: str) -> None:
    """Remove the libraries that were to be uninstalled, and install those that wait for the start."""
    for each in call.store.find(CLUSTER_LIBRARY, parent=cluster_id):
        if each["status"] == _LEAVING:
            call.store.delete(CLUSTER_LIBRARY, _key(cluster_id, each["library"]))
    install_pending(call, require_cluster(call, cluster_id))


def install_pending(call: ServerRequest, cluster: Document) -> None:
    """Install what a running cluster lacks, in a thread of its own."""
    cluster_id = cluster["cluster_id"]
    waiting = any(each["status"] in (_PENDING, _INSTALLING) for each in _of(call, cluster_id))
    with _lock:
        if not waiting or cluster["state"] != RUNNING or cluster_id in _installing:
            return
        _installing.add(cluster_id)
    threading.Thread(target=_install_all, args=(call, cluster_id), daemon=True).start()


def _install_all(call: ServerRequest, cluster_id: str) -> None:
    try:
        while waiting := [
            each for each in _of(call, cluster_id) if each["status"] in (_PENDING, _INSTALLING)
        ]:
            _install(call, cluster_id, waiting[0]["library"])
    except Exception as error:  # noqa: BLE001  # of the thread: the next look at the states tries again
        call.context.report_fault(error)
    finally:
        with _lock:
            _installing.discard(cluster_id)


def _install(call: ServerRequest, cluster_id: str, library: Document) -> None:
    from lakeward.environments import Layers
    from lakeward.jobs import library_lines, map_workspace_paths

    def note(status: str, *messages: str) -> None:
        def change(body: Document) -> None:
            body.update(status=status, messages=list(messages))

        call.store.change(CLUSTER_LIBRARY, _key(cluster_id, library), change)

    kind = next(iter(library))
    if kind in _REASONS:
        note(_FAILED, _REASONS[kind])
        return
    note(_INSTALLING)
    settings = call.environment.settings()
    wanted = [*installed_lines(call.store, cluster_id), *library_lines(library)]
    try:
        lines = map_workspace_paths(wanted, settings)
        Layers().get(lines, origin=f"The cluster {cluster_id}", folder=settings.root)
    except LakewardError as error:
        note(_FAILED, str(error))
    else:
        note(INSTALLED)


def _of(call: ServerRequest, cluster_id: str) -> list[Document]:
    return call.store.find(CLUSTER_LIBRARY, parent=cluster_id)


def _statuses(call: ServerRequest, cluster_id: str) -> Document:
    shown = [
        {
            "library": each["library"],
            "status": each["status"],
            "messages": each.get("messages") or [],
            "is_library_for_all_clusters": False,
        }
        for each in _of(call, cluster_id)
    ]
    return {"cluster_id": cluster_id, "library_statuses": shown}


def _requested(call: ServerRequest) -> tuple[Document, list[Document]]:
    cluster = require_cluster(call, requested_id(call))
    require(call, "clusters", cluster["cluster_id"], "CAN_MANAGE")
    given = read_fields(call.body, {"libraries": list}, required=["libraries"])["libraries"]
    libraries = [parse_object(each, "compute.Library") for each in given]
    for each in libraries:
        kinds = [name for name in each if name in (*_PYTHON, *_REASONS)]
        if len(kinds) != 1 or len(each) != 1 or not each[kinds[0]]:
            message = f"A library is one of {', '.join((*_PYTHON, *_REASONS))}: {json.dumps(each):.200}"
            raise invalid_parameter(message)
    return cluster, libraries


def _key(cluster_id: str, library: Document) -> str:
    digest = hashlib.sha256(json.dumps(library, sort_keys=True).encode()).hexdigest()[:32]
    return f"{cluster_id}/{digest}"


ROUTES = (
    Route("POST", f"{_PATH}/install", install),
    Route("POST", f"{_PATH}/uninstall", uninstall),
    Route("GET", f"{_PATH}/cluster-status", cluster_status),
    Route("GET", f"{_PATH}/all-cluster-statuses", all_statuses),
)
