"""The types of request fields of the local workspace, from databricks-sdk: `python scripts/field_types.py`.

Writes `src/lakeward/databricks_shims/local_workspace/field_types.json`, the one table of types: `types` are
whole requests, objects, and resources that are kept as a client sends them; `names` the kinds of fields that
are checked by their name in every route. The server reads that file, since importing the SDK's dataclasses
takes two seconds and 60 MB.
"""

from __future__ import annotations

import dataclasses
import enum
import inspect
import json
import typing
from collections import defaultdict
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from databricks.sdk.service import (
    catalog,
    compute,
    files,
    iam,
    jobs,
    pipelines,
    settings,
    sql,
    workspace,
)
from databricks.sdk.version import __version__

_SHIMS = Path(__file__).resolve().parents[1] / "src" / "lakeward" / "databricks_shims"
FILE = _SHIMS / "local_workspace" / "field_types.json"

REQUESTS: dict[str, Callable[..., Any]] = {
    "jobs/create": jobs.JobsAPI.create,
    "jobs/reset": jobs.JobsAPI.reset,
    "jobs/update": jobs.JobsAPI.update,
    "jobs/run-now": jobs.JobsAPI.run_now,
    "jobs/runs/submit": jobs.JobsAPI.submit,
    "jobs/runs/repair": jobs.JobsAPI.repair_run,
    "alerts/create": sql.AlertsV2API.create_alert,
    "grants/update": catalog.GrantsAPI.update,
    "pipelines/create": pipelines.PipelinesAPI.create,
    "pipelines/edit": pipelines.PipelinesAPI.update,
    "pipelines/start-update": pipelines.PipelinesAPI.start_update,
}
RESOURCES: dict[str, tuple[Any, ...]] = {
    "cluster": (compute.ClusterSpec,),
    "cluster_policy": (compute.ClusterPoliciesAPI.create,),
    "connection": (catalog.ConnectionsAPI.create, catalog.ConnectionsAPI.update),
    "external_location": (catalog.ExternalLocationsAPI.create, catalog.ExternalLocationsAPI.update),
    "function": (catalog.CreateFunction,),
    "git_credential": (workspace.GitCredentialsAPI.create,),
    "global_init_script": (compute.GlobalInitScriptsAPI.create,),
    "instance_pool": (compute.InstancePoolsAPI.create,),
    "ip_access_list": (settings.IpAccessListsAPI.create, settings.IpAccessListsAPI.replace),
    "query": (sql.CreateQueryRequestQuery,),
    "storage_credential": (catalog.StorageCredentialsAPI.create, catalog.StorageCredentialsAPI.update),
    "warehouse": (sql.WarehousesAPI.create,),
}
# Parameters of these requests that are no settings of the resource.
_OPERANDS = ("creator_name", "force", "ip_access_list_id", "new_name", "self")
_SERVICES = (catalog, compute, files, iam, jobs, pipelines, settings, sql, workspace)

# Fields that are checked wherever they are, with the kind that the SDK declares for them.
CHECKED = [
    "autoscale",
    "condition_task",
    "dbt_task",
    "deployment",
    "email_notifications",
    "environment",
    "event_log",
    "file",
    "file_arrival",
    "for_each_task",
    "git_source",
    "glob",
    "health",
    "new_cluster",
    "new_settings",
    "notebook",
    "notebook_task",
    "notification_settings",
    "periodic",
    "pipeline_params",
    "pipeline_task",
    "python_wheel_task",
    "run_as",
    "run_job_task",
    "schedule",
    "spark_jar_task",
    "spark_python_task",
    "spark_submit_task",
    "spec",
    "sql_task",
    "table_update",
    "trigger",
    "webhook_notifications",
    "access_control_list",
    "changes",
    "clusters",
    "depends_on",
    "emails",
    "entitlements",
    "environments",
    "job_clusters",
    "libraries",
    "members",
    "tasks",
    "exclude",
    "fields_to_remove",
    "full_refresh_selection",
    "jar_params",
    "only",
    "order_by",
    "python_params",
    "refresh_selection",
    "rerun_tasks",
    "reset_checkpoint_selection",
    "schemas",
    "statuses",
    "table_names",
    "base_parameters",
    "configuration",
    "job_parameters",
    "named_parameters",
    "notebook_params",
    "python_named_params",
    "spark_conf",
    "spark_env_vars",
    "sql_params",
    "application_id",
    "bytes_value",
    "catalog_name",
    "cluster_id",
    "command",
    "comment",
    "content",
    "data",
    "definition",
    "description",
    "destination_path",
    "display_name",
    "disposition",
    "edit_mode",
    "edition",
    "entry_point",
    "environment_key",
    "existing_cluster_id",
    "file_path",
    "filter",
    "full_name",
    "group_name",
    "idempotency_token",
    "initial_manage_principal",
    "job_cluster_key",
    "key",
    "language",
    "main",
    "new_name",
    "notebook_path",
    "owner",
    "package_name",
    "page_token",
    "pause_status",
    "permission",
    "permission_level",
    "pipeline_id",
    "principal",
    "python_file",
    "quartz_cron_expression",
    "root_path",
    "run_if",
    "run_name",
    "schema_name",
    "scope",
    "scope_backend_type",
    "service_principal_name",
    "source_path",
    "spark_version",
    "statement",
    "statement_id",
    "storage_location",
    "storage_root",
    "string_value",
    "task_key",
    "timezone_id",
    "token_id",
    "update_id",
    "url",
    "user_name",
    "volume_type",
    "wait_timeout",
    "warehouse_id",
    "whl",
    "byte_limit",
    "chunk_index",
    "handle",
    "hours",
    "interval",
    "length",
    "lifetime_seconds",
    "limit",
    "max_concurrent_runs",
    "max_results",
    "max_retries",
    "min_retry_interval_millis",
    "min_time_between_triggers_seconds",
    "minutes",
    "num_workers",
    "offset",
    "page_size",
    "row_limit",
    "timeout_seconds",
    "wait_after_last_change_seconds",
    "active_only",
    "allow_duplicate_names",
    "completed_only",
    "development",
    "dry_run",
    "expand_tasks",
    "force",
    "full_refresh",
    "include_history",
    "overwrite",
    "recursive",
    "rerun_all_failed_tasks",
    "rerun_dependent_tasks",
    "reset_checkpoints",
    "retry_on_timeout",
    "serverless",
    "validate_only",
]

