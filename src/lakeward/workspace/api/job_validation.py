"""Validation of job settings beyond their types.

Sources: https://docs.databricks.com/api/workspace/jobs/create for limits; the texts of the errors for cron
expressions, task keys and dependencies are those that the platform's users report.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timezone
from typing import Any

from lakeward.databricks_shims.local_workspace import ApiError, invalid_parameter
from lakeward.run_conditions import find_cycle
from lakeward.session import CLOUD_SCHEMES
from lakeward.workspace.environment_variables import find_problem
from lakeward.workspace.state.store import Document

_TASK_KEY = re.compile(r"[A-Za-z0-9_-]+")
_LONGEST_KEY = 100
_MOST_TASKS = 1000
_MOST_TAGS = 25
_SHORTEST_WAIT = 60
_VOLUME_PARTS = 3  # catalog, schema, volume or table

# Field -> most bytes in UTF-8.
_LONGEST = {"name": 4096, "description": 27_700}
# Field -> smallest and largest value.
_JOB_LIMITS = {"max_concurrent_runs": (0, 1000), "timeout_seconds": (0, 2**31 - 1)}
_TASK_LIMITS = {
    "timeout_seconds": (0, 2**31 - 1),
    "max_retries": (-1, 2**31 - 1),
    "min_retry_interval_millis": (0, 2**31 - 1),
}
_LOOP_LIMITS = {"concurrency": (1, 100)}
# Trigger -> what it cannot do without.
_TRIGGERS = {
    "file_arrival": ("url",),
    "table_update": ("table_names",),
    "job_completion": ("jobs",),
    "periodic": ("interval", "unit"),
}


def check_settings(settings: Document) -> None:
    """Raise ApiError for settings, of the right types, that the platform refuses."""
    _check_limits(settings, _JOB_LIMITS, "")
    for field, most in _LONGEST.items():
        size = len(str(settings.get(field) or "").encode(errors="replace"))
        if size > most:
            raise invalid_parameter(f"{field} has {size} bytes, and at most {most} are allowed.")
    if len(settings.get("tags") or {}) > _MOST_TAGS:
        raise invalid_parameter(f"A job has at most {_MOST_TAGS} tags.")
    _check_names(settings.get("parameters") or (), "name", "parameters")
    _check_names(settings.get("job_clusters") or (), "job_cluster_key", "job_clusters")
    _check_names(settings.get("environments") or (), "environment_key", "environments")
    _check_tasks(settings.get("tasks") or [])
    for field, key in (("job_clusters", "job_cluster_key"), ("environments", "environment_key")):
        _check_references(settings, field, key)
    check_environments(each.get("new_cluster") or {} for each in settings.get("job_clusters") or ())
    check_environments(_own_clusters(settings.get("tasks") or ()))
    _check_types(settings.get("tasks") or ())
    _check_start(settings)


def check_environments(clusters: Iterable[Document]) -> None:
    """Raise ApiError for `spark_env_vars` with which no process can start."""
    for cluster in clusters:
        variables = cluster.get("spark_env_vars") or {}
        problem = find_problem({name: str(value) for name, value in variables.items()})
        if problem is not None:
            raise invalid_parameter(f"Invalid spark_env_vars: {problem}.")


def _check_references(settings: Document, field: str, key: str) -> None:
    """Raise ApiError for a task with the key of a cluster or environment that the settings do not define."""
    defined = {each.get(key) for each in settings.get(field) or ()}
    for task in _with_nested(settings.get("tasks") or ()):
        name = task.get(key)
        if name is not None and name not in defined:
            raise invalid_parameter(
                f"Task '{task.get('task_key')}': {key} '{name:.100}' is not defined in {field}."
            )


def _with_nested(tasks: Iterable[Document]) -> Iterator[Document]:
    """Yield tasks, each followed by its nested task (`for_each_task`)."""
    for task in tasks:
        yield task
        nested = (task.get("for_each_task") or {}).get("task")
        yield from _with_nested([nested] if nested else [])


def _own_clusters(tasks: Iterable[Document]) -> Iterator[Document]:
    """Yield the clusters of tasks and their nested tasks."""
    for task in _with_nested(tasks):
        yield task.get("new_cluster") or {}


def _check_tasks(tasks: Sequence[Document]) -> None:
    if len(tasks) > _MOST_TASKS:
        raise invalid_parameter(f"A job has at most {_MOST_TASKS} tasks, and {len(tasks)} were given.")
    for task in tasks:
        _check_task(task)
    _check_names(tasks, "task_key", "tasks")
    upstream = {
        task["task_key"]: [edge.get("task_key") for edge in task.get("depends_on") or ()] for task in tasks
    }
    for key, names in upstream.items():
        for name in names:
            if not name:
                raise _missing("tasks.depends_on.task_key")
            if name == key:
                raise invalid_parameter(f"Invalid dependency graph, task '{key}' can not reference itself.")
            if name not in upstream:
                raise invalid_parameter(
                    f"Invalid dependency graph, task '{key}' depends on '{name}', which does not exist."
                )
    if cycle := find_cycle(upstream):
        raise invalid_parameter(f"Invalid dependency graph, the tasks form a cycle: {' -> '.join(cycle)}.")


def _check_task(task: Document) -> None:
    key = task.get("task_key")
    if not key:
        raise _missing("tasks.task_key")
    if not _TASK_KEY.fullmatch(key):
        raise invalid_parameter(
            f"Task key {key!r:.120} contains an invalid character. "
            "Only alphanumeric, - and _ characters are permitted."
        )
    if len(key) > _LONGEST_KEY:
        raise invalid_parameter(
            f"Task key '{key:.20}…' has {len(key)} characters; {_LONGEST_KEY} are permitted."
        )
    _check_limits(task, _TASK_LIMITS, f"task '{key}': ")
    loop = task.get("for_each_task")
    if loop is not None:
        _check_limits(loop, _LOOP_LIMITS, f"task '{key}': for_each_task.")
        for field in ("inputs", "task"):
            if not loop.get(field):
                raise _missing(f"tasks.for_each_task.{field}")
        if loop["task"].get("for_each_task") is not None:
            raise invalid_parameter(
                f"The task '{key}' is a for_each_task within another: they cannot be nested."
            )
        _check_task(loop["task"])


def _check_types(tasks: Iterable[Document]) -> None:
    """Raise ApiError for a task without a type (`notebook_task` …) and for one with several."""
    for task in _with_nested(tasks):
        types = sorted(name for name in task if name.endswith("_task"))
        if len(types) != 1:
            found = f"it has {' and '.join(types)}" if types else "it has none"
            raise invalid_parameter(
                f"Task '{task.get('task_key')}' needs one type, such as notebook_task: {found}."
            )


def _check_start(settings: Document) -> None:
    schedule, trigger, continuous = (settings.get(name) for name in ("schedule", "trigger", "continuous"))
    if sum(each is not None for each in (schedule, trigger, continuous)) > 1:
        raise invalid_parameter("Only one of schedule, trigger and continuous can be specified.")
    if schedule is not None:
        for field in ("quartz_cron_expression", "timezone_id"):
            if not schedule.get(field):
                raise _missing(f"schedule.{field}")
        check_cron(schedule["quartz_cron_expression"], schedule["timezone_id"])
    if trigger is not None:
        _check_trigger(trigger)


def check_cron(expression: str, zone_name: str) -> None:
    """Raise ApiError for a schedule that cannot be read, or that never fires."""
    from lakeward.quartz_cron import CronError, next_times, parse_cron, time_zone

    try:
        zone = time_zone(zone_name)
    except CronError:
        raise invalid_parameter(
            f"Invalid timezone_id: {zone_name:.100}. It is a name such as Europe/Vienna."
        ) from None
    try:
        times = next_times(parse_cron(expression), zone, datetime.now(timezone.utc), 1)
    except ValueError as error:
        raise invalid_parameter(
            f"Invalid quartz_cron_expression: {expression:.200}. Databricks uses Quartz cron syntax, "
            f"which is different from the standard cron syntax: {error}"
        ) from None
    if not times:
        raise invalid_parameter(f"The provided cron expression: {expression:.200} will never fire.")


def _check_trigger(trigger: Document) -> None:
    kinds = [kind for kind in _TRIGGERS if trigger.get(kind) is not None]
    if len(kinds) > 1:
        raise invalid_parameter(
            f"A trigger is one of {', '.join(_TRIGGERS)}, and {' and '.join(kinds)} were given."
        )
    for kind in kinds:
        settings = trigger[kind]
        for field in _TRIGGERS[kind]:
            if not settings.get(field):
                raise _missing(f"trigger.{kind}.{field}")
        if kind == "file_arrival":
            _check_folder(settings["url"])
        if kind == "table_update":
            _check_tables(settings["table_names"])
        if kind == "job_completion":
            _check_monitored(settings["jobs"])
        if kind == "periodic" and settings["interval"] < 1:
            raise invalid_parameter(f"trigger.periodic.interval is at least 1, not {settings['interval']}.")
        for field in ("min_time_between_triggers_seconds", "wait_after_last_change_seconds"):
            seconds = settings.get(field) or 0
            if seconds and seconds < _SHORTEST_WAIT:
                raise invalid_parameter(
                    f"trigger.{kind}.{field} is at least {_SHORTEST_WAIT} seconds, not {seconds}."
                )


def _check_folder(url: str) -> None:
    """Raise ApiError unless files of a volume or of cloud storage are watched; `..` leads to other files."""
    parts = url.split("/")
    scheme, colon, _ = url.partition("://")
    is_cloud = bool(colon) and scheme.lower() in CLOUD_SCHEMES
    is_volume = url.startswith("/Volumes/") and len([part for part in parts if part]) > _VOLUME_PARTS
    if ".." in parts or not (is_cloud or is_volume):
        raise invalid_parameter(
            f"trigger.file_arrival.url is a folder of a volume (/Volumes/<catalog>/<schema>/<volume>/) or of "
            f"an external location, not {url!r:.100}."
        )


def _check_tables(names: Sequence[str]) -> None:
    for name in names:
        parts = name.split(".")
        if len(parts) > _VOLUME_PARTS or not all(parts) or "/" in name or "\0" in name:
            raise invalid_parameter(
                f"trigger.table_update.table_names has {name!r:.100}, which names no table."
            )


def _check_monitored(jobs: Sequence[Document]) -> None:
    # Imported here: the package costs a quarter of a second at the start of the server.
    from lakeward.bundle import MOST_MONITORED_JOBS

    if len(jobs) > MOST_MONITORED_JOBS:
        raise invalid_parameter(
            f"trigger.job_completion.jobs has {len(jobs)} jobs, and {MOST_MONITORED_JOBS} are the most."
        )
    for job in jobs:
        for field in ("job_id", "workspace_id"):
            if not str(job.get(field) or "").isdecimal():
                raise invalid_parameter(
                    f"trigger.job_completion.jobs needs a number as {field}, not {job.get(field)!r:.100}."
                )


def _check_limits(holder: Document, limits: Mapping[str, tuple[int, int]], where: str) -> None:
    for field, (least, most) in limits.items():
        value = holder.get(field)
        if value is not None and not least <= value <= most:
            raise invalid_parameter(f"{where}{field} is between {least} and {most}, not {value}.")


def _check_names(items: Sequence[Document], field: str, where: str) -> None:
    names = [item.get(field) for item in items]
    if not all(names):
        raise _missing(f"{where}.{field}")
    twice = next(_repeated(names), None)
    if twice is not None:
        raise invalid_parameter(f"Duplicate {field} '{twice}' in {where}.")


def _repeated(names: Sequence[object]) -> Iterator[Any]:
    seen = set()
    for name in names:
        if name in seen:
            yield name
        seen.add(name)


def _missing(field: str) -> ApiError:
    return invalid_parameter(f"Missing required field: settings.{field}")
