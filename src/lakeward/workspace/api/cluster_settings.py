"""Settings of clusters: the fields that clients send, their validation and their change."""

from __future__ import annotations

from lakeward.databricks_shims.local_workspace import invalid_parameter
from lakeward.workspace.api.cluster_kinds import require_node_type, require_version
from lakeward.workspace.api.fields import read_fields, types_of
from lakeward.workspace.api.job_validation import check_environments
from lakeward.workspace.context import ServerRequest
from lakeward.workspace.state.store import Document

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
