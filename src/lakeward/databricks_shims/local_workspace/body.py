"""JSON bodies: limits, and the kinds of values that fields of the API take.

`KINDS` holds the names that have one kind wherever the API uses them (databricks-sdk 0.156). A value of
another kind is refused before a handler sees it, as the platform's parser does, so nothing of it is stored.
Maps with names of the user's (tags, parameters, Spark settings) are not looked into.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from typing import Any

from lakeward.databricks_shims.local_workspace.api_error import ApiError

MAX_DEPTH = 64
"""Levels of objects and arrays; the deepest settings of a job have fewer than 15."""

_MIN_INTEGER, _MAX_INTEGER = -(2**63), 2**63 - 1

OBJECT, OBJECTS, LIST, MAP, TEXT, INTEGER, BOOLEAN = (
    "an object",
    "a list of objects",
    "a list",
    "a map",
    "a string",
    "an integer",
    "a boolean",
)

KINDS: Mapping[str, str] = {
    name: kind
    for kind, names in {
        OBJECT: "autoscale condition_task dbt_task deployment email_notifications environment "
        "event_log file file_arrival filters for_each_task git_source glob health job_cluster "
        "new_cluster new_settings notebook notebook_task notification_settings periodic "
        "pipeline_params pipeline_task python_wheel_task queue run_as run_job_task schedule "
        "spark_jar_task spark_python_task spark_submit_task spec sql_task table_update "
        "trigger webhook_notifications",
        OBJECTS: "Operations access_control_list changes clusters depends_on emails entitlements "
        "environments job_clusters libraries members tasks",
        LIST: "add dependencies exclude fields_to_remove full_refresh_selection jar_params only "
        "order_by python_params refresh_selection remove rerun_tasks "
        "reset_checkpoint_selection schemas statuses table_names",
        MAP: "base_parameters configuration custom_tags job_parameters named_parameters "
        "notebook_params properties python_named_params spark_conf spark_env_vars sql_params "
        "tags",
        TEXT: "application_id bytes_value catalog_name class_name clusterId cluster_id command "
        "comment content contents contextId data definition description destination_path "
        "displayName display_name disposition edit_mode edition entry_point environment_key "
        "existing_cluster_id file_path filter full_name group_name idempotency_token "
        "initial_manage_principal job_cluster_key job_id key language main new_name "
        "notebook_path owner package_name page_token path pause_status permission "
        "permission_level pipeline_id pipeline_name principal python_file "
        "quartz_cron_expression root_path run_id run_if run_name schema_name scope "
        "scope_backend_type service_principal_name source_path spark_version statement "
        "statement_id storage_location storage_root string_value task_key timezone_id "
        "token_id update_id url userName user_name volume_type wait_timeout warehouse_id whl",
        INTEGER: "attempt_number byte_limit chunk_index handle hours interval length lifetime_seconds "
        "limit max_concurrent_runs max_results max_retries min_retry_interval_millis "
        "min_time_between_triggers_seconds minutes num_workers offset page_size row_limit "
        "row_offset timeout_seconds wait_after_last_change_seconds",
        BOOLEAN: "active_only allow_duplicate_names completed_only development dry_run expand_tasks "
        "force full_refresh include_history no_wait overwrite recursive "
        "rerun_all_failed_tasks rerun_dependent_tasks reset_checkpoints retry_on_timeout "
        "serverless validate_only",
    }.items()
    for name in names.split()
}
"""The kind of a field's value. A name with several kinds in the API (`parameters`) is not here."""

_OPEN = ("parameters", "contents", "content", "data")


def _is_integer(value: Any) -> bool:
    if isinstance(value, str):
        return value.removeprefix("-").isdecimal() and len(value) < 20
    return (
        isinstance(value, (int, float))
        and not isinstance(value, bool)
        and math.isfinite(value)
        and value == int(value)
    )


_CHECKS: Mapping[str, Callable[[Any], bool]] = {
    OBJECT: lambda value: isinstance(value, dict),
    OBJECTS: lambda value: isinstance(value, list) and all(isinstance(each, dict) for each in value),
    LIST: lambda value: isinstance(value, list),
    MAP: lambda value: isinstance(value, dict),
    TEXT: lambda value: isinstance(value, (str, int, float)),
    INTEGER: _is_integer,
    BOOLEAN: lambda value: (
        isinstance(value, bool) or (isinstance(value, str) and value.lower() in ("true", "false"))
    ),
}


def parse_body(data: bytes) -> dict[str, Any]:
    """Return the JSON object of a request. Raises ApiError(MALFORMED_REQUEST) for anything else."""
    try:
        body = json.loads(data or b"{}")
    except RecursionError:
        raise _too_deep() from None
    except ValueError:
        raise _malformed("The body is not JSON.") from None
    if not isinstance(body, dict):
        raise _malformed("The body is not a JSON object.")
    _check(body, "", known=True)
    return body


def _check(body: Any, at: str, *, known: bool) -> None:
    """Check a value and everything in it, without recursion; `known` where names are fields of the API."""
    left: list[tuple[Any, str, int, bool]] = [(body, at, 1, known)]
    while left:
        value, place, depth, named = left.pop()
        if isinstance(value, dict):
            if depth > MAX_DEPTH:
                raise _too_deep()
            for name, each in value.items():
                _check_text(name, place or "the body")
                below = f"{place}.{name}" if place else name
                kind = KINDS.get(name) if named else None
                if kind is not None and each is not None and not _CHECKS[kind](each):
                    raise _malformed(f"{below}: expected {kind}, found {_described(each)}.")
                left.append((each, below, depth + 1, named and kind != MAP and not _is_open(name, each)))
        elif isinstance(value, list):
            if depth > MAX_DEPTH:
                raise _too_deep()
            left.extend((each, place, depth + 1, named) for each in value)
        else:
            _check_scalar(value, place)


def _is_open(name: str, value: Any) -> bool:
    return name in _OPEN and isinstance(value, dict)


def _check_scalar(value: Any, place: str) -> None:
    if isinstance(value, str):
        _check_text(value, place)
    elif isinstance(value, float):
        if not math.isfinite(value):
            raise _malformed(f"{place}: the number is not finite.")
    elif isinstance(value, int) and not _MIN_INTEGER <= value <= _MAX_INTEGER:
        raise _malformed(f"{place}: the number does not fit into 64 bits.")


def _check_text(text: str, place: str) -> None:
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            raise _malformed(f"{_printable(place)}: the string has half a surrogate pair in it.") from None


def _printable(text: str) -> str:
    return text.encode("ascii", "backslashreplace").decode()


def _described(value: Any) -> str:
    names = {
        dict: "an object",
        list: "a list",
        str: "a string",
        bool: "a boolean",
        int: "a number",
        float: "a number",
    }
    if isinstance(value, list) and value and not all(isinstance(each, dict) for each in value):
        other = next(each for each in value if not isinstance(each, dict))
        return "a list of lists" if isinstance(other, list) else f"a list with {_described(other)}"
    return names.get(type(value), "null")


def _malformed(message: str) -> ApiError:
    return ApiError(400, "MALFORMED_REQUEST", message)


def _too_deep() -> ApiError:
    return _malformed(f"The body is nested more than {MAX_DEPTH} levels deep.")