# Fields that the SDK does not declare, and those that it declares with several kinds, of which one is served.
OTHERS: dict[str, str] = {
    **dict.fromkeys(["filters", "job_cluster", "queue"], "an object"),
    "Operations": "a list of objects",
    **dict.fromkeys(["add", "dependencies", "remove"], "a list"),
    **dict.fromkeys(["custom_tags", "properties"], "a map"),
    **dict.fromkeys(["class_name", "clusterId", "contents", "contextId", "displayName"], "a string"),
    # The identifiers of jobs and runs are numbers, and clients send them as strings, too.
    **dict.fromkeys(["job_id", "path", "pipeline_name", "run_id", "userName"], "a string"),
    **dict.fromkeys(["attempt_number", "row_offset"], "an integer"),
    "no_wait": "a boolean",
}
_KINDS = {str: "a string", int: "an integer", bool: "a boolean"}
_PLAIN = {str: "str", int: "int", bool: "bool", float: "float", object: "any", Any: "any"}


@cache
def tables() -> dict[str, Any]:
    """Return the types by name: a request or object is a table of fields, an enumeration its values."""
    found: dict[str, Any] = {}
    for name, method in REQUESTS.items():
        hints = typing.get_type_hints(method)
        fields = [field for field in inspect.signature(method).parameters if field != "self"]
        found[name] = {field: _described(hints[field], found) for field in fields}
    for name, sources in RESOURCES.items():
        found[name] = {
            field: _described(hint, found)
            for source in sources
            for field, hint in typing.get_type_hints(source).items()
            if field not in (*_OPERANDS, "return")
        }
    return {
        "sdk": __version__,
        "names": dict(sorted(names().items())),
        "types": dict(sorted(found.items())),
    }


def names() -> Mapping[str, str]:
    """Return the kinds of fields that are checked by their name. Raises ValueError for an ambiguous one."""
    found: dict[str, set[str]] = defaultdict(set)
    known: set[Any] = set()
    for service in _SERVICES:
        for name, api in vars(service).items():
            if not (name.endswith("API") and inspect.isclass(api)):
                continue
            for method in vars(api).values():
                if inspect.isfunction(method) and not method.__name__.startswith("_"):
                    hints = typing.get_type_hints(method)
                    _collect({each: hints[each] for each in hints if each != "return"}, found, known)
    wrong = {name: sorted(found[name]) for name in CHECKED if len(found[name]) != 1}
    if wrong:
        raise ValueError(f"move to OTHERS: {wrong}")
    return {**{name: next(iter(found[name])) for name in CHECKED}, **OTHERS}


def _collect(fields: Mapping[str, Any], found: dict[str, set[str]], known: set[Any]) -> None:
    for name, annotation in fields.items():
        found[name].add(_kind(annotation))
        _collect_objects(annotation, found, known)


def _collect_objects(annotation: Any, found: dict[str, set[str]], known: set[Any]) -> None:
    for inner in typing.get_args(annotation):
        _collect_objects(inner, found, known)
    if inspect.isclass(annotation) and dataclasses.is_dataclass(annotation) and annotation not in known:
        known.add(annotation)
        hints = typing.get_type_hints(annotation)
        _collect({each.name: hints[each.name] for each in dataclasses.fields(annotation)}, found, known)


def _kind(annotation: Any) -> str:
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Union:
        return _kind(next(each for each in arguments if each is not type(None)))
    if origin is list:
        return "a list of objects" if _kind(arguments[0]) == "an object" else "a list"
    if origin is dict:
        return "a map"
    if inspect.isclass(annotation) and issubclass(annotation, enum.Enum):
        return "a string"
    if dataclasses.is_dataclass(annotation):
        return "an object"
    return _KINDS.get(annotation, str(annotation))


def _described(annotation: Any, found: dict[str, Any]) -> Any:
    """Return the type as JSON: a name, `[type]` for a list, `{"*": type}` for a map."""
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Union:
        (inner,) = (each for each in arguments if each is not type(None))
        return _described(inner, found)
    if origin is list:
        return [_described(arguments[0], found)]
    if origin is dict:
        return {"*": _described(arguments[1], found)}
    if annotation in _PLAIN:
        return _PLAIN[annotation]
    name = f"{annotation.__module__.rpartition('.')[2]}.{annotation.__name__}"
    if name not in found:
        if issubclass(annotation, enum.Enum):
            found[name] = [each.value for each in annotation]
        else:
            found[name] = {}  # it may contain itself
            hints = typing.get_type_hints(annotation)
            found[name] = {
                each.name: _described(hints[each.name], found) for each in dataclasses.fields(annotation)
            }
    return name


if __name__ == "__main__":
    FILE.write_text(json.dumps(tables(), indent=1, sort_keys=True) + "\n", encoding="utf-8")
