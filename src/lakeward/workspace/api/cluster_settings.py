"""Settings of clusters: the fields that clients send, runtime versions, node types, and their validation.

Every cluster runs on the local Spark, so a node type is a label: its size is what the cloud provider
documents, and only the first one describes this machine.
"""

from __future__ import annotations

import os
import shutil
from typing import Any

from lakeward.databricks_shims.local_workspace import Route, invalid_parameter
from lakeward.session import DEFAULT_PROFILE, PROFILES, find_profile
from lakeward.workspace.api.fields import read_fields, types_of
from lakeward.workspace.api.job_validation import check_environments
from lakeward.workspace.context import ServerRequest
from lakeward.workspace.state.store import Document

LOCAL_NODE = "lakeward-local"

# instance type: cores, memory in MB, local disks, GB a disk, category
_NODES: dict[str, tuple[int, int, int, int, str]] = {
    "m5d.large": (2, 8192, 1, 75, "General Purpose"),
    "m5d.xlarge": (4, 16384, 1, 150, "General Purpose"),
    "m5d.2xlarge": (8, 32768, 1, 300, "General Purpose"),
    "r5d.large": (2, 16384, 1, 75, "Memory Optimized"),
    "r5d.xlarge": (4, 32768, 1, 150, "Memory Optimized"),
    "i3.xlarge": (4, 31232, 1, 950, "Storage Optimized"),
    "i3.2xlarge": (8, 62464, 1, 1900, "Storage Optimized"),
    "c5d.xlarge": (4, 8192, 1, 100, "Compute Optimized"),
    "Standard_DS3_v2": (4, 14336, 1, 28, "General Purpose"),
    "Standard_DS4_v2": (8, 28672, 1, 56, "General Purpose"),
    "Standard_D4ds_v5": (4, 16384, 1, 150, "General Purpose"),
    "Standard_E4ds_v5": (4, 32768, 1, 150, "Memory Optimized"),
    "n2-standard-4": (4, 16384, 0, 0, "General Purpose"),
    "n2-highmem-4": (4, 32768, 0, 0, "Memory Optimized"),
}


def list_node_types(_: ServerRequest) -> Any:
    """List this machine and common cloud node types."""
    cores = os.cpu_count() or 1
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2**20
    disk = shutil.disk_usage("/").total // 2**30
    nodes = [_to_json(LOCAL_NODE, cores, memory, 1, disk, "General Purpose")]
    return {"node_types": [*nodes, *(_to_json(name, *facts) for name, facts in _NODES.items())]}


def list_zones(_: ServerRequest) -> Any:
    """List the one zone."""
    return {"zones": ["local"], "default_zone": "local"}


def local_version(call: ServerRequest) -> str:
    """Return the key of the runtime that sessions of this target follow."""
    found = find_profile(call.environment.settings().profile)
    if found is None or not found.spark:
        found = PROFILES[DEFAULT_PROFILE]
    return found.spark_version


def require_version(version: str) -> None:
    """Raise ApiError for a `spark_version` without a profile."""
    if find_profile(version) is None:
        raise invalid_parameter(f"Invalid spark version {version}.")


def require_node_type(node: str) -> None:
    """Raise ApiError for a malformed node type; unknown ones are accepted, since none is rented."""
    if not node or len(node) > 100 or not all(char.isalnum() or char in "._-" for char in node):
        raise invalid_parameter(f"Node type {node!r} is not supported.")


def _to_json(name: str, cores: int, memory: int, disks: int, disk: int, category: str) -> Document:
    return {
        "node_type_id": name,
        "instance_type_id": name,
        "description": name,
        "category": category,
        "num_cores": float(cores),
        "memory_mb": memory,
        "num_gpus": 0,
        "is_deprecated": False,
        "is_hidden": False,
        "is_graviton": False,
        "is_io_cache_enabled": False,
        "is_encrypted_in_transit": False,
        "support_cluster_tags": True,
        "support_ebs_volumes": False,
        "support_port_forwarding": True,
        "photon_driver_capable": False,
        "photon_worker_capable": False,
        "display_order": 0,
        "node_info": {"status": [], "available_core_quota": cores, "total_core_quota": cores},
        "node_instance_type": {
            "instance_type_id": name,
            "local_disks": disks,
            "local_disk_size_gb": disk,
            "local_nvme_disks": 0,
            "local_nvme_disk_size_gb": 0,
        },
    }


FIELDS = types_of("cluster")
"""The settings of a cluster that a client may send."""


def replace_size(body: Document, given: Document) -> None:
    """Remove from `body` the kind of size that `given` replaces: it has workers or a range."""
    if "num_workers" in given:
        body.pop("autoscale", None)
    elif "autoscale" in given:
        body.pop("num_workers", None)


def read_settings(call: ServerRequest) -> Document:
    """Return the settings of a request. Raises ApiError for those that the platform refuses."""
    settings = check_settings(read_fields(call.body, FIELDS, required=["spark_version"]))
    require_policy(call, settings)
    return settings


def require_policy(call: ServerRequest, settings: Document) -> None:
    """Raise ApiError for a cluster policy that does not exist."""
    policy_id = settings.get("policy_id")
    if policy_id and call.store.get("cluster_policy", policy_id.lower()) is None:
        raise invalid_parameter(f"Cluster policy {policy_id[:100]} does not exist.")


def check_settings(settings: Document) -> Document:
    """Return settings of the right types. Raises ApiError for values that the platform refuses."""
    if "spark_version" in settings:
        require_version(settings["spark_version"])
    for name in ("node_type_id", "driver_node_type_id"):
        if name in settings:
            require_node_type(settings[name])
    if settings.get("num_workers", 0) < 0 or settings.get("autotermination_minutes", 0) < 0:
        raise invalid_parameter("num_workers and autotermination_minutes cannot be negative.")
    _check_range(settings.get("autoscale") or {})
    for name in ("spark_conf", "spark_env_vars", "custom_tags"):
        if not all(isinstance(value, str) for value in settings.get(name, {}).values()):
            raise invalid_parameter(f"The values of {name} must be strings.")
    check_environments([settings])
    return settings


def _check_range(autoscale: Document) -> None:
    sizes = read_fields(autoscale, {"min_workers": int, "max_workers": int})
    low, high = sizes.get("min_workers", 0), sizes.get("max_workers", 0)
    if low < 0 or (autoscale and low > high):
        raise invalid_parameter("autoscale: min_workers is not negative, and at most max_workers.")


ROUTES = tuple(
    Route("GET", f"/api/{version}/clusters/{name}", handler)
    for version in ("2.0", "2.1")
    for name, handler in (
        ("list-node-types", list_node_types),
        ("list-zones", list_zones),
    )
)
